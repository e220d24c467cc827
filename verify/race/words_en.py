"""The messages in English: id to template; one line each, in the order of the ids."""

from __future__ import annotations

# ruff: noqa: E501  # a sentence is a line

WORDS: dict[str, str] = {
    "absent-card": "torch {torch} is built for CUDA {cuda} but finds no card it can use: torch.cuda.is_available() is False",
    "absent-compute": "torch {torch} has no code for this card's compute capability {compute_capability} (it has {built_for}): install a build of torch for it",
    "absent-cpu-build": "torch {torch} is a CPU build: install a CUDA build of it",
    "absent-import": "{library} cannot be imported: {error}",
    "absent-library": "{library} is not installed for this Python",
    "accuracy-low": "it reached an accuracy of {accuracy:.3f} where {least:.2f} is the least: it did not learn, and its time is not compared",
    "cache-bound": "{gbs:.0f} GB/s is more than the card's memory gives ({peak_gbs:.0f} GB/s): the work lies in its L2 cache",
    "clock-changed": "the card's clock went from {low_mhz:.0f} to {high_mhz:.0f} MHz while it was timed",
    "cpu-busy": "others used the CPU before the lane began (load {load:.1f} on {cores} cores): run it again on a quiet machine",
    "differs": "the result differs from lane {lane}: {what} {a:.6g} against {b:.6g}; its time is not compared",
    "differs-tf32": "the result differs from lane {lane} by as much as TF32's rounding explains: {what} {a:.6g} against {b:.6g}; look for NVIDIA_TF32_OVERRIDE or a setting that turns TF32 on; its time is not compared",
    "failed": "{error}",
    "few-samples": "only {count} repeats: run at least {least} for an interval to trust",
    "few-threads": "the CPU lane ran on {threads} of {cores} cores",
    "no-budget": "nothing was left of the budget of {budget_s:.0f} s: give a larger --budget, or fewer contestants with --only",
    "others-on-card": "{count} other processes used the card: run it again when it is free",
    "outliers": "{count} of {of} repeats lie 50 % or more off the median: see the samples",
    "over-bandwidth": "{gbs:.0f} GB/s is more than the card's memory gives ({peak_gbs:.0f} GB/s): the measurement is not valid",
    "over-peak": "{tflops:.3g} TFLOPS is more than the card can do in {precision} ({peak_tflops:.3g} TFLOPS): the measurement is not valid",
    "power-capped": "the card's power is limited to {watts:.0f} W where {default_watts:.0f} W is its default",
    "sampler-cost": "watching the card took {share:.1%} of a core, more than 2 %",
    "spread": "the repeats vary by {share:.0%} of their mean: run it again on a quiet machine",
    "swap": "{mib} MiB of the machine's memory are swapped out: close what else runs",
    "throttled": "the card was slowed down: {reasons}",
    "too-short": "the fastest repeat took {seconds:.2g} s: the work is too small to time",
}

"""What the daemon's and the hooks' error texts mean, and the next command. The first that fits."""

from __future__ import annotations

_CAUSES = (
    (
        ("could not select device driver", "no known GPU vendor found"),
        "the daemon knows nobody who gives cards: the toolkit's hook was not there when it started",
        "systemctl restart docker",
    ),
    (
        ("unknown or invalid runtime name", "Unknown runtime specified"),
        "the daemon does not know the runtime nvidia",
        "nvidia-ctk runtime configure --runtime=docker && systemctl restart docker",
    ),
    (
        ("unresolvable CDI devices", "failed to stat CDI host device", "CDI device injection failed"),
        "the CDI specification does not describe this card, or names a file that is gone",
        "systemctl restart nvidia-cdi-refresh && nvidia-ctk cdi list",
    ),
    (
        ("nvidia-cdi-hook: no such file",),
        "nvidia-cdi-hook is missing",
        "apt-get install --reinstall nvidia-container-toolkit-base",
    ),
    (
        ("couldn't find binary nvidia-container-cli",),
        "nvidia-container-cli is missing",
        "apt-get install --reinstall libnvidia-container-tools",
    ),
    (
        (
            'nvidia-container-runtime": executable file not found',
            "nvidia-container-runtime: executable file not found",
        ),
        "the registered runtime's program is missing",
        "apt-get install --reinstall nvidia-container-toolkit",
    ),
    (
        ("libnvidia-ml.so.1: cannot open", "error mounting"),
        "a library of the driver is missing on the host",
        "nvidia-smi  # on the host; then: ldconfig; systemctl restart nvidia-cdi-refresh",
    ),
    (
        ("nvml error: driver not loaded", "Driver Not Loaded"),
        "the driver is not loaded",
        "modprobe nvidia",
    ),
    (
        ("unsatisfied condition",),
        "the image asks for a newer CUDA than the driver offers",
        "use an older image, or install a newer driver",
    ),
    (
        ("Failed to initialize NVML",),
        "the container has the library and may not use the card",
        "look for no-cgroups = true in /etc/nvidia-container-runtime/config.toml",
    ),
)


def cause(said: str) -> tuple[str, str] | None:
    """Return the meaning of an error text and the next command; None where it is not known."""
    return next(
        ((meaning, next_) for texts, meaning, next_ in _CAUSES if any(t in said for t in texts)), None
    )

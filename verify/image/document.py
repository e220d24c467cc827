"""The answer of ``gpu-verify image`` as a JSON document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verify.image.estimate import Pull, Sizes
    from verify.image.host import Host
    from verify.image.inspect import Content
    from verify.image.manifest import Image, Platform
    from verify.image.reference import Reference
    from verify.image.verdict import Verdict

SCHEMA = 1
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that is said of one image; without a host there is no verdict."""

    reference: Reference
    image: Image
    content: Content
    sizes: Sizes
    pull: Pull | None
    host: Host | None
    verdict: Verdict | None


def document(report: Report) -> Json:
    """Return it with names that stay."""
    image, content, sizes, verdict = report.image, report.content, report.sizes, report.verdict
    return {
        "schema": SCHEMA,
        "reference": str(report.reference),
        "digest": image.digest,
        "platform_digest": image.platform_digest,
        "platform": _platform(image.platform),
        "other_platforms": [_platform(one) for one in image.others],
        "created": image.created,
        "cuda": str(content.cuda) if content.cuda else None,
        "cuda_source": content.cuda_source,
        "demands": [demand.text for demand in content.demands],
        "kind": content.kind.value if content.kind else None,
        "compiler_bytes": content.compiler_bytes,
        "torch": content.torch
        and {
            "version": content.torch.version,
            "cuda": str(content.torch.cuda) if content.torch.cuda else None,
            "cpu": content.torch.cpu,
            "source": content.torch.source,
        },
        "compatibility_libraries": content.compat,
        "layers": sizes.layers,
        "compressed_bytes": sizes.compressed,
        "disk_bytes": sizes.disk,
        "disk_bytes_range": [sizes.low, sizes.high],
        "shared_layers": sizes.shared,
        "pull_bytes": sizes.pull,
        "needed_bytes": sizes.needed,
        "pull": report.pull
        and {
            "mbit_per_s": report.pull.mbit,
            "seconds": round(report.pull.seconds, 1),
            "price_per_hour": report.pull.price_per_hour,
            "currency": report.pull.currency,
            "money": None if report.pull.money is None else round(report.pull.money, 4),
        },
        "host": report.host
        and {
            "platform": _platform(report.host.platform) if report.host.platform else None,
            "driver": str(report.host.driver) if report.host.driver else None,
            "cards": list(report.host.named),
            "simulated": report.host.simulated,
            "free_bytes": verdict.free if verdict else None,
            "store": verdict.store if verdict else None,
        },
        "verdict": verdict.word.value if verdict else None,
        "reasons": list(verdict.reasons) if verdict else [],
    }


def _platform(one: Platform) -> Json:
    return {"os": one.os, "architecture": one.architecture, "variant": one.variant}

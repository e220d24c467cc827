"""What the probes inside a container print: a JSON object a question, each with all that was known before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.facts.version import Version
from verify.json_values import as_list, as_whole, json_object

if TYPE_CHECKING:
    from verify.recording import CommandEntry

_CUDA_NUMBERS = range(1000, 100_000)


def last_object(entry: CommandEntry | None) -> tuple[dict[str, object], str | None]:
    """Return the last JSON object that a probe printed, and its line: what was known before it stopped."""
    for line in reversed(entry.stdout.strip().splitlines() if entry else []):
        found = json_object(line)
        if found is not None:
            return found, line
    return {}, None


def cuda_version(number: int | None) -> Version | None:
    """Decode CUDA's number: 12040 is 12.4. None for what is no such number."""
    if number is None or number not in _CUDA_NUMBERS:
        return None
    return Version.of(f"{number // 1000}.{number % 1000 // 10}")


def capability(value: object) -> tuple[int, int] | None:
    """Read ``[8, 9]``, or nvidia-smi's ``8.9``."""
    parts = value.split(".") if isinstance(value, str) else as_list(value)
    numbers = [int(part) if isinstance(part, str) and part.isdecimal() else as_whole(part) for part in parts]
    if len(numbers) != 2 or numbers[0] is None or numbers[1] is None:  # noqa: PLR2004  # major and minor
        return None
    return numbers[0], numbers[1]


def full_uuid(text: str | None) -> str | None:
    """Write a UUID as nvidia-smi does: torch leaves the ``GPU-`` out."""
    return text if text is None or text.startswith(("GPU-", "MIG-")) else f"GPU-{text}"

"""Ansible filter: may an image be pulled, by what ``gpu-verify image`` said of it and of the host. Pure."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]
RUNS, NO = ("runs", "minor", "forward"), "no"


def unseen(reference: str, said: str, *, unchecked: bool) -> Row:
    """Return what follows where nobody could look at the image."""
    found = f"The controller could not look at {reference} before it is pulled: {said.rstrip('.')}."
    if unchecked:
        note = (
            f"{found} It is pulled unchecked, as race_image_pull_unchecked says: driver, card and disk too."
        )
        return {"refusal": "", "notes": [note], "bytes": 0, "compressed": 0}
    refusal = (
        f"{found} Needed is a look at what it asks of driver, card and disk. Try `.venv/bin/gpu-verify image "
        f"{reference}` on the controller; where it has no way to that registry and never will, "
        "race_image_pull_unchecked: true pulls without a look. Nothing was pulled."
    )
    return {"refusal": refusal, "notes": [], "bytes": 0, "compressed": 0}


def race_image_look(looked: Row, reference: str, unchecked: bool = False) -> Row:  # noqa: FBT001, FBT002  # a filter
    """Return refusal (a sentence, or empty), notes, bytes needed on the disk, bytes on their way."""
    document = looked.get("document")
    if not isinstance(document, dict):
        return unseen(reference, str(looked.get("said") or "it said nothing"), unchecked=unchecked)
    verdict, reasons = document.get("verdict"), [str(one) for one in document.get("reasons") or []]
    compressed, disk = int(document.get("compressed_bytes") or 0), int(document.get("disk_bytes") or 0)
    size = {"compressed": compressed, "bytes": int(document.get("needed_bytes") or compressed + disk)}
    if verdict == NO:
        refusal = f"{reference} will not run on this host, and was not pulled. {' '.join(reasons)}".rstrip()
        return {"refusal": refusal, "notes": [], **size}
    return {"refusal": "", "notes": reasons if verdict not in ("runs", None) else [], **size}


class FilterModule:
    """The filter, by name."""

    def filters(self) -> Row:
        """Return it."""
        return {"gpu_host_race_image_look": race_image_look}

"""Which roles have something to do, by preflight's one look. Pure: what is not known counts as something."""

from __future__ import annotations

from typing import Any


def driver_due(found: dict[str, Any], asked: dict[str, Any]) -> bool:
    plan = asked["plans"]["driver"]
    if (
        not plan
        or plan["refusal"]
        or plan["notes"]
        or plan["action"] in ("install", "change")
        or plan["unheld"]
    ):
        return True
    # A driver that was kept and does not work may only want loading; a reboot that was due may be over.
    waits = plan["action"] == "keep" and asked["kernel_module"] and not found["driver"]["works"]
    return bool(waits or found["driver"]["reboot"] is not None)


def engine_due(plan: dict[str, Any]) -> bool:
    return not plan or bool(plan["refusal"] or plan["notes"] or plan["install"] or plan["start"])


def toolkit_due(plan: dict[str, Any], cdi: dict[str, Any]) -> bool:
    if not plan or plan["refusal"] or not cdi:
        return True
    return bool(plan["install"] or plan["notes"] or cdi["due"] or cdi["stuck"] or cdi["notes"])


def due(found: dict[str, Any], asked: dict[str, Any]) -> dict[str, bool]:
    """Return for each role if it is due; where one is, so are those above it: its change may concern them.

    ``repository``: the toolkit is as it should be, and its repository's entry is not, or was not looked at.
    """
    plans = asked["plans"]
    driver = asked["states"]["driver"] != "present" or driver_due(found, asked)
    engine = driver or asked["states"]["engine"] != "present" or engine_due(plans["engine"])
    toolkit = engine or asked["states"]["toolkit"] != "present" or toolkit_due(plans["toolkit"], asked["cdi"])
    image = (
        toolkit
        or asked["states"]["image"] != "present"
        or not asked["image_settled"]
        or not found.get("image")
    )
    settled = found.get("settled", {})
    repository = not toolkit and bool(plans["toolkit"]["repository"]) and not settled.get("repository")
    runtime = toolkit or asked["states"]["runtime"] != "present" or not settled.get("runtime")
    return {
        "driver": driver, "engine": engine, "toolkit": toolkit, "repository": repository,
        "runtime": runtime, "image": image,
    }  # fmt: skip


class FilterModule:
    """The filter, by name."""

    def filters(self) -> dict[str, Any]:
        """Return it."""
        return {"gpu_host_due": due}

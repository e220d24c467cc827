"""Ansible filter: from what the probe found and what is wanted to one table of what will be done. Pure."""

from __future__ import annotations

import json
from typing import Any

KINDS = {
    "lab": "lab host",
    "rented": "rented host with a system of its own",
    "rented-container": "rented container",
    "system-container": "container with a systemd of its own",
    "wsl": "Windows Subsystem for Linux",
    "simulated": "simulated host (CI simulation, no real card)",
}
GIGA = 1_000_000_000
ACTIONS = {"install": "installed", "change": "replaced by"}
SOURCES = {"nvidia": "NVIDIA's repository", "distro": "the distribution"}
DAEMON_JSON = "/etc/docker/daemon.json"
SHOWN = 12


def host_plan(found: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    """Return lines (layer, now, will be, restart or reboot), and what the changes consist of."""
    rows = {
        "machine": machine_row(found),
        "cards": cards_row(found),
        "driver": driver_row(found, wanted),
        "engine": engine_row(found, wanted),
        "toolkit": toolkit_row(found, wanted),
        "runtime": runtime_row(found, wanted),
        "image": image_row(found, wanted),
    }
    runtime = rows["runtime"]
    # It follows what is installed below: Docker looks for the toolkit's hook only when it starts.
    if not runtime["change"]:
        runtime["change"] = installed(rows["engine"]) or rows["toolkit"]["change"]
    stops: list[str] = []
    if runtime["change"]:
        runtime["then"], stops = restart(found, wanted)
    parts = parts_of(rows, wanted)
    return {
        "lines": [[name, row["now"], row["will"], row.get("then", "")] for name, row in rows.items()],
        "changes": any(row["change"] for row in rows.values()),
        "parts": parts,
        "installs": any(name != "race image" for name in parts),
        "stops": stops,
        # A machine of the wrong kind is refused as that, whatever else could be said of it.
        "possible": not (
            part(found, "machine").get("jetson") or kind_of(found) in ("rented-container", "wsl")
        ),
    }


def parts_of(rows: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    """Name what takes up space."""
    driver = rows["driver"]["change"]
    taken = {
        "desktop driver": driver and wanted.get("desktop"),
        "driver": driver and not wanted.get("desktop"),
        "kernel module": driver and wanted.get("kernel_module"),
        "Docker Engine": installed(rows["engine"]),
        "container toolkit": rows["toolkit"]["change"],
        "race image": rows["image"]["change"],
    }
    return [name for name, so in taken.items() if so]


def part(found: dict[str, Any], name: str) -> dict[str, Any]:
    """Return one subject of the look; an empty one where it is missing."""
    value = found.get(name)
    return value if isinstance(value, dict) else {}


def installed(engine: dict[str, Any]) -> bool:
    return str(engine["will"]).startswith("installed")


def counted(number: int) -> str:
    return f"{number} container{'' if number == 1 else 's'}"


def kind_of(found: dict[str, Any]) -> str:
    return str(part(found, "machine").get("kind") or "")


def machine_row(found: dict[str, Any]) -> dict[str, Any]:
    machine = part(found, "machine")
    base = machine.get("base") or {}
    stands_on = f"{base.get('os')} {base.get('version')}"
    named = machine.get("os_name") or "an unknown operating system"
    if base and base.get("os") != machine.get("os"):
        named += f" (as {stands_on})"
    kind = KINDS.get(kind_of(found), "machine of an unknown kind")
    more = [f"{name}: {machine[name]}" for name in ("jetson", "dgx", "kubernetes") if machine.get(name)]
    hardware = f"{machine.get('architecture', 'unknown architecture')}, kernel {machine.get('kernel', '?')}"
    said = [f"{kind} ({machine.get('because', 'nothing said what')})", named, hardware, *more]
    return {"now": "; ".join(said), "will": "", "change": False}


def cards_row(found: dict[str, Any]) -> dict[str, Any]:
    cards = found.get("cards") if isinstance(found.get("cards"), list) else []
    listed = ", ".join(f"{card.get('address', '?')} is {card.get('id', '?')}" for card in cards or [])
    return {"now": listed or "none on the PCI bus", "will": "", "change": False}


def driver_row(found: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    driver, plan = part(found, "driver"), part(part(wanted, "plans"), "driver")
    if driver.get("works"):
        now = f"works, {driver.get('version')} from {driver.get('origin')}"
    else:
        now = str(driver.get("says") or "nothing answers")
    then = str(plan.get("reboot") or "") or reboot_due(found)
    action = plan.get("action", "keep" if driver.get("works") else "install")
    if plan.get("refusal"):
        return {"now": now, "will": "refused", "change": False, "then": then}
    if action in ("keep", "none"):
        return {"now": now, "will": "kept", "change": False, "then": then}
    branch = f"R{plan['branch']}" if plan.get("branch") else ""
    words = [word for word in (branch, str(plan.get("flavour") or "")) if word]
    named = " ".join(plan.get("packages") or [])
    source = f" from {SOURCES.get(plan['source'], plan['source'])}" if plan.get("source") else ""
    will = f"{ACTIONS.get(action, action)} {' '.join(words)}{source}" + (f": {named}" if named else "")
    return {"now": now, "will": " ".join(will.split()), "change": True, "then": then}


def reboot_due(found: dict[str, Any]) -> str:
    """Tell whether the mark of an earlier run still holds: a boot since then has settled it."""
    mark = part(part(found, "driver"), "reboot")
    return f"reboot due: {mark.get('because') or 'no reason was noted'}" if mark.get("due") else ""


def engine_row(found: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    engine, plan = part(found, "engine"), part(part(wanted, "plans"), "engine")
    there = engine.get("client") is not None and engine.get("daemon") is not None
    now = str(engine.get("because") or "no Docker Engine")
    if there:
        running = "running" if engine.get("active") else "not running"
        now = f"Docker {engine.get('version') or 'of unknown version'} {running}"
        if engine.get("containers_running"):
            now += f", {counted(engine['containers_running'])}"
    if plan.get("refusal"):
        return {"now": now, "will": "refused", "change": False}
    if plan.get("install", not there):
        source = part(plan, "repository").get("url") or "the distribution"
        names = " ".join(plan.get("names") or ["Docker Engine"])
        return {"now": now, "will": f"installed from {source}: {names}", "change": True}
    start = plan.get("start", not engine.get("active"))
    return {"now": now, "will": "kept" + (", started" if start else ""), "change": bool(start)}


def toolkit_row(found: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    plan = part(part(wanted, "plans"), "toolkit")
    installed = part(part(found, "toolkit"), "installed")
    versions = list(dict.fromkeys(str(version) for version in installed.values() if version))
    skew = len(versions) > 1 or len(installed) in (1, 2, 3)
    now = (" and ".join(versions) or "none") + (" (four packages that do not agree)" if skew else "")
    if plan.get("refusal"):
        return {"now": now, "will": "refused", "change": False}
    if not plan.get("install", not installed):
        return {"now": now, "will": "kept", "change": False}
    will = f"{plan.get('version', 'its default version')} installed"
    return {
        "now": now,
        "will": f"all four brought to {plan.get('version')}" if installed else will,
        "change": True,
    }


def runtime_row(found: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    text = part(found, "files").get(part(found, "engine").get("config_file") or DAEMON_JSON)
    try:
        document = json.loads(text or "{}")
    except ValueError:
        # docker_nvidia_runtime says the line and the column.
        return {"now": f"{DAEMON_JSON} is damaged", "will": "refused", "change": False}
    runtimes = document.get("runtimes") if isinstance(document, dict) else None
    there = isinstance(runtimes, dict) and "nvidia" in runtimes
    now, wish = "nvidia registered" if there else "not registered", wanted.get("runtime_default")
    if there and wish and document.get("default-runtime") != wish:
        return {"now": now, "will": f"registered, default-runtime {wish}", "change": True}
    will = "kept" if there else "registered, the rest of daemon.json kept"
    return {"now": now, "will": will, "change": not there}


def restart(found: dict[str, Any], wanted: dict[str, Any]) -> tuple[str, list[str]]:
    """Say what a restart of Docker does to what runs there."""
    engine = part(found, "engine")
    if not engine.get("active"):
        return "", []
    if wanted.get("runtime_restart") == "never":
        return "Docker is left for you to restart", []
    count, names = engine.get("containers_running") or 0, engine.get("containers") or []
    if not count:
        return "Docker restarts; nothing runs in it", []
    if engine.get("live_restore"):
        return f"Docker restarts; live-restore keeps {counted(count)} running", []
    listed = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
    return f"Docker restarts: {counted(count)} stop{'s' if count == 1 else ''}" + (
        f" ({listed})" if listed else ""
    ), list(names)


def image_row(found: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    name = wanted.get("image") or ""
    if not name:
        return {"now": "", "will": "", "change": False}
    if found.get("image"):
        return {"now": name, "will": "kept, unless what goes into it has changed", "change": False}
    size = f"{(wanted.get('image_bytes') or 0) / GIGA:.1f} GB"
    ways = {
        "archive": f"unpacked from an archive, {size} in all",
        "pull": "pulled, once its registry has said what it needs",
    }
    will = ways.get(wanted.get("image_source", ""), f"built on the host, {size} in all")
    return {"now": f"{name} is not here", "will": will, "change": True}


def host_table(plan: dict[str, Any], obstacles: dict[str, Any]) -> list[str]:
    """Return the plan as lines of text for a log."""
    width = max((len(line[0]) for line in plan["lines"]), default=0)
    rows = []
    for layer, now, will, then in plan["lines"]:
        row = f"{layer:<{width}}  {now}" + (f" → {will}" if will else "")
        rows.append(row + (f" [{then}]" if then else ""))
    notes = [f"note: {said}" for said in obstacles["warnings"]]
    return rows + notes + [f"waits for: {said}" for said in obstacles["waits"]]


class FilterModule:
    """The filters, by name."""

    def filters(self) -> dict[str, Any]:
        """Return them."""
        return {"gpu_host_host_plan": host_plan, "gpu_host_host_table": host_table}

"""A small apt and dpkg, called by the names of the real ones: packages, holds and moods are a file."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

FILE = Path(os.environ["FAKE_APT"])


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def complain(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def simulate(state: dict[str, Any], words: list[str]) -> list[tuple[str, str, str]]:
    """Return (what, name, version) for the words and what they need."""
    found: list[tuple[str, str, str]] = []
    todo = list(words)
    while todo:
        name, _, version = todo.pop(0).partition("=")
        if name.endswith("-"):
            found.append(("Remv", name[:-1], ""))
            continue
        offer = state["offers"][name]
        version = version or offer["version"]
        if state["packages"].get(name, ["", ""])[1] == version:
            continue
        found.append(("Inst", name, version))
        found += [("Remv", other, "") for other in offer.get("breaks", []) if other in state["packages"]]
        todo += [need for need in offer.get("needs", []) if need not in words]
    return found


def show(state: dict[str, Any], would: list[tuple[str, str, str]]) -> None:
    """Print what apt-get -V prints of it."""
    there = state["packages"]
    blocks: dict[str, list[str]] = {"upgraded": [], "NEW": [], "DOWNGRADED": [], "REMOVED": []}
    for what, name, version in would:
        if what == "Remv":
            blocks["REMOVED"].append(f"{name} ({there[name][1]})")
        elif name not in there:
            blocks["NEW"].append(f"{name} ({version})")
        else:
            kind = "DOWNGRADED" if version < there[name][1] else "upgraded"
            blocks[kind].append(f"{name} ({there[name][1]} => {version})")
    for kind, rows in blocks.items():
        if rows:
            say(
                "The following "
                + ("NEW packages will be installed:" if kind == "NEW" else f"packages will be {kind}:")
            )
            say("\n".join(f"   {row}" for row in rows))
    more, new, back, gone = (len(rows) for rows in blocks.values())
    say(
        f"{more} upgraded, {new} newly installed, "
        + (f"{back} downgraded, " if back else "")
        + f"{gone} to remove and 0 not upgraded."
    )


def install(state: dict[str, Any], arguments: list[str], words: list[str]) -> int:
    """Do what apt-get install does, in the state alone."""
    unknown = [
        word
        for word in words
        if word.partition("=")[0].rstrip("-") not in {**state["offers"], **state["packages"]}
    ]
    if unknown:
        complain(f"E: Unable to locate package {unknown[0]}")
        return 100
    would = simulate(state, words)
    if "--print-uris" in arguments:
        if state.get("listed", True):
            show(state, would)
        say(state["sizes"])
        return 0
    if "--yes" not in arguments:
        raise SystemExit("nobody answers here, and without a question apt goes on")
    held = [name for _, name, _ in would if name in state["holds"]]
    if held and "--allow-change-held-packages" not in arguments:
        say("E: Held packages were changed and -y was used without --allow-change-held-packages.")
        return 100
    return unpack(state, would)


def unpack(state: dict[str, Any], would: list[tuple[str, str, str]]) -> int:
    """Do it."""
    for what, name, version in would:
        if what == "Remv":
            del state["packages"][name]
        else:
            state["packages"][name] = ["iF" if state["fails"] else "ii", version]
    if state["fails"]:
        complain(state["fails"])
    return 100 if state["fails"] else 0


def apt_get(state: dict[str, Any], arguments: list[str]) -> int:
    if "-c" in arguments:
        state["given"] = Path(arguments[arguments.index("-c") + 1]).read_text()
    if arguments[-1] == "update":
        complain(state["update"])
        return 100 if "E: " in state["update"] else 0
    if "install" in arguments:
        return install(state, arguments, arguments[arguments.index("install") + 1 :])
    return 0


def query(state: dict[str, Any], form: str, names: list[str]) -> None:
    """Print what dpkg-query prints; of sizes it knows none."""
    for name, (status, version) in state["packages"].items():
        if "Installed-Size" not in form and (name in names or not names):
            say(f"{name}\t{status} \t{version}")


def main() -> int:
    program, arguments = Path(sys.argv[0]).name, sys.argv[1:]
    state = json.loads(FILE.read_text())
    state["log"].append(" ".join([program, *arguments]))
    rc = 0
    if program == "apt-get":
        rc = apt_get(state, arguments)
    elif program == "apt-mark":
        names = set(arguments[1:])
        if arguments[0] == "showhold":
            say("\n".join(state["holds"]))
        else:
            state["holds"] = sorted(
                set(state["holds"]) - names | (names if arguments[0] == "hold" else set())
            )
    elif program == "dpkg-query":
        query(state, arguments[1], arguments[2:])
    elif program == "apt-cache":
        for word in arguments[1:]:
            name = word.partition("=")[0]
            needs = ", ".join(state["offers"][name].get("needs", []))
            say(f"Package: {name}\nInstalled-Size: {state['unpacked']}")
            say(f"Depends: {needs}\n")
    elif program == "dpkg" and not state["stuck"]:
        for package in state["packages"].values():
            package[0] = "ii"
    FILE.write_text(json.dumps(state))
    return rc


if __name__ == "__main__":
    sys.exit(main())

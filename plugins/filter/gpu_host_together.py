"""Whose packages come in one run of apt, where several layers lack theirs. Pure."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]
# The rest of the roles' settings is in their plans; these say how apt is run.
SAME = ("proxy", "ca_file")


def plain_driver(plan: Row, asked: Row) -> bool:
    """Tell whether the driver is nothing but packages from the lists that are there.

    One whose kernel module is built here, or that brings its repository, has steps between.
    """
    between = ("repository", "gpg", "pinning", "replaces", "modules")
    return (
        plan["action"] == "install" and not asked["kernel_module"] and not any(plan[key] for key in between)
    )


def plain_engine(plan: Row) -> bool:
    return bool(plan["install"] and not plan["repository"] and not plan["replaces"])


def plain_toolkit(plan: Row, toolkit: Row) -> bool:
    """Tell whether the toolkit is new here; its repository is one step that can go before all packages."""
    return bool(
        plan["differs"] and plan["repository"] and not toolkit["installed"] and not toolkit["obsolete"]
    )


def together(found: Row, asked: Row) -> list[Row]:
    """Return the roles, from the driver up, whose packages can come at once; none where it is one role's.

    ``asked`` is what preflight weighs: plans, states, and ``apt``: proxy, ca_file and hold of each role.
    """
    plans = asked["plans"]
    if found["machine"]["family"] != "debian" or not all(plans.values()):
        return []
    if any(plan["refusal"] for plan in plans.values()) or any(asked["folders"].values()):
        return []
    rows = [
        ("driver", "nvidia_driver", plans["driver"]["packages"], plain_driver(plans["driver"], asked)),
        ("engine", "docker_engine", plans["engine"]["names"], plain_engine(plans["engine"])),
        ("toolkit", "nvidia_container_toolkit", plans["toolkit"]["packages"],
         plain_toolkit(plans["toolkit"], found["toolkit"])),
    ]  # fmt: skip
    plain = [row for row in rows if row[3] and asked["states"][row[0]] == "present"]
    ways = {tuple(asked["apt"][layer][key] for key in SAME) for layer, *_ in plain}
    # From the driver up: one that is still to come by itself leaves each role its own turn.
    below = asked["states"]["driver"] == "present" and plans["driver"]["action"] in ("keep", "none")
    if len(plain) < 2 or len(ways) > 1 or not (plain[0][0] == "driver" or below):  # noqa: PLR2004
        return []
    return [
        {"layer": layer, "role": role, "names": names, **asked["apt"][layer]}
        for layer, role, names, _ in plain
    ]


class FilterModule:
    """The filter, by name."""

    def filters(self) -> Row:
        """Return it."""
        return {"gpu_host_together": together}

"""Ansible filter: what kind of machine cannot be provisioned: found, needed, what to do. Pure."""

from __future__ import annotations

from typing import Any


def host_refusals(found: dict[str, Any], wanted: dict[str, Any], plan: dict[str, Any]) -> list[str]:
    """Return the reasons that no waiting will mend."""
    # What kind of machine it is explains all else: that sentence alone.
    kind = next((said for said in (container(found), wsl(found), jetson(found)) if said), "")
    if kind:
        return [kind]
    said = [root(found), system(found, wanted), architecture(found, wanted), init(found), card(found, wanted)]
    # The roles' own plans have their own sentences; on a system that no role knows, they only say so again.
    if not said[1] and not said[2]:
        # Without a card the driver's role has nothing else to say.
        named = {name: str(plan.get("refusal") or "") for name, plan in plans(wanted).items()}
        said += [reason for name, reason in named.items() if name != "driver" or not said[4]]
    said.append(module_in_container(found, wanted, plan))
    return list(dict.fromkeys(reason for reason in said if reason))


def part(found: dict[str, Any], name: str) -> dict[str, Any]:
    value = found.get(name)
    return value if isinstance(value, dict) else {}


def plans(wanted: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: plan for name, plan in part(wanted, "plans").items() if isinstance(plan, dict)}


def container(found: dict[str, Any]) -> str:
    machine = part(found, "machine")
    if machine.get("kind") != "rented-container":
        return ""
    return (
        f"This is a {machine.get('because')}: Docker, a kernel module and a driver cannot be installed in "
        "it. Needed is a machine or virtual machine of its own with systemd. Either rent one, or use this "
        "one as it is: start it from the race image and run `make race-here` in it."
    )


def wsl(found: dict[str, Any]) -> str:
    machine = part(found, "machine")
    if machine.get("kind") != "wsl":
        return ""
    return (
        f"This is Windows Subsystem for Linux ({machine.get('because')}): the driver belongs to Windows, "
        "and one installed in here would break it. Needed is a Linux host. Use Docker Desktop with its "
        "WSL engine instead, or a Linux host."
    )


def jetson(found: dict[str, Any]) -> str:
    model = part(found, "machine").get("jetson")
    if not model:
        return ""
    return (
        f"This is a Jetson board ({model}): its driver is part of NVIDIA's system for it (L4T), and its "
        "card is on no PCI bus. Needed is a host with a card of its own. Leave it out of the inventory; "
        "JetPack brings Docker and the toolkit (`apt install nvidia-jetpack`)."
    )


def root(found: dict[str, Any]) -> str:
    if part(found, "machine").get("root", True):
        return ""
    return (
        "Ansible does not run as root here. Needed is root: set `ansible_become: true` for this host and "
        "give its user sudo."
    )


def system(found: dict[str, Any], wanted: dict[str, Any]) -> str:
    machine = part(found, "machine")
    base = machine.get("base") or {}
    name, version = base.get("os") or machine.get("os"), base.get("version")
    supported = [str(each) for each in wanted.get("supported") or []]
    if f"{name} {version if base else machine.get('os_version')}" in supported:
        return ""
    shown = machine.get("os_name") or "an unknown operating system"
    if base and not version:
        return (
            f"The operating system is {shown}, which says no version (no VERSION_ID in os-release: testing "
            f"or unstable), and whose packages change every day. Needed is one of: {', '.join(supported)}. "
            "Install a release, or leave this host out of the inventory."
        )
    if base and base.get("os") != machine.get("os"):
        shown += f", which stands on {name} {version}"
    return (
        f"The operating system is {shown}. Needed is one of: {', '.join(supported)}, or one made from "
        "these. Install one of them, or leave this host out of the inventory."
    )


def architecture(found: dict[str, Any], wanted: dict[str, Any]) -> str:
    name, known = part(found, "machine").get("architecture"), wanted.get("architectures") or []
    if name in known:
        return ""
    return (
        f"The architecture is {name}. Needed is one of: {', '.join(known)}. NVIDIA has no packages for "
        "others: leave this host out of the inventory."
    )


def init(found: dict[str, Any]) -> str:
    machine = part(found, "machine")
    if machine.get("systemd", True):
        return ""
    return (
        f"The init is {machine.get('init')}, not systemd. Needed is systemd, which starts Docker. Boot "
        "this host with systemd, or leave it out of the inventory."
    )


def card(found: dict[str, Any], wanted: dict[str, Any]) -> str:
    if found.get("cards") or not wanted.get("require_card"):
        return ""
    return (
        "There is no NVIDIA card on the PCI bus. Needed is one (10de:… in /sys/bus/pci/devices). Put it "
        "in, pass it through to the virtual machine, choose the instance type that has one, or set "
        "host_preflight_require_card: false."
    )


def module_in_container(found: dict[str, Any], wanted: dict[str, Any], plan: dict[str, Any]) -> str:
    machine = part(found, "machine")
    if machine.get("kind") != "system-container" or part(found, "driver").get("works"):
        return ""
    if not wanted.get("kernel_module") or not plan.get("installs"):
        return ""
    return (
        f"This is a {machine.get('because')}: its kernel is the host's, and no module can be built or "
        "loaded for it in here, and no driver answers. Needed is the driver on the machine itself, with "
        "its devices and its user space handed in (LXC: nvidia.runtime); or set "
        "nvidia_driver_kernel_module: false to install the user space here."
    )


class FilterModule:
    """The filter, by name."""

    def filters(self) -> dict[str, Any]:
        """Return it."""
        return {"gpu_host_host_refusals": host_refusals}

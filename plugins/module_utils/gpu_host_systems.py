"""Which system a derivative stands on: packages and repositories are known by that one."""

from __future__ import annotations

# Codenames by which derivatives name their parent; the parents' own os-release files have them too.
UBUNTU = {"bionic": "18.04", "focal": "20.04", "jammy": "22.04", "noble": "24.04", "resolute": "26.04"}
DEBIAN = {"buster": "10", "bullseye": "11", "bookworm": "12", "trixie": "13", "forky": "14"}
# Rebuilds of RHEL that do not all say so: Oracle's os-release only says fedora.
RHEL = {"rhel", "centos", "rocky", "almalinux", "ol"}
# These say centos or fedora, and have repositories and package names of their own.
NOT_RHEL = {"amzn", "fedora"}


def family_of(name: str, like: list[str]) -> str | None:
    """Return whose package manager the system has."""
    words = {name, *like}
    if words & {"debian", "ubuntu"}:
        return "debian"
    return "redhat" if words & (RHEL | NOT_RHEL) else None


def base_of(release: dict[str, str]) -> dict[str, str] | None:
    """Return the system whose packages fit, None where nothing says which; a version may be empty."""
    name, version = release.get("ID", ""), release.get("VERSION_ID", "")
    like = release.get("ID_LIKE", "").split()
    if name in {"debian", "ubuntu"}:
        return {"os": name, "version": version}
    if name not in NOT_RHEL and (name in RHEL or "rhel" in like):
        return {"os": "rhel", "version": version.partition(".")[0]}
    if "ubuntu" in like or "UBUNTU_CODENAME" in release:
        return known("ubuntu", UBUNTU, release.get("UBUNTU_CODENAME"))
    if "debian" in like:
        return known("debian", DEBIAN, release.get("DEBIAN_CODENAME") or release.get("VERSION_CODENAME"))
    return None


def known(name: str, versions: dict[str, str], codename: str | None) -> dict[str, str] | None:
    """Return the parent by its codename; a rolling derivative has none that counts."""
    version = versions.get(codename or "")
    return {"os": name, "version": version} if version else None

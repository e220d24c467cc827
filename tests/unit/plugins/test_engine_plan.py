"""What docker_engine does on which machine, and why not: recorded facts and settings in, one plan out."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.filter.gpu_host_engine_plan import BESIDE, engine_packages, engine_plan, system_of, table

SYSTEMS = {
    "debian 12": ("debian", "debian", "12", "Debian GNU/Linux 12 (bookworm)"),
    "debian 13": ("debian", "debian", "13", "Debian GNU/Linux 13 (trixie)"),
    "ubuntu 22.04": ("debian", "ubuntu", "22.04", "Ubuntu 22.04.5 LTS"),
    "ubuntu 24.04": ("debian", "ubuntu", "24.04", "Ubuntu 24.04.3 LTS"),
    "ubuntu 26.04": ("debian", "ubuntu", "26.04", "Ubuntu 26.04 LTS"),
    "rhel 8": ("redhat", "rhel", "8", "Rocky Linux 8.10"),
    "rhel 9": ("redhat", "rhel", "9", "Rocky Linux 9.7"),
    "rhel 10": ("redhat", "rhel", "10", "AlmaLinux 10.1"),
}
SETTINGS: dict[str, Any] = {
    "source": "auto", "replaces": [], "repository_url": "", "key_url": "", "key_fingerprint": "",
    "packages_folder": "",
}  # fmt: skip
NOTHING: dict[str, Any] = {
    "client": None, "daemon": None, "version": None, "active": False, "snap": False, "kind": "none",
    "because": "seen so", "podman": None, "desktop": [], "rootless": [], "kubelet": False, "elsewhere": [],
}  # fmt: skip
WORKS = {
    "client": "/usr/bin/docker",
    "daemon": "/usr/bin/dockerd",
    "version": "26.1.5",
    "active": True,
    "kind": "engine",
}
CE = ["docker-ce", "docker-ce-cli", "containerd.io", "docker-buildx-plugin", "docker-compose-plugin"]


def machine(system: str) -> dict[str, Any]:
    family, os, version, name = SYSTEMS[system]
    return {
        "family": family,
        "base": {"os": os, "version": version},
        "os_name": name,
        "os": os,
        "os_version": version,
    }


def plan(
    system: str = "debian 13",
    engine: dict[str, Any] | None = None,
    packages: tuple[str, ...] = (),
    **settings: Any,
) -> dict[str, Any]:
    found = {
        "machine": machine(system),
        "engine": {**NOTHING, **(engine or {})},
        "packages": dict.fromkeys(packages, "1"),
    }
    done: dict[str, Any] = engine_plan(found, {**SETTINGS, **settings})
    return done


@pytest.mark.parametrize(("system", "names"), [
    ("debian 12", ["docker.io", "iptables"]),
    ("debian 13", ["docker.io", "docker-cli", "iptables"]),
    ("ubuntu 22.04", ["docker.io"]), ("ubuntu 24.04", ["docker.io"]), ("ubuntu 26.04", ["docker.io"]),
    ("rhel 8", CE), ("rhel 9", CE), ("rhel 10", CE),
])  # fmt: skip
def test_auto_on_a_bare_machine(system: str, names: list[str]) -> None:
    done = plan(system)
    assert (done["refusal"], done["install"], done["start"], done["names"]) == ("", True, True, names)
    assert bool(done["repository"]) is system.startswith("rhel")


@pytest.mark.parametrize("system", SYSTEMS)
def test_docker_s_own_repository_on_each_system(system: str) -> None:
    done = plan(system, source="docker")
    repository = done["repository"]
    assert done["names"] == CE
    assert len(repository["fingerprint"]) == 40
    os, version = system.split()
    if os == "rhel":
        assert repository["url"] == f"https://download.docker.com/linux/rhel/{version}/$basearch/stable"
        assert (repository["suite"], repository["components"]) == ("", [])
    else:
        assert repository["url"] == f"https://download.docker.com/linux/{os}"
        assert repository["suite"] in {"bookworm", "trixie", "jammy", "noble", "resolute"}
        assert repository["components"] == ["stable"]
    assert repository["same_as"] == [f"download.docker.com/linux/{os}"]


def test_the_two_families_have_two_keys() -> None:
    keys = {system: plan(system, source="docker")["repository"]["fingerprint"] for system in SYSTEMS}
    assert keys["debian 13"] == keys["ubuntu 24.04"] == "9DC858229FC7DD38854AE2D88D81803C0EBFCD88"
    assert keys["rhel 9"] != keys["debian 13"]


def test_a_key_that_the_table_does_not_know_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    def without(section: str) -> list[dict[str, Any]]:
        return [{key: value for key, value in row.items() if key != "fingerprint"} for row in table(section)]

    monkeypatch.setattr("plugins.filter.gpu_host_engine_plan.table", without)
    done = plan("rhel 9")
    assert "set docker_engine_key_fingerprint" in done["refusal"]
    assert not done["install"]
    assert plan("rhel 9", key_fingerprint="A" * 40)["repository"]["fingerprint"] == "A" * 40


def test_a_mirror_and_its_key() -> None:
    mirror: dict[str, Any] = {
        "repository_url": "https://mirror.example/docker",
        "key_url": "https://mirror.example/key",
        "key_fingerprint": "B" * 40,
    }
    repository = plan(source="docker", **mirror)["repository"]
    assert repository["url"] == "https://mirror.example/docker"
    assert (repository["key_url"], repository["fingerprint"]) == ("https://mirror.example/key", "B" * 40)
    assert plan(source="docker", packages_folder="/srv/debs")["repository"] == {}


@pytest.mark.parametrize("source", ["auto", "distro", "docker", "preinstalled"])
def test_g7_an_engine_that_works_is_kept_whatever_the_source(source: str) -> None:
    done = plan(engine=WORKS, packages=("docker-ce", "docker-ce-cli", "containerd.io"), source=source)
    assert (done["refusal"], done["install"], done["start"]) == ("", False, False)


def test_g7_an_engine_that_is_complete_is_not_added_to() -> None:
    done = plan(engine=WORKS, packages=("docker.io", "docker-cli", "iptables"))
    assert (done["install"], done["start"]) == (False, False)


def test_what_is_missing_beside_the_distribution_s_own_is_added() -> None:
    done = plan(engine=WORKS, packages=("docker.io", "docker-cli"))
    assert done["names"] == ["iptables"]
    assert plan(engine={**WORKS, "client": None, "kind": "daemon-only"}, packages=("docker.io", "iptables"))[
        "names"
    ] == ["docker-cli"]


def test_half_of_docker_s_own_is_completed_from_docker() -> None:
    done = plan(engine={"client": "/usr/bin/docker", "kind": "client-only"}, packages=("docker-ce-cli",))
    assert "docker-ce" in done["names"]
    assert done["repository"]["name"] == "docker"


def test_a_stopped_engine_is_started_and_not_installed() -> None:
    done = plan(engine={**WORKS, "active": False}, packages=("docker.io", "docker-cli", "iptables"))
    assert (done["install"], done["start"]) == (False, True)


@pytest.mark.parametrize("source", ["auto", "distro", "docker", "preinstalled"])
@pytest.mark.parametrize(("engine", "said"), [
    ({**WORKS, "kind": "snap", "snap": True}, "Docker comes from a snap here"),
    ({**WORKS, "kind": "two"}, "Two Docker Engines stand side by side"),
    ({"client": "/usr/bin/docker", "kind": "podman-docker"}, "Podman's stand-in"),
    ({**WORKS, "active": False, "kind": "rootless"}, "runs rootless"),
    ({**WORKS, "kind": "desktop"}, "Docker is Docker Desktop here"),
])  # fmt: skip
def test_a6_what_is_no_engine_for_these_roles_is_refused(
    engine: dict[str, Any], said: str, source: str
) -> None:
    done = plan(engine=engine, source=source)
    assert said in done["refusal"]
    assert "seen so" in done["refusal"]
    assert (done["install"], done["start"]) == (False, False)


@pytest.mark.parametrize("kind", BESIDE)
def test_a6_an_engine_is_put_beside_only_where_it_is_asked_for_by_name(kind: str) -> None:
    beside = {"kind": kind, "client": "/usr/bin/docker" if kind == "desktop" else None}
    assert "set docker_engine_source: distro or docker" in plan(engine=beside)["refusal"]
    assert plan(engine=beside, source="preinstalled")["refusal"]
    for source in ("distro", "docker"):
        assert plan(engine=beside, source=source)["install"]
    assert "set docker_engine_source: docker." in plan("rhel 9", engine=beside)["refusal"].replace(
        ", or leave", "."
    )


def test_a6_what_stands_beside_a_working_engine_is_named() -> None:
    beside = {
        "rootless": ["/run/user/1/docker.sock"], "desktop": ["/opt/docker-desktop"],
        "podman": "/usr/bin/podman", "elsewhere": ["a uses the context desktop-linux"],
    }  # fmt: skip
    done = plan(engine={**WORKS, **beside})
    assert done["refusal"] == ""
    assert len(done["notes"]) == 4


def test_a_node_of_kubernetes_is_left_alone() -> None:
    assert (
        "containerd these roles leave alone"
        in plan(engine={"kubelet": True}, packages=("containerd",))["refusal"]
    )
    assert (
        plan(engine={**WORKS, "kubelet": True}, packages=("docker.io", "docker-cli", "iptables"))["refusal"]
        == ""
    )


def test_what_cannot_stay_beside_is_refused_by_name_unless_it_may_go() -> None:
    done = plan(source="docker", packages=("containerd", "runc"))
    assert "docker_engine_replaces: [containerd, runc]" in done["refusal"]
    assert not done["install"]
    done = plan(source="docker", packages=("containerd", "runc"), replaces=["containerd", "runc", "other"])
    assert (done["refusal"], done["replaces"]) == ("", ["containerd", "runc"])
    assert "containerd.io" in plan(source="distro", packages=("containerd.io",))["refusal"]


def test_rhel_has_no_engine_of_its_own() -> None:
    for system in ("rhel 8", "rhel 9", "rhel 10"):
        assert "set docker_engine_source: docker" in plan(system, source="distro")["refusal"]


def test_preinstalled_and_not_there() -> None:
    assert "docker_engine_source is preinstalled" in plan(source="preinstalled")["refusal"]


def test_b3_a_system_that_is_not_known_is_refused_and_a_derivative_is_not() -> None:
    arch = {**machine("debian 13"), "base": {"os": "arch", "version": ""}, "os_name": "Arch Linux"}
    found = {"machine": arch, "engine": NOTHING, "packages": {}}
    said = engine_plan(found, SETTINGS)["refusal"]
    assert "Arch Linux" in said
    assert "docker_engine_source: preinstalled" in said
    mint = {"os": "linuxmint", "os_version": "22", "base": {"os": "ubuntu", "version": "24.04"}}
    assert system_of(mint) == "ubuntu 24.04"
    assert system_of({"base": {"os": "rhel", "version": "9.7"}}) == "rhel 9"
    assert system_of({"os": "debian", "os_version": "12"}) == "debian 12"


def test_the_probe_is_asked_about_every_name_of_the_table() -> None:
    assert {"docker.io", "docker-ce", "containerd", "podman-docker"} <= set(engine_packages())

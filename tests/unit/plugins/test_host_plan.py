"""What host_preflight says of each recorded host, and that nothing it has not seen makes it fall over."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.filter.gpu_host_host_obstacles import host_obstacles
from plugins.filter.gpu_host_host_plan import host_plan, host_table
from plugins.filter.gpu_host_host_refusals import host_refusals
from tests.unit.plugins.plans import FOLDER, NAMES, by_ansible, concluded, recorded, text, wanted

GIGA = 1_000_000_000


def plan(name: str, **more: Any) -> dict[str, Any]:
    found = recorded(name)
    return concluded(found, wanted(found, **more))


def refusals(name: str, **more: Any) -> str:
    return " ".join(plan(name, **more)["refusals"])


@pytest.mark.parametrize("name", NAMES)
def test_the_plan_of_each_recorded_host_is_the_one_that_is_kept(name: str) -> None:
    """`python -m tests.unit.plugins.plans` writes them anew."""
    assert text(plan(name)) == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def test_the_role_s_own_variables_say_the_same() -> None:
    names = ["debian13-old-toolkit", "rocky9-bare", "disk-full", "jetson", "cloud-init-running"]
    assert by_ansible(names) == {name: plan(name) for name in names}


@pytest.mark.parametrize("name", [name for name in NAMES if plan(name)["refusals"]])
def test_each_refusal_says_what_was_found_what_is_needed_and_what_to_do(name: str) -> None:
    for said in plan(name)["refusals"]:
        assert "Needed" in said or "needed" in said or "set docker_engine_source" in said
        assert said.endswith(".")
        assert len(said) < 600, said


def test_g2_no_refusal_comes_from_a_dry_run_alone() -> None:
    """Check mode on each bare host that is supported ends clean."""
    for name in NAMES:
        # RHEL 10: the fingerprint of NVIDIA's key is to be set, which is the table's to say.
        if name.endswith("-bare") and name != "rhel10-bare":
            assert plan(name)["refusals"] == [], name


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("runpod-container", "container (docker, without SYS_MODULE and SYS_ADMIN) without systemd"),
        ("lxc-without-driver", "no module can be built or loaded for it in here"),
        ("no-systemd", "The init is runit, not systemd"),
    ],
)
def test_i1_the_offer_is_a_container(name: str, words: str) -> None:
    assert words in refusals(name)


def test_i1_a_container_that_is_a_machine_to_its_users_is_taken() -> None:
    assert plan("lxc-with-driver")["refusals"] == []
    assert "no module" not in refusals("lxc-without-driver", kernel_module=False)


@pytest.mark.parametrize(
    "name", ["lambda-image", "dgx-os", "pop2204-driver-of-its-own", "ubuntu2404-docker-ce"]
)
def test_i2_a_vendor_s_driver_is_kept_and_its_origin_said(name: str) -> None:
    line = next(line for line in plan(name)["lines"] if line[0] == "driver")
    assert line[2] == "kept"
    assert "from package nvidia-utils" in line[1]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "disk-full",
            "The file system /, where Docker keeps its images, has 6.2 GB free. Needed are 21.7 GB",
        ),
        ("disk-small-root-big-data", "The file system / has 0.4 GB free."),
        ("boot-full", "The file system /boot has 0.0 GB free."),
        ("inodes-gone", "has 312 free inodes, though 180.0 GB are free"),
        ("read-only-usr", "The file system /usr is mounted read-only"),
    ],
)
def test_i3_disk_full_is_said_before_anything_is_changed(name: str, words: str) -> None:
    assert words in refusals(name)


def test_i3_images_on_a_disk_of_their_own_need_nothing_of_the_root() -> None:
    found = recorded("disk-small-root-big-data")
    for row in found["pending"]["file_systems"]:
        row["free"] = 3 * GIGA if row["mount"] == "/" else 21 * GIGA
    assert concluded(found, wanted(found))["refusals"] == []


def test_i3_a_host_that_needs_nothing_may_be_full() -> None:
    found = recorded("debian13-done")
    for row in found["pending"]["file_systems"]:
        row.update(free=0, inodes_free=0, read_only=True)
    assert concluded(found, wanted(found))["refusals"] == []


def test_i3_a_desktop_driver_needs_more() -> None:
    found = recorded("debian13-bare")
    found["pending"]["file_systems"][0]["free"] = 22 * GIGA
    assert concluded(found, wanted(found))["refusals"] == []
    assert "desktop driver 2.0" in " ".join(concluded(found, wanted(found, desktop=True))["refusals"])


def test_b6_cloud_init_and_locks_are_waited_for_by_name() -> None:
    found = plan("cloud-init-running")
    assert found["waits"] == ["cloud-init", "the package manager, held by apt-get (process 1432)"]
    # What dpkg leaves half configured while it is at work is no fault yet.
    assert found["refusals"] == []
    assert plan("apt-locked")["waits"] == ["the package manager, held by unattended-upgrade (process 4711)"]


def test_b6_nothing_to_do_waits_for_nothing() -> None:
    assert plan("apt-locked-nothing-to-do")["waits"] == []


def test_b6_cloud_init_that_failed_is_said_and_stops_nothing() -> None:
    found = plan("cloud-init-error")
    assert (found["waits"], found["refusals"]) == ([], [])
    assert "status error (DataSourceEc2Local)" in found["warnings"][0]


@pytest.mark.parametrize("status", ["done", "disabled", "error", "degraded", "unknown"])
def test_b6_only_cloud_init_at_work_is_waited_for(status: str) -> None:
    found = recorded("cloud-init-running")
    found["pending"].update(cloud_init={"status": status, "says": ""}, locks=[], half_configured=[])
    assert concluded(found, wanted(found))["waits"] == []


def test_b6_half_configured_packages_of_others_are_named_and_ours_are_not_refused() -> None:
    assert "mariadb-server, mariadb-server-core half installed" in refusals("half-configured")
    ours = plan("half-configured-ours")
    assert ours["refusals"] == []
    assert "docker.io will be configured first" in ours["warnings"][0]


def test_f4_wsl_is_refused_with_its_own_sentence() -> None:
    assert "one installed in here would break it" in refusals("wsl")
    # No card is on its bus, and that is not what is wrong.
    assert "PCI bus" not in refusals("wsl")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("debian-testing", "says no version (no VERSION_ID in os-release: testing or unstable)"),
        ("kali-rolling", "The operating system is Kali GNU/Linux Rolling."),
        ("fedora43", "The operating system is Fedora Linux 43"),
        ("ubuntu2004", "The operating system is Ubuntu 20.04.6 LTS."),
        ("arch-linux", "The operating system is Arch Linux."),
    ],
)
def test_b3_a_system_that_the_roles_do_not_know_is_named(name: str, words: str) -> None:
    assert words in refusals(name)


@pytest.mark.parametrize(
    "name", ["mint22-desktop", "pop2204-driver-of-its-own", "rocky9-bare", "oracle9-bare"]
)
def test_b3_derivatives_are_taken_for_what_they_stand_on(name: str) -> None:
    found = plan(name)
    assert found["refusals"] == []
    assert re.search(r"\(as (ubuntu|rhel) [\d.]+\)", found["lines"][0][1])


def test_clock_and_names_count_only_where_something_is_fetched() -> None:
    assert "26 hours behind" in refusals("clock-behind")
    assert refusals("clock-behind-nothing-to-do") == ""
    local = {"driver": "/srv", "engine": "/srv", "toolkit": "/srv"}
    assert refusals("clock-behind", folders=local, image_source="archive") == ""
    assert "nvidia.github.io cannot be resolved" in refusals("no-name-service")
    assert refusals("no-name-service", folders=local, image_source="archive") == ""
    assert refusals("no-name-service", proxy=True) == ""
    assert refusals("no-name-service-but-a-proxy") == ""


@pytest.mark.parametrize(("seconds", "refused"), [(299, False), (-299, False), (301, True), (-301, True)])
def test_a_clock_that_is_minutes_wrong(seconds: int, *, refused: bool) -> None:
    found = recorded("debian13-bare")
    found["pending"]["epoch"] = found["pending"]["controller_epoch"] + seconds
    assert ("The clock is" in " ".join(concluded(found, wanted(found))["refusals"])) is refused


def test_one_foreign_name_that_is_gone_stops_nothing() -> None:
    found = recorded("debian13-bare")
    found["pending"]["names"]["mirror.example.org"] = False
    assert concluded(found, wanted(found))["refusals"] == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("jetson", "Jetson board (NVIDIA Jetson AGX Orin Developer Kit)"),
        ("kubernetes-node", "node of Kubernetes"),
        ("podman-only", "Podman takes cards by CDI"),
        ("docker-snap", "Docker comes from a snap"),
        ("no-root", "Ansible does not run as root"),
        ("no-card", "no NVIDIA card on the PCI bus"),
        ("riscv", "The architecture is riscv64"),
    ],
)
def test_passed_by_in_one_sentence(name: str, words: str) -> None:
    assert words in refusals(name)


def test_a_node_of_kubernetes_with_docker_is_taken_and_said() -> None:
    found = plan("kubernetes-with-docker")
    assert found["refusals"] == []
    assert "kubernetes: /var/lib/rancher/k3s exists" in found["lines"][0][1]


def test_a_host_without_a_card_where_that_is_meant() -> None:
    assert refusals("no-card", require_card=False) == ""


def test_g7_what_stops_with_docker_is_named_before() -> None:
    assert plan("debian13-old-toolkit")["stops"] == ["grading", "jupyter-anna", "jupyter-ben"]
    runtime = next(line for line in plan("debian13-old-toolkit")["lines"] if line[0] == "runtime")
    assert runtime[3] == "Docker restarts: 3 containers stop (grading, jupyter-anna, jupyter-ben)"
    assert plan("debian13-live-restore")["stops"] == []
    assert plan("debian13-old-toolkit", runtime_restart="never")["stops"] == []


def test_g7_a_host_that_is_done_is_kept_as_it_is() -> None:
    lines = plan("debian13-done")["lines"]
    assert all(line[2].startswith("kept") for line in lines[2:])
    assert [line[3] for line in lines] == [""] * len(lines)


def test_g1_a_reboot_that_is_due_is_said_until_the_boot() -> None:
    due, done = (plan(f"debian13-reboot-{name}")["lines"][2][3] for name in ("due", "done"))
    assert due.startswith("reboot due: the module of 580.95.05")
    assert done == ""


def test_many_containers_are_not_all_listed() -> None:
    found = recorded("debian13-old-toolkit")
    found["engine"].update(containers=[f"c{number}" for number in range(40)], containers_running=40)
    runtime = concluded(found, wanted(found))["lines"][5][3]
    assert runtime.endswith("c11 and 28 more)")


def paths(value: Any, at: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Return every key of a document by its path."""
    if not isinstance(value, dict):
        return []
    return [path for key, part in value.items() for path in [(*at, key), *paths(part, (*at, key))]]


FULL = recorded("debian13-old-toolkit")


@settings(deadline=None)  # the machines that run this are busy
@given(
    st.sets(st.sampled_from(paths(FULL)), max_size=12),
    st.sampled_from([None, "", 0, [], {}, "nonsense"]),
    st.booleans(),
)
def test_nothing_missing_makes_it_fall_over(gone: set[tuple[str, ...]], put: Any, drop: bool) -> None:  # noqa: FBT001
    """The roles' own plans are tested by themselves: here they are given, or not."""
    found, asked = copy.deepcopy(FULL), wanted(FULL)
    for path in gone:
        place: Any = found
        for key in path[:-1]:
            place = place.get(key) if isinstance(place, dict) else None
        if isinstance(place, dict) and drop:
            place.pop(path[-1], None)
        elif isinstance(place, dict) and put in (None, {}):
            place[path[-1]] = copy.deepcopy(put)
    if put is None:
        asked.pop("plans")
    made = host_plan(found, asked)
    obstacles = host_obstacles(found, asked, made)
    assert host_table(made, obstacles)
    assert isinstance(host_refusals(found, asked, made), list)


def test_an_empty_look_is_refused_and_not_a_crash() -> None:
    made = host_plan({}, {})
    assert host_refusals({}, {}, made)
    assert host_obstacles({}, {}, made)["refusals"] == []

"""CDI specifications as the probe judges them: field case D6 and the field bug of toolkit 1.19.1."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from plugins.module_utils import gpu_host_cdi
from plugins.module_utils.gpu_host_cdi import cdi, node_number, spec_paths, unlinked
from tests.unit.plugins.machines import Machine

if TYPE_CHECKING:
    from pathlib import Path

DRIVER = "580.95.05"
LIBRARY = f"/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.{DRIVER}"
CONTROL = ["/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset"]
RUN, ETC = "/var/run/cdi/nvidia.yaml", "/etc/cdi/nvidia.yaml"


def document(
    cards: int = 1, control: list[str] | None = None, names: list[str] | None = None, library: str = LIBRARY
) -> dict[str, Any]:
    """Return what nvidia-ctk 1.20 writes, in its shape: a name by index, one by UUID, and all."""
    nodes = [f"/dev/nvidia{number}" for number in range(cards)]
    each = [(str(n), [node]) for n, node in enumerate(nodes)]
    each += [(f"GPU-{n:08d}", [node]) for n, node in enumerate(nodes)] + [("all", nodes)]
    each += [(name, nodes[:1]) for name in names or []]
    return {
        "cdiVersion": "0.7.0",
        "containerEdits": {
            "deviceNodes": [{"path": path} for path in (CONTROL if control is None else control)],
            "env": ["NVIDIA_VISIBLE_DEVICES=void"],
            "hooks": [
                {
                    "args": ["nvidia-cdi-hook", "update-ldcache", "--folder", "/usr/lib/x86_64-linux-gnu"],
                    "hookName": "createContainer",
                    "path": "/usr/bin/nvidia-cdi-hook",
                }
            ],
            "mounts": [{"containerPath": library, "hostPath": library, "options": ["ro", "nosuid"]}],
        },
        "devices": [
            {"containerEdits": {"deviceNodes": [{"path": path} for path in paths]}, "name": name}
            for name, paths in each
        ],
        "kind": "nvidia.com/gpu",
    }


def written(what: dict[str, Any], *, as_json: bool = False) -> str:
    return json.dumps(what) if as_json else "---\n" + yaml.safe_dump(what)


def machine(tmp_path: Path, specs: dict[str, str], cards: int = 1, smi: int | None = None) -> Machine:
    there = dict.fromkeys([*CONTROL, LIBRARY, *(f"/dev/nvidia{n}" for n in range(cards))], "")
    said = "\n".join(map(str, range(smi if smi is not None else cards)))
    return Machine(tmp_path, there | specs, {"nvidia-smi --query-gpu=index": (0, said)})


@pytest.mark.parametrize("name", [RUN, "/var/run/cdi/nvidia.json", ETC, "/etc/cdi/cards.yaml"])
def test_a_specification_that_fits_is_fresh(tmp_path: Path, name: str) -> None:
    text = written(document(2), as_json=name.endswith("json"))
    found = cdi(machine(tmp_path, {name: text}, 2), DRIVER)
    assert (found["path"], found["fresh"], found["because"]) == (name, True, None)
    assert found["specs"][0]["made"] == "nvidia-ctk"
    assert found["specs"][0]["schema"] == "0.7.0"
    assert found["specs"][0]["devices"] == ["0", "1", "GPU-00000000", "GPU-00000001", "all"]


def test_d6_there_is_none(tmp_path: Path) -> None:
    found = cdi(machine(tmp_path, {}), DRIVER)
    assert (found["path"], found["fresh"], found["because"]) == (None, False, "there is none")


STALE = {
    "a path that is gone": (
        document(library="/usr/lib/libnvidia-ml.so.1"),
        "it names /usr/lib/libnvidia-ml.so.1, which does not exist",
    ),
    "a card less": (document(1), "it lists /dev/nvidia0, the machine has /dev/nvidia0 /dev/nvidia1"),
    "a card more": (document(3), "it names /dev/nvidia2, which does not exist"),
    "no device at all": (document(2) | {"devices": []}, "it lists no card"),
    "no uvm": (document(2, control=CONTROL[:1]), "it leaves out /dev/nvidia-uvm"),
    "MIG devices that are gone": (
        document(2, names=["0:0", "0:1"]),
        "it lists 2 MIG devices, the machine has 0",
    ),
    "no version of CDI": ({**document(2), "cdiVersion": ""}, "it has no cdiVersion"),
}


@pytest.mark.parametrize("as_json", [False, True], ids=["yaml", "json"])
@pytest.mark.parametrize("case", STALE)
def test_d6_what_does_not_fit(tmp_path: Path, case: str, *, as_json: bool) -> None:
    what, because = STALE[case]
    name = "/var/run/cdi/nvidia.json" if as_json else RUN
    found = cdi(machine(tmp_path, {name: written(what, as_json=as_json)}, 2), DRIVER)
    assert not found["fresh"]
    assert because in found["because"]


@pytest.mark.parametrize("library", ["libnvidia-ml.so", "libcuda.so"])
def test_d6_a_specification_of_another_driver(tmp_path: Path, library: str) -> None:
    old = f"/usr/lib/x86_64-linux-gnu/{library}.550.163.01"
    host = machine(tmp_path, {RUN: written(document(library=old)), old: ""})
    assert cdi(host, DRIVER)["because"] == f"it was made for driver 550.163.01, the driver is {DRIVER}"
    assert cdi(host, "550.163.01")["fresh"]
    assert cdi(host, None)["fresh"]


@pytest.mark.parametrize(
    ("name", "text", "because"),
    [
        (RUN, "", "it is empty"),
        (RUN, "\n\n", "it is empty"),
        (RUN, written(document())[:300] + "\n  - }", "it is no YAML"),
        ("/var/run/cdi/nvidia.json", written(document(), as_json=True)[:-1], "it is no JSON"),
        (RUN, "# nothing\n", "it has no cdiVersion"),
    ],
)
def test_d6_damaged_files_are_no_specifications(tmp_path: Path, name: str, text: str, because: str) -> None:
    found = cdi(machine(tmp_path, {name: text}), DRIVER)
    assert not found["fresh"]
    assert because in found["because"]
    assert found["specs"][0]["made"] == "nvidia-ctk" or "cdiVersion" in text or text.startswith("#")


def test_d6_a_file_for_root_alone(tmp_path: Path) -> None:
    host = machine(tmp_path, {RUN: written(document())})
    host.at(RUN).chmod(0o600)
    assert cdi(host, DRIVER)["because"] == "only root can read it (mode 0600; needed is 0644)"
    host.at(RUN).chmod(0o644)
    assert cdi(host, DRIVER)["fresh"]


def test_d6_two_files_of_one_folder_make_each_other_void(tmp_path: Path) -> None:
    both = {RUN: written(document()), "/var/run/cdi/nvidia.json": written(document(), as_json=True)}
    found = cdi(machine(tmp_path, both), DRIVER)
    assert found["twins"] == [RUN, "/var/run/cdi/nvidia.json"]
    assert 'an engine then takes none ("Found 0 CDI devices")' in found["because"]


def test_d6_a_later_folder_wins_and_the_other_is_judged_too(tmp_path: Path) -> None:
    old = document(library="/usr/lib/libnvidia-ml.so.1")
    found = cdi(machine(tmp_path, {RUN: written(document()), ETC: written(old)}), DRIVER)
    assert (found["path"], found["fresh"], found["twins"]) == (RUN, True, [])
    assert [bool(spec["because"]) for spec in found["specs"]] == [True, False]


def test_d6_what_a_person_wrote_is_known(tmp_path: Path) -> None:
    by_hand = yaml.safe_load(written(document()))
    by_hand["containerEdits"].pop("hooks")
    commented = "# mine: only card 0\n" + written(document())
    found = cdi(machine(tmp_path, {ETC: yaml.safe_dump(by_hand), "/etc/cdi/z.yaml": commented}), DRIVER)
    assert [spec["made"] for spec in found["specs"]] == ["by hand", "by hand"]


def test_other_vendors_files_are_nobodys_business(tmp_path: Path) -> None:
    theirs = {"/etc/cdi/amd.json": json.dumps({"cdiVersion": "0.6.0", "kind": "amd.com/gpu", "devices": []})}
    theirs["/etc/cdi/broken.yaml"] = "{{{"
    theirs["/var/run/cdi/management.yaml"] = written(document() | {"kind": "management.nvidia.com/gpu"})
    found = cdi(machine(tmp_path, theirs | {ETC: written(document())}), DRIVER)
    assert [spec["path"] for spec in found["specs"]] == [ETC]
    assert found["fresh"]


def test_a_comment_names_no_path() -> None:
    assert spec_paths("# path: /dev/nvidia7\n- path: /dev/nvidia0\n  - hostPath: '/x y'") >= {"/dev/nvidia0"}
    assert "/dev/nvidia7" not in spec_paths("  # path: /dev/nvidia7")


def test_a_node_without_a_card_is_no_card(tmp_path: Path) -> None:
    """The card has died, or a virtual machine has it: the driver serves one, the specification too."""
    assert cdi(machine(tmp_path, {RUN: written(document(1))}, 2, smi=1), DRIVER)["fresh"]
    assert not cdi(machine(tmp_path, {RUN: written(document(1))}, 2, smi=2), DRIVER)["fresh"]


def test_mig_devices_are_counted_by_the_drivers_capabilities(tmp_path: Path) -> None:
    host = machine(tmp_path, {RUN: written(document(names=["0:0", "0:1"]))})
    caps = "/proc/driver/nvidia/capabilities/gpu0/mig"
    for number, because in ((1, "it lists 2 MIG devices, the machine has 1"), (2, None)):
        access = host.at(f"{caps}/gi{number}/ci0/access")
        access.parent.mkdir(parents=True)
        access.write_text("DeviceFileMinor: 12\n")
        assert cdi(host, DRIVER)["because"] == because


def test_a_host_without_the_uvm_node_is_no_fit(tmp_path: Path) -> None:
    text = written(document(control=CONTROL[:1]))
    there = {"/dev/nvidia0": "", "/dev/nvidiactl": "", LIBRARY: "", RUN: text}
    host = Machine(tmp_path, there | {"/sys/module/nvidia/initstate": "live\n"}, {})
    assert "/dev/nvidia-uvm is not there" in cdi(host, DRIVER)["because"]
    host.at("/sys/module/nvidia/initstate").unlink()  # a driver of another kind, such as WSL's
    assert cdi(host, DRIVER)["fresh"]


def test_wsl_has_another_node(tmp_path: Path) -> None:
    what = document(0, control=["/dev/dxg"], library="/usr/lib/wsl/lib/libcuda.so.1")
    host = Machine(tmp_path, {"/dev/dxg": "", "/usr/lib/wsl/lib/libcuda.so.1": "", RUN: written(what)}, {})
    assert cdi(host, DRIVER)["fresh"]


def test_c10_nodes_without_links_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "/sys/module/nvidia/initstate": "live\n",
        "/dev/nvidia0": "",
        "/dev/nvidiactl": "",
        "/dev/char/195:0": "",
    }
    numbers = {"/dev/nvidia0": "195:0", "/dev/nvidiactl": "195:255"}
    monkeypatch.setattr(gpu_host_cdi, "node_number", lambda _, path: numbers.get(path))
    host = Machine(tmp_path, files, {})
    assert unlinked(host) == ["/dev/nvidiactl"]
    host.at("/dev/char/195:255").symlink_to("/dev/nvidiactl")
    assert unlinked(host) == []
    host.at("/dev/char/195:255").unlink()
    host.at("/sys/module/nvidia/initstate").unlink()
    assert unlinked(host) == []


def test_a_files_number_is_none(tmp_path: Path) -> None:
    host = Machine(tmp_path, {"/dev/nvidia0": ""}, {})
    assert node_number(host, "/dev/nvidia0") is None
    assert node_number(host, "/dev/nothing") is None
    host.at("/dev/null").symlink_to("/dev/null")
    assert node_number(host, "/dev/null") == "1:3"


TEXT = st.text(max_size=200)


@given(text=TEXT, name=st.sampled_from([RUN, "/var/run/cdi/nvidia.json", "/etc/cdi/x.yaml"]))
def test_any_text_has_a_judgement(tmp_path_factory: pytest.TempPathFactory, text: str, name: str) -> None:
    found = cdi(machine(tmp_path_factory.mktemp("host"), {name: text}), DRIVER)
    assert found["fresh"] is False
    assert found["because"]


@given(cards=st.integers(1, 9), listed=st.integers(0, 9), as_json=st.booleans())
def test_fresh_means_the_same_cards(
    tmp_path_factory: pytest.TempPathFactory, cards: int, listed: int, *, as_json: bool
) -> None:
    name = "/var/run/cdi/nvidia.json" if as_json else RUN
    host = machine(tmp_path_factory.mktemp("host"), {name: written(document(listed), as_json=as_json)}, cards)
    assert cdi(host, DRIVER)["fresh"] is (cards == listed)

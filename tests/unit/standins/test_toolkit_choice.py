"""Which cards a container asked for, in the stand-in toolkit."""

from __future__ import annotations

import pytest

from tests.standins.toolkit.simulated_toolkit import bundle, choose, hook, runtime
from tests.standins.toolkit.simulated_toolkit.choose import Card

CARDS = (Card(0, "GPU-a", 0), Card(1, "GPU-b", 3))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, None),
        ("", None),
        ("void", None),
        ("none", ()),
        ("all", ("all",)),
        ("0, 1", ("0", "1")),
        ("nvidia.com/gpu=1", ("1",)),
    ],
)
def test_words(value: str | None, words: tuple[str, ...] | None) -> None:
    assert choose.words(value) == words


@pytest.mark.parametrize(
    ("words", "indices"),
    [(("all",), [0, 1]), ((), []), (("1",), [1]), (("GPU-a",), [0]), (("1", "GPU-b", "0"), [0, 1])],
)
def test_chosen(words: tuple[str, ...], indices: list[int]) -> None:
    assert [card.index for card in choose.chosen(words, CARDS)] == indices


def test_the_node_carries_the_minor_number() -> None:
    assert choose.chosen(["1"], CARDS)[0].node == "/dev/nvidia3"


@pytest.mark.parametrize("word", ["2", "GPU-", "-1", "GPU-A"])
def test_an_unknown_card_is_an_error(word: str) -> None:
    with pytest.raises(choose.UnknownDeviceError, match=word):
        choose.chosen(["0", word], CARDS)


def test_the_last_value_counts() -> None:
    env = ["NVIDIA_VISIBLE_DEVICES=all", "PATH=/bin", "NVIDIA_VISIBLE_DEVICES=1"]
    assert choose.variable(env) == "1"
    assert choose.variable(["PATH=/bin"]) is None


def config(*env: str, root: str = "/rootfs") -> dict[str, object]:
    return {"process": {"env": list(env)}, "root": {"path": root}}


def test_the_hook_calls_the_cli() -> None:
    call = hook.cli_arguments(config("NVIDIA_VISIBLE_DEVICES=0,1"), "/bundle", 7)
    assert call == [
        "nvidia-container-cli", "configure", "--device=0,1", "--compute", "--utility", "--pid=7", "/rootfs",
    ]  # fmt: skip


def test_the_hook_honours_driver_capabilities_and_a_relative_root() -> None:
    env = ("NVIDIA_VISIBLE_DEVICES=none", "NVIDIA_DRIVER_CAPABILITIES=utility,video")
    call = hook.cli_arguments(config(*env, root="rootfs"), "/bundle", 7)
    assert call == ["nvidia-container-cli", "configure", "--utility", "--pid=7", "/bundle/rootfs"]


@pytest.mark.parametrize("env", [(), ("NVIDIA_VISIBLE_DEVICES=void",)])
def test_the_hook_leaves_other_containers_alone(env: tuple[str, ...]) -> None:
    assert hook.cli_arguments(config(*env), "/bundle", 7) is None


def test_only_create_is_the_runtimes_business() -> None:
    assert runtime.bundle_of(["--root", "/r", "start", "--bundle", "/b"]) is None
    for spelling in (["--bundle", "/b"], ["--bundle=/b"], ["-b", "/b"]):
        assert str(runtime.bundle_of(["--log", "/l", "create", *spelling, "id"])) == "/b"


@pytest.mark.parametrize(
    ("mode", "version", "legacy"),
    [
        ("auto", "1.17.8", True),
        ("auto", "1.20.2", False),
        ("legacy", "1.20.2", True),
        ("cdi", "1.17.8", False),
    ],
)
def test_mode(mode: str, version: str, *, legacy: bool) -> None:
    assert bundle.is_legacy(mode, version) is legacy

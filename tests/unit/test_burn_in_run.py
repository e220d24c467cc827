"""A burn-in made: looks while the work runs, its end whatever it does, and nothing begun on a card in use."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pytest

from tests.unit.test_burn_in import at_work, gpu, look
from verify import burn_in_probe
from verify.burn_in_run import Work, burn_in, container_work
from verify.errors import VerifyError

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]
ANSWER = '{"status": "ran", "seconds": 0.2, "cards": []}'
PROCESS = "<process_info><pid>7</pid><process_name>python</process_name></process_info>"


def shell(script: str, end: str = "true") -> Work:
    return Work(["sh", "-c", script], ["sh", "-c", end])


def eyes(*documents: Json) -> Callable[[], Json]:
    """Return what looks: each document once, and the last one for ever."""
    left = list(documents)
    return lambda: left.pop(0) if len(left) > 1 else left[0]


def test_it_looks_before_meanwhile_and_after() -> None:
    seen = eyes(look(gpu()), look(at_work()))
    document = burn_in(seen, shell(f"sleep 0.4; echo 'a banner'; echo '{ANSWER}'"), 0.2, every=0.05)
    assert document["work"] == {"status": "ran", "seconds": 0.2, "cards": []}
    assert document["before"] == look(gpu())
    assert document["during"]
    assert document["during"][0] == document["after"] == look(at_work())


def test_a_card_in_use_is_left_alone(tmp_path: Path) -> None:
    document = burn_in(eyes(look(gpu(processes=PROCESS))), shell(f"touch {tmp_path}/begun"), 1)
    assert document["refused"].startswith("in use, and not disturbed")
    assert not (tmp_path / "begun").exists()


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo 'docker: no such image' >&2; exit 125", "exit status 125, it said: docker: no such image"),
        ("exit 1", "exit status 1, it said: nothing"),
        ("echo '[1]'", "exit status 0, it said: [1]"),
    ],
)
def test_work_that_does_not_run_says_why(script: str, words: str) -> None:
    work = burn_in(eyes(look(gpu())), shell(script), 0.1, every=0.05)["work"]
    assert work == {"status": "failed", "reason": words}


def test_work_that_hangs_is_ended_by_its_name_and_said(tmp_path: Path) -> None:
    work = shell("exec sleep 60", f"touch {tmp_path}/ended")
    document = burn_in(eyes(look(gpu())), work, 0.1, every=0.05, slack=0.2)
    assert document["work"]["status"] == "timed-out"
    assert (tmp_path / "ended").exists()


def test_an_interruption_ends_the_work_too(tmp_path: Path) -> None:
    def interrupted(_seconds: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        burn_in(eyes(look(gpu())), shell("exec sleep 60", f"touch {tmp_path}/ended"), 60, sleep=interrupted)
    assert (tmp_path / "ended").exists()


def test_a_look_that_fails_costs_one_look_and_the_first_one_everything() -> None:
    documents = iter([look(gpu()), None, look(at_work())])

    def seen() -> Json:
        document = next(documents, look(gpu()))
        if document is None:
            raise VerifyError("no recording from here within 50 s")
        return document

    document = burn_in(seen, shell(f"sleep 0.6; echo '{ANSWER}'"), 0.2, every=0.05)
    assert document["during"][0] == look(at_work())
    documents = iter([None])
    with pytest.raises(VerifyError):
        burn_in(seen, shell("true"), 0.1)


def test_the_container_has_every_card_no_network_and_a_name_by_which_it_ends() -> None:
    work = container_work("gpu-host/race:latest", 120)
    assert {"--gpus", "all", "--network=none", "--pull=never"} <= set(work.argv)
    name = next(word for word in work.argv if word.startswith("--name=")).removeprefix("--name=")
    assert name == work.end[-1]
    assert name.startswith("gpu-host-run-")
    assert work.argv[-1] == "120"


def test_without_torch_or_a_card_the_work_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert burn_in_probe.main(["1"])["status"] == "absent"


class Tensor:
    """As much of a tensor as the work needs; every third product is wrong where it is told so."""

    products = 0
    faulty = False

    def __init__(self, value: int = 0) -> None:
        self.value = value

    def half(self) -> Tensor:
        return self

    def __matmul__(self, other: Tensor) -> Tensor:
        Tensor.products += 1
        return Tensor(int(Tensor.faulty and Tensor.products % 3 == 0))

    def __ne__(self, other: object) -> Tensor:  # type: ignore[override]
        assert isinstance(other, Tensor)
        return Tensor(int(self.value != other.value))

    __hash__ = None  # type: ignore[assignment]

    def any(self) -> Tensor:
        return self

    def __iadd__(self, other: Tensor) -> Self:
        self.value += other.value
        return self

    def item(self) -> int:
        return self.value


class Torch:
    """A torch that computes nothing: it counts, and its memory holds 2048 by 2048."""

    __version__ = "0.0+simulated"
    int64 = "int64"

    class version:  # noqa: N801
        cuda: str | None = "13.0"

    class cuda:  # noqa: N801
        class OutOfMemoryError(RuntimeError):
            pass

        @staticmethod
        def is_available() -> bool:
            return Torch.version.cuda is not None

        @staticmethod
        def device_count() -> int:
            return 2

        class device:  # noqa: N801
            def __init__(self, index: int) -> None:
                assert index in (0, 1)

            def __enter__(self) -> None:
                return None

            def __exit__(self, *error: object) -> None:
                return None

    @staticmethod
    def manual_seed(seed: int) -> None:
        assert seed == 0

    @staticmethod
    def randn(rows: int, columns: int, device: str) -> Tensor:
        assert (rows, device) == (columns, "cuda")
        if rows > 2048:
            raise Torch.cuda.OutOfMemoryError("CUDA out of memory")
        return Tensor()

    @staticmethod
    def zeros(shape: tuple[int, ...], dtype: str, device: str) -> Tensor:
        assert (shape, dtype, device) == ((), "int64", "cuda")
        return Tensor()


@pytest.mark.parametrize("faulty", [False, True])
def test_products_are_counted_and_wrong_ones_too(monkeypatch: pytest.MonkeyPatch, faulty: bool) -> None:  # noqa: FBT001
    monkeypatch.setitem(sys.modules, "torch", Torch)
    monkeypatch.setattr(Tensor, "faulty", faulty)
    monkeypatch.setattr(Tensor, "products", 0)
    said = burn_in_probe.main(["0.01"])
    assert (said["status"], said["torch"]) == ("ran", "0.0+simulated")
    assert [row["side"] for row in said["cards"]] == [2048, 2048]
    assert all(row["products"] >= burn_in_probe.BATCH for row in said["cards"])
    assert any(row["wrong"] > 0 for row in said["cards"]) is faulty


def test_a_cpu_build_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", Torch)
    monkeypatch.setattr(Torch.version, "cuda", None)
    assert burn_in_probe.main(["1"]) == {"status": "absent", "reason": "torch 0.0+simulated is a CPU build"}


def test_the_work_runs_on_an_old_python() -> None:
    text = Path(burn_in_probe.__file__).read_text(encoding="utf-8")
    assert "from __future__ import annotations" not in text  # 3.6 does not know it
    assert "match " not in text

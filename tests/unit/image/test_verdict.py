"""Whether an image runs on a host, by its recording; and what is printed of it."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.image.fake_registry import Registry, serve
from tests.unit.image.images import BASE, DEVEL, INSTALL_BASE, INSTALL_DEVEL, INSTALL_LIBRARIES, Shape
from verify.cli import main
from verify.errors import VerifyError
from verify.image.host import host
from verify.recording import Recording

if TYPE_CHECKING:
    from collections.abc import Iterator

RECORDINGS = Path(__file__).parents[2] / "recordings"
HEALTHY = json.loads((RECORDINGS / "healthy-simulated-host.json").read_text(encoding="utf-8"))
GB = 10**9
Json = dict[str, Any]


def recording(
    driver: str = "550.163.01", device: str = "0x2236", free: int = 50 * GB, more: Json | None = None
) -> Json:
    """Return an A10 with Docker 26, or another driver, card and disk."""
    document: Json = copy.deepcopy(HEALTHY)
    text = json.dumps(document).replace("550.163.01", driver).replace("0x2236", device)
    document = json.loads(text)
    cuda = {"550": "12.4", "535": "12.2", "595": "13.2", "580": "13.0"}[driver[:3]]
    for name in ("nvidia-smi", "nvidia-smi-xml"):
        entry = document["commands"][name]
        entry["stdout"] = entry["stdout"].replace("12.4", cuda)
    document["commands"]["uname"] = {
        "argv": ["uname", "-a"],
        "rc": 0,
        "stdout": "Linux h 6.12 x86_64 GNU/Linux\n",
    }
    document["disks"] = {"/var/lib/docker": {"total": 100 * GB, "free": free, "inodes_free": 1000}}
    document["commands"].update(more or {})
    return document


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    with serve() as registry:
        yield registry


class Ask:
    """The command, with a recording."""

    def __init__(self, fake: Registry, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.fake, self.folder, self.capsys = fake, folder, capsys

    def __call__(self, document: Json, *shapes: Shape) -> tuple[int, Json]:
        status = self.run(document, "--json", *shapes)
        return status, json.loads(self.capsys.readouterr().out)

    def run(self, document: Json | None, *given: str | Shape) -> int:
        shapes = [one for one in given if isinstance(one, Shape)]
        self.fake.put("team/race", "1", *shapes)
        arguments = [one for one in given if isinstance(one, str)]
        if document is not None:
            file = self.folder / "host.json"
            file.write_text(json.dumps(document), encoding="utf-8")
            arguments += ["--recording", str(file)]
        return main(["image", f"{self.fake.host}/team/race:1", *arguments])


@pytest.fixture
def ask(fake: Registry, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    return Ask(fake, tmp_path, capsys)


def cuda(version: str, *, compat: bool = False, **env: str) -> Shape:
    step = f"RUN apt-get install cuda-compat-{version.replace('.', '-')}" if compat else "COPY . /app"
    return Shape(env={"CUDA_VERSION": version, "NVIDIA_REQUIRE_CUDA": "cuda>=11.0", **env}, history=(step,))


@pytest.mark.parametrize(
    ("shape", "document", "due", "words"),
    [
        (cuda("12.4"), recording(), ("runs", 0), "carries CUDA 12.4 itself"),
        (cuda("11.8"), recording(), ("runs", 0), "what is older runs on it"),
        (cuda("12.8"), recording(), ("minor", 0), "every CUDA 12.x starts from driver 525.60.13 on"),
        (cuda("13.2"), recording("580.95.05"), ("minor", 0), "from driver 580.65.06 on"),
        (cuda("13.0", compat=True), recording("535.261.03"), ("forward", 0), "cuda-compat package"),
        (cuda("13.0"), recording("535.261.03"), ("no", 1), "it is not in the image"),
        (cuda("13.0", compat=True), recording("535.261.03", "0x2684"), ("no", 1), "needs driver 580.65.06"),
        (cuda("13.0"), recording(), ("no", 1), "install driver 580.65.06 or newer"),
        (cuda("99.1"), recording(), ("unknown", 1), "is not in our table"),
        (cuda("12.4", NVIDIA_REQUIRE_CUDA="cuda>=12.8"), recording(), ("no", 1),
         "toolkit refuses it: it demands CUDA 12.8"),
        (cuda("12.4", NVIDIA_REQUIRE_CUDA="cuda>=12.8", NVIDIA_DISABLE_REQUIRE="1"), recording(),
         ("runs", 0), ""),
        (cuda("12.4", NVIDIA_REQUIRE_CUDA="cuda>=12.8 brand=tesla,driver>=550,driver<551"), recording(),
         ("runs", 0),
         "mostly the brand"),
        (Shape(), recording(), ("runs", 0), "it names no CUDA"),
        (Shape(architecture="arm64"), recording(), ("no", 1),
         "built for linux/arm64, and the host is linux/amd64"),
        (Shape(sizes=(30 * GB,)), recording(), ("no", 1),
         "needed is 105 GB, /var/lib/docker has 50.0 GB free"),
        (Shape(labels={"gpu-host.torch": "torch==2.13.0+cu130"}), recording(), ("no", 1),
         "CUDA 13.0 of its torch"),
        (Shape(labels={"gpu-host.torch": "torch==2.13.0+cpu"}), recording(), ("runs", 0), "without CUDA"),
        # A10 by cu126, whose newest card is Hopper; and a card of Blackwell's, for which it has no code.
        (Shape(env={"CUDA_VERSION": "12.6.3"}, labels={"gpu-host.torch": "torch==2.13.0+cu126"}),
         recording("595.71.05"), ("runs", 0), ""),
        (Shape(env={"CUDA_VERSION": "12.6.3"}, labels={"gpu-host.torch": "torch==2.13.0+cu126"}),
         recording("595.71.05", "0x2b85"), ("no", 1), "has no code for compute capability 12.0"),
    ],
)  # fmt: skip
def test_verdicts(ask: Ask, shape: Shape, document: Json, due: tuple[str, int], words: str) -> None:
    if "0x2b85" in json.dumps(document):  # what the driver says of the card goes before its id
        document = json.loads(json.dumps(document).replace(", 8.6, ", ", 12.0, "))
    got, found = ask(document, shape)
    assert (found["verdict"], got) == due
    assert words in " ".join(found["reasons"])


def test_what_was_not_recorded_is_never_a_pass(ask: Ask) -> None:
    bare = {"schema": 1, "where": "host"}
    status, found = ask(bare, cuda("12.4"))
    assert (status, found["verdict"], found["shared_layers"]) == (1, "unknown", None)
    said = " ".join(found["reasons"])
    assert "does not say which driver runs" in said
    assert "what platform" in said
    assert "was not recorded" in said
    asleep = recording()
    for name in ("nvidia-smi", "nvidia-smi-list", "nvidia-smi-xml", "nvidia-smi-query"):
        asleep["commands"][name] = {"argv": [name], "missing": True}
    assert ask(asleep, cuda("12.4"))[1]["verdict"] == "unknown"


def test_a_container_s_recording_is_refused() -> None:
    with pytest.raises(VerifyError, match="taken in a container"):
        host(Recording.from_document({"schema": 1, "where": "container"}))


def test_the_host_s_platform_is_taken_from_an_index(ask: Ask) -> None:
    both = (cuda("12.4"), Shape(architecture="arm64"))
    arm = recording(more={"uname": {"argv": [], "rc": 0, "stdout": "Linux h 6.12 aarch64 GNU/Linux\n"}})
    assert ask(recording(), *both)[1]["platform"]["architecture"] == "amd64"
    _, found = ask(arm, *both)
    assert (found["platform"]["architecture"], found["verdict"]) == ("arm64", "runs")


def layers(*images: Shape, **more: Any) -> Json:
    lines = [json.dumps([one.partition(":")[2][:16] for one in image.diff_ids()]) for image in images]
    return {"argv": ["sh"], "rc": 0, "stdout": "\n".join(lines) + "\n", "stderr": "", **more}


SHAPE = Shape(sizes=(1000, 2000, 3000))


@pytest.mark.parametrize(
    ("entry", "shared", "pulled"),
    [
        (layers(SHAPE), 3, 0),
        (layers(Shape(sizes=(1000, 2000))), 2, 3000),
        (layers(Shape(sizes=(7,))), 0, 6000),
        ({"argv": ["sh"], "rc": 0, "stdout": "", "stderr": ""}, 0, 6000),
        (layers(Shape(sizes=(1000,)), stdout_cut="tail", stdout='["abc", "de'), 0, 6000),
        ({"argv": ["sh"], "missing": True}, None, 6000),
        ({"argv": ["sh"], "timed_out": True}, None, 6000),
        ({"argv": ["sh"], "rc": 1, "stdout": "", "stderr": "Cannot connect"}, None, 6000),
    ],
)
def test_layers_that_are_there(ask: Ask, entry: Json, shared: int | None, pulled: int) -> None:
    _, found = ask(recording(more={"image-layers": entry}), SHAPE)
    assert (found["shared_layers"], found["pull_bytes"]) == (shared, pulled)


def test_an_image_that_is_there_needs_no_room(ask: Ask) -> None:
    status, found = ask(recording(free=0, more={"image-layers": layers(SHAPE)}), SHAPE)
    assert (status, found["needed_bytes"]) == (0, 0)


def test_the_page(ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    steps = (INSTALL_BASE, INSTALL_LIBRARIES, INSTALL_DEVEL)
    shape = Shape(env=DEVEL, history=steps, sizes=(184_000_000, 1_500_000_000, 2_900_000_000))
    document = recording(more={"image-layers": layers(Shape(sizes=(184_000_000,)))})
    assert ask.run(document, shape, Shape(architecture="arm64"), "--rate", "500", "--price", "2.5") == 0
    out = capsys.readouterr().out
    for words in (
        "linux/amd64 (there is linux/arm64 too)",
        "12.8.1, by CUDA_VERSION",
        "cuda>=12.8 brand=tesla,driver>=535,driver<536",
        "devel: carries a compiler you may not need: 2.9 GB of what is sent",
        "4.6 GB in 3 layers",
        "1 of them, 184 MB: 4.4 GB are to be sent",
        "estimated: 2.5 times what is sent, between 6.9 GB and 16.0 GB",
        "15.4 GB of room while it is pulled and unpacked; /var/lib/docker has 50.0 GB free",
        "70 s at 500 Mbit/s, 0.05 EUR at 2.5 EUR an hour",
        "driver 550.163.01, NVIDIA A10 (simulated)",
        "RUNS by minor-version compatibility (simulated)",
    ):
        assert words in out


def test_the_page_without_a_host(ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = Shape(env={**BASE, "NVIDIA_REQUIRE_CUDA": "cuda>=1\x1b[31m[bold]"}, labels={"x": "y"})
    assert ask.run(None, hostile) == 0
    out = capsys.readouterr().out
    assert "base: CUDA's runtime library alone" in out
    assert "[bold]" in out
    assert "\x1b" not in out
    assert "RUNS" not in out


def test_a_price_goes_with_a_rate(ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask.run(None, Shape(), "--price", "2") == 2
    assert "--price goes with --rate" in capsys.readouterr().err
    for wrong in ("0", "-1", "nan", "inf", "fast", "1e-300", "1e300"):
        assert ask.run(None, Shape(), "--rate", "500", "--price", wrong) == 2
        assert ask.run(None, Shape(), "--rate", wrong) == 2

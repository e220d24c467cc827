"""What an image is, by environment, labels and history; what its pull costs."""

from __future__ import annotations

import pytest

from tests.unit.image.fake_registry import serve
from tests.unit.image.images import (
    BASE,
    DEVEL,
    INSTALL_BASE,
    INSTALL_DEVEL,
    INSTALL_LIBRARIES,
    RUNTIME,
    Shape,
    digest_of,
)  # fmt: skip
from verify.image.command import look
from verify.image.estimate import Sizes, pull, shared_layers, sizes
from verify.image.inspect import Content, Kind, content
from verify.image.reference import parse
from verify.image.words import duration, money, size

LIBRARIES = (INSTALL_BASE, INSTALL_LIBRARIES)


def of(shape: Shape) -> Content:
    return content(image(shape))


def image(shape: Shape):  # type: ignore[no-untyped-def]  # noqa: ANN201
    with serve() as registry:
        registry.put("a", "1", shape)
        return look(parse(f"{registry.host}/a:1"), None, None)


@pytest.mark.parametrize(
    ("shape", "kind"),
    [
        (Shape(env=BASE), Kind.BASE),
        (Shape(env=RUNTIME), Kind.RUNTIME),
        (Shape(env=DEVEL), Kind.DEVEL),
        (Shape(env={"CUDA_VERSION": "12.8.1"}, history=LIBRARIES, sizes=(1, 2)), Kind.RUNTIME),
        (
            Shape(env={"CUDA_VERSION": "12.8.1"}, history=(*LIBRARIES, INSTALL_DEVEL), sizes=(1, 2, 3)),
            Kind.DEVEL,
        ),
        (Shape(env={"CUDA_VERSION": "12.8.1", "LIBRARY_PATH": "/usr/local/cuda/lib64/stubs"}), Kind.DEVEL),
        (Shape(env={"PATH": "/bin"}), None),
        (Shape(), None),
    ],
)
def test_kinds(shape: Shape, kind: Kind | None) -> None:
    assert of(shape).kind is kind


def test_the_compiler_s_layers_are_added_up_where_history_matches() -> None:
    steps = (INSTALL_BASE, INSTALL_LIBRARIES, INSTALL_DEVEL, "COPY app /app")
    assert of(Shape(env=DEVEL, history=steps, sizes=(10, 20, 4000, 50))).compiler_bytes == 4000
    assert of(Shape(env=DEVEL, history=steps, sizes=(10, 20, 4000))).compiler_bytes is None
    assert of(Shape(env=DEVEL, sizes=(10,))).compiler_bytes is None
    assert of(Shape(env=RUNTIME, history=steps, sizes=(10, 20, 4000, 50))).kind is Kind.DEVEL


def test_cuda_and_where_it_is_named() -> None:
    assert (str(of(Shape(env=BASE)).cuda), of(Shape(env=BASE)).cuda_source) == ("12.8.1", "CUDA_VERSION")
    old = of(Shape(labels={"com.nvidia.cuda.version": "9.0.176"}))
    assert (str(old.cuda), old.cuda_source) == ("9.0.176", "label com.nvidia.cuda.version")
    asked = of(Shape(env={"NVIDIA_REQUIRE_CUDA": "cuda>=12.4"}))
    assert (str(asked.cuda), asked.cuda_source) == ("12.4", "NVIDIA_REQUIRE_CUDA")
    assert (of(Shape()).cuda, of(Shape()).cuda_source) == (None, None)
    assert of(Shape(env={"CUDA_VERSION": "new"})).cuda is None


@pytest.mark.parametrize(
    ("shape", "version", "cuda", "cpu"),
    [
        (Shape(labels={"gpu-host.torch": "torch==2.13.0+cu126"}), "2.13.0+cu126", "12.6", False),
        (Shape(labels={"gpu-host.torch": "torch==2.13.0+cpu"}), "2.13.0+cpu", "None", True),
        (Shape(env={"PYTORCH_VERSION": "2.6.0"}), "2.6.0", "None", False),
        (Shape(env={"PYTORCH_VERSION": "2.6.0a0+ecf3bae40a", "NVIDIA_PYTORCH_VERSION": "25.01",
                    "CUDA_VERSION": "12.8.0.038"}), "2.6.0a0+ecf3bae40a", "12.8.0.038", False),
        (Shape(history=("RUN pip install torch==2.6.0 -i https://x/whl/cu124",)), "2.6.0", "12.4", False),
        (Shape(history=("RUN pip install torch==2.15.0",)), "2.15.0", "None", False),
        (Shape(history=("RUN pip install torch==2.9.1+rocm6.4",)), "2.9.1+rocm6", "None", True),
    ],
)  # fmt: skip
def test_torch(shape: Shape, version: str, cuda: str, *, cpu: bool) -> None:
    found = of(shape).torch
    assert found is not None
    assert (found.version, str(found.cuda), found.cpu) == (version, cuda, cpu)


def test_no_torch() -> None:
    assert of(Shape(env=DEVEL, history=("RUN pip install torchvision pytorch-lightning==2.0",))).torch is None


def test_compatibility_libraries() -> None:
    assert of(Shape(env=BASE, history=LIBRARIES, sizes=(1, 2))).compat is True
    assert of(Shape(env={"NV_CUDA_COMPAT_PACKAGE": "cuda-compat-11-8"})).compat is True
    assert of(Shape(env=BASE, history=("COPY a b",))).compat is False
    assert of(Shape(env=BASE)).compat is None


def amounts(shape: Shape, on_host: tuple[tuple[str, ...], ...] | None) -> Sizes:
    return sizes(image(shape), on_host)


def ids(shape: Shape) -> tuple[str, ...]:
    return tuple(one.partition(":")[2][:16] for one in shape.diff_ids())


SHAPE = Shape(sizes=(1000, 2000, 3000))


def test_sizes_without_a_host() -> None:
    found = amounts(SHAPE, None)
    assert (found.compressed, found.disk, found.low, found.high) == (6000, 15000, 9000, 21000)
    assert (found.shared, found.pull, found.needed) == (None, 6000, 21000)


def test_the_layers_at_the_bottom_are_shared_and_those_alone() -> None:
    first, second, third = ids(SHAPE)
    found = amounts(SHAPE, ((first, "other"), (first, second, "other"), ("other", third)))
    assert (found.shared, found.pull, found.there, found.needed) == (2, 3000, 3000, 10500)
    assert amounts(SHAPE, ((second, third),)).shared == 0
    assert amounts(SHAPE, ()).shared == 0
    assert amounts(SHAPE, (ids(SHAPE),)).needed == 0


def test_an_image_without_layer_ids_is_not_compared() -> None:
    found = image(SHAPE)
    assert shared_layers((), ((digest_of(b"x"),),)) == 0
    assert found.diff_ids == SHAPE.diff_ids()


def test_layers_that_are_not_packed_are_what_they_are() -> None:
    found = amounts(Shape(sizes=(1000,), layer="application/vnd.oci.image.layer.v1.tar"), None)
    assert (found.disk, found.exact) == (1000, True)


def test_time_and_money() -> None:
    found = pull(4_000_000_000, 500, 2.5, "EUR")
    assert (found.seconds, round(found.money or 0, 4)) == (64.0, 0.0444)
    assert pull(1, 500, None, "EUR").money is None


def test_words() -> None:
    assert [size(one) for one in (0, 999, 1000, 184_406_258, 8_600_000_000)] == [
        "0 bytes", "999 bytes", "1.0 kB", "184 MB", "8.6 GB",
    ]  # fmt: skip
    assert [duration(one) for one in (0.2, 64, 200, 9000)] == [
        "under a second",
        "64 s",
        "3 min 20 s",
        "2 h 30 min",
    ]
    assert [money(one, "EUR") for one in (0, 0.004, 1.5)] == ["0.00 EUR", "under 0.01 EUR", "1.50 EUR"]

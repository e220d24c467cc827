"""Makes the recordings of offers that we have not rented, from those that were really taken, and says how.

    .venv/bin/python -m tests.unit.offer.derive

Four were recorded (``recorded-*.json``). Each other one is one of these with the parts replaced that its
``about`` names; texts that are put in come from other recordings of this project. Cards stay simulated ones.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.unit.image.images import BASE, Shape

FOLDER = Path(__file__).parents[2] / "recordings"
OFFERS = FOLDER / "offers"
Json = dict[str, Any]


def recorded(name: str) -> Json:
    document: Json = json.loads((OFFERS / f"recorded-{name}.json").read_text(encoding="utf-8"))
    return document


def other(name: str) -> Json:
    document: Json = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return document


def tries(document: Json) -> Json:
    answer: Json = json.loads(document["commands"]["offer-tries"]["stdout"])
    return answer


def put_tries(document: Json, answer: Json) -> None:
    document["commands"]["offer-tries"]["stdout"] = json.dumps(answer, sort_keys=True)


def missing(document: Json, *names: str) -> None:
    for name in names:
        argv = document["commands"].get(name, {"argv": [name]})["argv"]
        document["commands"][name] = {"argv": argv, "missing": True}


def marked(document: Json, survived: str) -> None:
    """Let one mount's marker be of an earlier start of the machine."""
    answer = tries(document)
    for place in answer["places"]:
        if place["path"] == survived:
            place["marker"]["found"]["init"] -= 1000
    put_tries(document, answer)


def full_machine() -> Json:
    document = recorded("machine")
    marked(document, "/var/lib/docker")
    document["about"] = (
        "A full VM. recorded-machine.json, but: the marker on /var/lib/docker is of an earlier start "
        "(as it is after a restart, which recorded-container-again.json really had), and / is ext4 in "
        "the place of overlay."
    )
    answer = tries(document)
    answer["places"][0].update(kind="ext4", source="/dev/vda1")
    put_tries(document, answer)
    return document


def vendor_driver() -> Json:
    """The provider's image with its own driver (case I2, Lambda's packages), and no Docker yet."""
    document, vendor = recorded("machine"), other("i2-lambda")
    missing(document, "docker-info", "docker-version", "docker-show", "docker-socket-show", "compose-version")
    missing(document, "image-layers")
    packages = copy.deepcopy(vendor["commands"]["driver-packages"])
    packages["stdout"] = packages["stdout"].replace("510.60.02", "550.163.01")
    document["commands"]["driver-packages"] = packages
    document["files"]["/etc/os-release"] = vendor["files"]["/etc/os-release"]
    answer = tries(document)
    answer.update(docker="there is no docker command", steps={})
    put_tries(document, answer)
    document["about"] = (
        "A VM with the vendor's driver and no Docker. recorded-machine.json, but: Docker's commands "
        "are missing and were not tried, os-release and driver-packages are those of i2-lambda.json, "
        "with this driver's version."
    )
    return document


def container_with_volume() -> Json:
    document = recorded("container-again")
    document["about"] = (
        "A root container with a card and a volume: recorded-container-again.json as it is (made "
        "anew, the volume kept)."
    )
    return document


def container_without_smi() -> Json:
    document = recorded("container")
    missing(
        document, "nvidia-smi", "nvidia-smi-list", "nvidia-smi-query", "nvidia-smi-xml", "nvidia-smi-topo"
    )
    machine = other("healthy-simulated-host")["files"]
    for path in ("/proc/driver/nvidia/version", "/sys/module/nvidia/version"):
        document["files"][path] = machine[path]  # of the kernel, which a container shares
    probe = {"init": None, "error": "libcuda.so.1: cannot open shared object file: No such file or directory"}
    document["commands"]["cuda"].update(stdout=json.dumps(probe) + "\n")
    document["about"] = (
        "A container with the card's device nodes and without the driver's libraries, as one is that "
        "was started without the capabilities compute and utility (case D11). "
        "recorded-container.json, but: nvidia-smi is missing, the loader's own sentence stands for "
        "libcuda, and the module's version is that of healthy-simulated-host.json (a real container "
        "sees its host's)."
    )
    return document


def container_smi_missing_cuda_works() -> Json:
    document = container_without_smi()
    for path in ("/proc/driver/nvidia/version", "/sys/module/nvidia/version"):
        document["files"][path] = {"missing": True}
    probe: Json = {"init": 0, "cuda": 12040, "count": 1, "error": None, "devices": []}
    document["commands"]["cuda"].update(stdout=json.dumps(probe) + "\n")
    document["about"] = (
        "The same with compute and without utility: CUDA opens the card. container-without-smi.json, "
        "but: the probe of CUDA says so, and the module's version is hidden."
    )
    return document


def rootless() -> Json:
    document, from_case = recorded("machine"), other("a8-rootless")
    document["commands"]["docker-info"] = from_case["commands"]["docker-info"]
    answer = tries(document)
    refused = from_case["commands"]["run-gpus-all"]
    for name in ("run-gpus-all", "run-runtime"):
        answer["steps"][name].update(rc=refused["rc"], stdout="", stderr=refused["stderr"])
    put_tries(document, answer)
    document["about"] = (
        "Rootless Docker. recorded-machine.json, but: docker-info, and what --gpus and --runtime come "
        "to, are those of a8-rootless.json; by CDI the card is given, as it was "
        "on the machine recorded."
    )
    return document


def no_persistent_disk() -> Json:
    document = recorded("container")
    answer = tries(document)
    answer["places"] = [place for place in answer["places"] if place["path"] == "/"]
    put_tries(document, answer)
    document["about"] = "A container without a volume. recorded-container.json, but: /workspace is left out."
    return document


def without_compose() -> Json:
    document = recorded("machine-without-compose")
    document["about"] = "Compose missing: recorded-machine-without-compose.json as it is."
    return document


def registry(shape: Shape, **more: Any) -> Json:
    """What the registry's probe prints for one image."""
    documents = {
        "top": {"kind": shape.media, "digest": None, "text": shape.manifest().decode()},
        "config": {"kind": "", "digest": None, "text": shape.config().decode()},
    }
    layers = json.loads(shape.manifest())["layers"]
    answer = {
        "schema": 1,
        "host": "registry.example.com",
        "image": "registry.example.com/team/train:1",
        "named": False,
        "reach": {"status": 200},
        "described": {"documents": documents, "layers": layers},
        **more,
    }
    return {"argv": ["python3", "-"], "rc": 0, "stdout": json.dumps(answer, sort_keys=True), "stderr": ""}


def older_driver() -> Json:
    document = full_machine()
    env = {**BASE, "CUDA_VERSION": "13.0.2", "NVIDIA_REQUIRE_CUDA": "cuda>=13.0"}
    document["commands"]["offer-registry"] = registry(
        Shape(env=env, sizes=(4_000_000_000,)), rate={"bytes": 64_000_000, "seconds": 1.0}
    )
    document["about"] = (
        "A driver (550) that is older than the user's image (CUDA 13.0). full-machine.json, but: a "
        "registry describes the image, made by tests/unit/image/images.py; its size and the rate are "
        "made up."
    )
    return document


def stopped() -> Json:
    document = recorded("machine")
    source = other("engine-stopped")["commands"]
    for name in ("docker-info", "docker-version", "docker-show", "docker-socket-show"):
        if name in source:
            document["commands"][name] = source[name]
    answer = tries(document)
    answer.update(docker="docker.service is inactive and asking would start it", steps={})
    put_tries(document, answer)
    document["about"] = (
        "A stopped daemon. recorded-machine.json, but: Docker's answers of engine-stopped.json."
    )
    return document


def denied() -> Json:
    document = recorded("machine")
    source = other("engine-permission-denied")["commands"]
    for name in ("docker-info", "docker-version"):
        if name in source:
            document["commands"][name] = source[name]
    document["uid"] = 1000
    answer = tries(document)
    answer.update(docker="the engine does not answer: permission denied", steps={})
    put_tries(document, answer)
    document["about"] = (
        "A user whom the daemon does not let in. recorded-machine.json, but: Docker's answers of "
        "engine-permission-denied.json, and another user."
    )
    return document


def not_tried() -> Json:
    document = recorded("machine")
    del document["commands"]["offer-tries"]
    document["about"] = "Looked at alone. recorded-machine.json without what was tried."
    return document


MADE: dict[str, Callable[[], Json]] = {
    "full-machine": full_machine,
    "vendor-driver": vendor_driver,
    "container-with-volume": container_with_volume,
    "container-without-smi": container_without_smi,
    "container-cuda-alone": container_smi_missing_cuda_works,
    "rootless": rootless,
    "no-persistent-disk": no_persistent_disk,
    "without-compose": without_compose,
    "older-driver": older_driver,
    "stopped": stopped,
    "denied": denied,
    "not-tried": not_tried,
}


def text(document: Json) -> str:
    return json.dumps(document, indent=1, sort_keys=True) + "\n"


def made(name: str) -> Json:
    return copy.deepcopy(MADE[name]())


def main() -> None:
    for name in MADE:
        (OFFERS / f"{name}.json").write_text(text(made(name)), encoding="utf-8")


if __name__ == "__main__":
    main()

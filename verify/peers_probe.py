"""Whether two cards or more can work together: a copy from each to each, and an all-reduce over all.

Sent as text to the container's python3 (3.6 or newer), which starts itself again for each of the two
questions, and for each card of the all-reduce: a copy that hangs, as it does where the machine's IOMMU is
in the way, takes nothing else down. Prints one JSON object: after each question, so that the second one's
silence does not cost the first one's answer.

    python3 -c TEXT [backend=gloo]      gloo and processors: how this is tried without cards
"""

import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any, Dict, List

PEERS_LIMIT_S = 25.0
REDUCE_LIMIT_S = 25.0
MOST = 8  # cards that take part
SAID = 600
TEXT = ""  # of this program: it starts itself again

Json = Dict[str, Any]


def peers() -> Json:
    """Copy a pattern from each card to each other, and compare it on the processor."""
    torch = importlib.import_module("torch")  # only the children load it

    if not torch.cuda.is_available():
        return {"count": 0, "pairs": [], "error": "not tried: torch.cuda.is_available() is False"}
    count = torch.cuda.device_count()
    pairs = []
    pattern = torch.arange(1 << 20, dtype=torch.int32)
    for source in range(min(count, MOST)):
        for target in range(min(count, MOST)):
            if source == target:
                continue
            pair = {"from": source, "to": target, "access": None, "right": None, "error": None}  # type: Json
            pairs.append(pair)
            try:
                pair["access"] = bool(torch.cuda.can_device_access_peer(source, target))
                there = pattern.to("cuda:%d" % source).to("cuda:%d" % target)
                torch.cuda.synchronize(target)
                pair["right"] = bool((there.cpu() == pattern).all().item())
            except Exception as error:  # noqa: BLE001  # whatever CUDA raises is the answer
                pair["error"] = "%s: %s" % (type(error).__name__, error)
    return {"count": count, "pairs": pairs, "error": None}


def reduce(rank: int, size: int, store: str, backend: str) -> Json:
    """Be one of the processes of an all-reduce: the sum of all ranks, on every card."""
    torch = importlib.import_module("torch")
    together = importlib.import_module("torch.distributed")

    device = "cpu" if backend == "gloo" else "cuda:%d" % rank
    if device != "cpu":
        torch.cuda.set_device(rank)
    together.init_process_group(backend, init_method="file://" + store, rank=rank, world_size=size)
    values = torch.full((1 << 20,), float(rank + 1), device=device)
    together.all_reduce(values)
    total = float(values.max().item())
    together.destroy_process_group()
    return {"result": total, "right": total == size * (size + 1) / 2.0}


def _child(*arguments: str) -> "subprocess.Popen[bytes]":
    program = "import sys; text = sys.argv[1]; exec(compile(text, 'peers_probe', 'exec'))"
    return subprocess.Popen(
        [sys.executable, "-c", program, TEXT, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(os.environ, NCCL_DEBUG="WARN"),
    )


def _outcome(process: "subprocess.Popen[bytes]", until: float, limit: float) -> Json:
    try:
        out, err = process.communicate(timeout=max(0.1, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.kill()  # and not waited for: what hangs in the driver does not die
        return {"error": "no answer within %.0f s" % limit}
    said = out.decode("utf-8", "replace").strip().splitlines()
    try:
        answer = json.loads(said[-1])
    except (IndexError, ValueError):
        # NCCL writes its reasons to standard output.
        last = [line for line in said if "NCCL WARN" in line][-1:]
        last += err.decode("utf-8", "replace").strip().splitlines()[-1:]
        return {"error": ("exit status %d: " % process.returncode + "; ".join(last))[:SAID]}
    return answer if isinstance(answer, dict) else {"error": "no object"}


def _all_reduce(size: int, backend: str) -> Json:
    limit = REDUCE_LIMIT_S
    until = time.monotonic() + limit
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "store")
        ranks = [_child("reduce", str(rank), str(size), store, backend) for rank in range(size)]
        found = [_outcome(process, until, limit) for process in ranks]
    errors = [one["error"] for one in found if one.get("error")]
    # One that fails leaves the others waiting: its reason is the one to hear.
    errors.sort(key=lambda text: text.startswith("no answer"))
    right = all(one.get("right") is True for one in found)
    return {"ok": right, "cards": size, "error": errors[0] if errors else None if right else "a wrong sum"}


def main(backend: str) -> None:
    answer = {"count": None, "pairs": None, "all_reduce": None, "errors": {}, "asking": "peers"}  # type: Json
    found = _outcome(_child("peers"), time.monotonic() + PEERS_LIMIT_S, PEERS_LIMIT_S)
    answer.update(count=found.get("count"), pairs=found.get("pairs"))
    if found.get("error"):
        answer["errors"]["peers"] = found["error"]
    size = 2 if backend == "gloo" else min(answer["count"] or 0, MOST)
    if size > 1:
        answer["asking"] = "all_reduce"
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
        answer["all_reduce"] = _all_reduce(size, backend)
    answer["asking"] = None
    sys.stdout.write(json.dumps(answer) + "\n")


def start(arguments: List[str]) -> None:
    """Be the parent, or the child that the first word names."""
    if arguments[:1] == ["peers"]:
        print(json.dumps(peers()))
    elif arguments[:1] == ["reduce"]:
        rank, size, store, backend = arguments[1:]
        print(json.dumps(reduce(int(rank), int(size), store, backend)))
    else:
        main("gloo" if "backend=gloo" in arguments else "nccl")


if __name__ == "__main__":
    TEXT = sys.argv[1]
    start(sys.argv[2:])

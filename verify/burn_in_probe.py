"""Keep every card busy with products of matrices, and hold each product against the first on its card.

Sent alone, as text, to the python3 of an image with torch: ``python3 -c TEXT SECONDS``. One JSON object on
standard output. cuBLAS gives the same bits each time on one card, so a product that differs is the card's.
"""

import importlib
import json
import sys
import time
from typing import Any, Dict, List

SIDE = 8192
LEAST = 1024
BATCH = 8

Json = Dict[str, Any]


def _operands(torch: Any, side: int) -> Json:
    """Make two matrices on the current card, their product, and a count of products that differ from it."""
    torch.manual_seed(0)
    left, right = (torch.randn(side, side, device="cuda").half() for _ in range(2))
    wrong = torch.zeros((), dtype=torch.int64, device="cuda")
    return {"side": side, "left": left, "right": right, "first": left @ right, "wrong": wrong}


def _fitting(torch: Any, index: int) -> Json:
    """Return the largest operands that the card has room for."""
    side = SIDE
    with torch.cuda.device(index):
        while side > LEAST:
            try:
                return _operands(torch, side)
            except torch.cuda.OutOfMemoryError:
                side //= 2
        return _operands(torch, side)


def _work(torch: Any, seconds: float) -> Json:
    cards = [_fitting(torch, index) for index in range(torch.cuda.device_count())]
    batches = 0
    begun = time.monotonic()
    while time.monotonic() - begun < seconds:
        # All cards get their batch before the first one is waited for.
        for index, card in enumerate(cards):
            with torch.cuda.device(index):
                for _ in range(BATCH):
                    card["wrong"] += (card["left"] @ card["right"] != card["first"]).any()
        for card in cards:
            card["wrong"].item()  # waits
        batches += 1
    rows = [
        {
            "index": index,
            "side": card["side"],
            "products": BATCH * batches,
            "wrong": int(card["wrong"].item()),
        }
        for index, card in enumerate(cards)
    ]  # type: List[Json]
    return {"status": "ran", "seconds": round(time.monotonic() - begun, 1), "cards": rows}


def main(words: List[str]) -> Json:
    """Return how the work went; whatever goes wrong is said in the document."""
    try:
        torch = importlib.import_module("torch")
    except BaseException as error:  # noqa: BLE001  # a missing or broken torch is an answer too
        return {"status": "absent", "reason": "torch cannot be imported: %s" % error}
    if not torch.cuda.is_available():
        cpu = torch.version.cuda is None
        why = "torch %s is a CPU build" % torch.__version__ if cpu else "torch.cuda.is_available() is False"
        return {"status": "absent", "reason": why}
    try:
        return dict(_work(torch, float(words[0])), torch=str(torch.__version__))
    except Exception as error:  # noqa: BLE001  # whatever CUDA raises is the answer
        return {"status": "failed", "reason": "%s: %s" % (type(error).__name__, str(error)[:500])}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:])))

"""What the number of an Xid means, by NVIDIA's own catalog."""

from __future__ import annotations

from dataclasses import dataclass

from verify.compat.table import rows

CATALOG = "https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html"
OFF_THE_BUS = 79
# What the catalog's names for the immediate action ask a person to do.
_ACTIONS = {
    "RESET_GPU": "stop what uses the card, then: nvidia-smi --gpu-reset -i {card}  # refused? Reboot",
    "RESTART_BM": "power off and on",
    "RESTART_VM": "reboot the virtual machine",
    "RESTART_APP": "start the program again; if it comes back, look for the fault in the program",
    "CHECK_MECHANICALS": "power off and look at the card's power cables",
    "WORKFLOW_XID_48": "nvidia-smi -q -i {card} -d ECC,ROW_REMAPPER, then nvidia-smi --gpu-reset -i {card}",
    "WORKFLOW_NVLINK_ERR": "nvidia-smi nvlink --status -i {card}, then nvidia-smi --gpu-reset -i {card}",
}


@dataclass(frozen=True, slots=True)
class Meaning:
    """One row: the title, whether the card is of no use before something is done, and what to do."""

    title: str
    serious: bool
    action: str

    def remedy(self, card: str) -> str:
        """Return what is to be done with the card at this address."""
        return _ACTIONS.get(self.action, f"watch whether it comes back; its meaning: {CATALOG}").format(
            card=card
        )


_ROWS = {
    row["xid"]: Meaning(row["title"], row["status"] == "fail", row["action"]) for row in rows("xid", "xids")
}


def meaning(number: int) -> Meaning | None:
    """Return what the catalog says of a number; None where our table does not have it."""
    return _ROWS.get(number)

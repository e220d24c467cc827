"""Small recordings for one parser each."""

from __future__ import annotations

from typing import Any

from verify.recording import Recording


def recording(where: str = "host", **sections: Any) -> Recording:
    return Recording.from_document({"schema": 1, "where": where, **sections})


def said(stdout: str = "", rc: int = 0, stderr: str = "", **entry: Any) -> dict[str, Any]:
    return {"argv": ["x"], "rc": rc, "stdout": stdout, "stderr": stderr, **entry}

"""The fleet's page in a frame of a real browser, driven from outside: its policy allows no script of ours."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

from tests.unit.race import browser

_DRIVER = """
<script>
addEventListener("load", async () => {
  const page = document.querySelector("iframe").contentDocument;
  const later = () => new Promise(done => setTimeout(done, 50));
  const found = await (async () => { %s })();
  document.body.innerHTML = "<pre id=found></pre>";
  document.getElementById("found").textContent = JSON.stringify(found);
});
</script>
"""


def drive(chromium: str, folder: Path, page: str, script: str, width: int = 1600) -> Any:
    """Return what ``script`` returns; it has ``page``, the document, and ``later()`` to wait a moment."""
    file = folder / "driven.html"
    frame = browser.framed({"page": page}, width, 900)
    file.write_text(f"<!doctype html><meta charset=utf-8><body>{frame}{_DRIVER % script}")
    size = f"--window-size={width + 40},900"
    shown = browser._run(chromium, folder, size, "--virtual-time-budget=9000", "--dump-dom", file.as_uri())
    found = re.search(r'<pre id="found">(.*?)</pre>', shown, re.DOTALL)
    assert found, shown[:500]
    return json.loads(html.unescape(found.group(1)))

"""A headless browser: what a page looks like, and where its words come to stand."""

from __future__ import annotations

import html
import json
import re
import shutil
import struct
import subprocess
import zlib
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
_SECONDS = 90
# What stands in a picture: every visible text's box, and how wide the page really is.
_MEASURE = """
<script>
addEventListener("load", () => {
  const found = [...document.querySelectorAll("iframe")].map(frame => {
    const inner = frame.contentDocument;
    const svg = [...inner.querySelectorAll("svg")].find(s => s.getBoundingClientRect().width > 0);
    const texts = svg ? [...svg.querySelectorAll("text")].map(t => {
      const box = t.getBoundingClientRect(), all = svg.getBoundingClientRect();
      return {said: t.textContent, left: box.left - all.left, top: box.top - all.top,
              right: box.right - all.left, bottom: box.bottom - all.top};
    }) : [];
    const all = svg ? svg.getBoundingClientRect() : {width: 0, height: 0};
    const root = inner.documentElement;
    return {name: frame.title, scroll: root.scrollWidth, client: root.clientWidth,
            width: all.width, height: all.height, texts};
  });
  document.body.innerHTML = "<pre id=found></pre>";
  document.getElementById("found").textContent = JSON.stringify(found);
});
</script>
"""


def find() -> str | None:
    """Return the browser of this machine, if there is one that runs: a name on PATH may lead nowhere."""
    return next((path for name in NAMES if (path := shutil.which(name)) and _runs(path)), None)


def _runs(path: str) -> bool:
    return (
        subprocess.run([path, "--version"], check=False, capture_output=True, timeout=_SECONDS).returncode
        == 0
    )


def _run(browser: str, folder: Path, *arguments: str) -> str:
    command = [
        browser,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        f"--user-data-dir={folder / 'profile'}",
        *arguments,
    ]
    done = subprocess.run(command, check=True, capture_output=True, timeout=_SECONDS)
    return done.stdout.decode("utf-8", "replace")


def framed(pages: dict[str, str], width: int, height: int) -> str:
    """Return a page that shows others in frames: a frame may be narrower than a browser's window can be."""
    return "\n".join(
        f'<iframe title="{html.escape(name)}" width="{width}" height="{height}" style="border:0" '
        f'srcdoc="{html.escape(page)}"></iframe>'
        for name, page in pages.items()
    )


def measure(browser: str, folder: Path, pages: dict[str, str], width: int) -> list[dict[str, Any]]:
    """Return for each page how wide it came out and where the picture's texts stand."""
    file = folder / f"measure-{width}.html"
    file.write_text(f"<!doctype html><meta charset=utf-8><body>{framed(pages, width, 900)}{_MEASURE}")
    shown = _run(browser, folder, f"--window-size={width + 40},900", "--dump-dom", file.as_uri())
    found = re.search(r'<pre id="found">(.*?)</pre>', shown, re.DOTALL)
    assert found, shown[:500]
    return list(json.loads(html.unescape(found.group(1))))


def shoot(browser: str, folder: Path, page: str, name: str, width: int, *, dark: bool = False) -> Path:
    """Take a picture of the top of a page."""
    file, picture = folder / f"{name}.html", folder / f"{name}.png"
    file.write_text(page)
    scheme = ["--blink-settings=preferredColorScheme=0"] if dark else []
    _run(browser, folder, f"--window-size={width},1400", f"--screenshot={picture}", *scheme, file.as_uri())
    return picture


def pixels(picture: Path, rows: int = 500) -> list[tuple[int, int, int]]:
    """Return the colours of a PNG's top as the browser writes it: 8 bit, not interlaced."""
    data, place, packed = picture.read_bytes(), 8, b""
    width = height = channels = 0
    while place < len(data):
        size, kind = struct.unpack(">I4s", data[place : place + 8])
        chunk = data[place + 8 : place + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", chunk[:10])
            channels = {2: 3, 6: 4}[colour]
            assert depth == 8
        packed += chunk if kind == b"IDAT" else b""
        place += 12 + size
    return _unfiltered(zlib.decompress(packed), width, min(height, rows), channels)


def _unfiltered(raw: bytes, width: int, height: int, channels: int) -> list[tuple[int, int, int]]:
    step, before, found = width * channels, bytearray(width * channels), []
    for row in range(height):
        start = row * (step + 1)
        kind, line = raw[start], bytearray(raw[start + 1 : start + 1 + step])
        for k in range(step if kind else 0):
            left = line[k - channels] if k >= channels else 0
            corner = before[k - channels] if k >= channels else 0
            line[k] = (line[k] + _predicted(kind, left, before[k], corner)) & 0xFF
        found += [(line[k], line[k + 1], line[k + 2]) for k in range(0, step, channels)]
        before = line
    return found


def _predicted(kind: int, left: int, up: int, corner: int) -> int:
    if kind == 4:
        distances = [
            (abs(up - corner), left),
            (abs(left - corner), up),
            (abs(left + up - 2 * corner), corner),
        ]
        return min(distances, key=lambda pair: pair[0])[1]
    return (0, left, up, (left + up) // 2)[kind]

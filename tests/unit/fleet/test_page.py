"""index.html as a text: one file, escaped, the same again, and as large as it may be."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.unit.fleet.generated import write_fleet, write_host
from verify.collect import start
from verify.errors import VerifyError
from verify.fleet.page import SCRIPT, STYLE, policy
from verify.report.evidence import write

EVIL = '</script><script>parent.hit=1</script><img src=x onerror="parent.hit=1">\u202egnp.\x1b[2J'
VOID = {"meta", "input", "br", "img"}
ALLOWED = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "main",
        "h1",
        "h2",
        "h3",
        "p",
        "form",
        "label",
        "input",
    ),
    *(
        "output",
        "ul",
        "ol",
        "li",
        "b",
        "i",
        "small",
        "span",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "br",
    ),
    *("details", "summary", "div", "pre", "code", "a", "section", "script"),
}


class Reader(HTMLParser):
    """Collects elements; every one that is opened is closed, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def drawn(folder: Path) -> str:
    write(folder)
    return (folder / "index.html").read_text(encoding="utf-8")


def hostile(folder: Path) -> str:
    """Draw a fleet in which everything that was recorded is hostile."""
    write_host(folder, 0, "healthy-lab-host", "healthy-lab-container", race="prices")
    write_host(folder, 1, None, outcome="unreachable")
    write_host(folder, 2, "driver-not-installed", race="gaming-card")
    for home in folder.iterdir():
        run = json.loads((home / "run.json").read_text())
        run["host"] = f"{EVIL}{home.name}"
        run["image_digest"] = EVIL
        run["collection"]["detail"] = EVIL
        (home / "run.json").write_text(json.dumps(run))
        for name in ("recording-host.json", "recording-container.json"):
            if (home / name).exists():
                recording = json.loads((home / name).read_text())
                for path, entry in recording["files"].items():
                    if path == "/etc/os-release":
                        entry["text"] = f'ID=debian\nPRETTY_NAME="{EVIL}"\n'
                for entry in recording["commands"].values():
                    entry["stderr"] = EVIL
                recording["commands"]["nvidia-smi"] = {"argv": [EVIL], "rc": 0, "stdout": EVIL}
                listed = {"argv": ["x"], "rc": 0, "stdout": f"GPU 0: {EVIL} (UUID: GPU-1)\n"}
                recording["commands"]["nvidia-smi-list"] = listed
                (home / name).write_text(json.dumps(recording))
        if (home / "race.json").exists():
            race = json.loads((home / "race.json").read_text())
            race["contestants"][0]["name"] = EVIL
            race["contestants"][0]["lanes"][0]["name"] = EVIL
            race["sentence"] = EVIL
            (home / "race.json").write_text(json.dumps(race))
    (folder / "node-000").rename(folder / 'x"><script>parent.hit=1<')
    return drawn(folder)


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    page = hostile(tmp_path)
    read = Reader(page)
    assert read.open == []
    assert {tag for tag, _ in read.elements} <= ALLOWED
    assert [attrs for tag, attrs in read.elements if tag == "script"] == [
        {"type": "application/json", "id": "texts"},
        {},
    ]
    assert not [name for _, attrs in read.elements for name in attrs if name.startswith("on")]
    assert not re.search(r"[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f]", page)
    said = "".join(read.texts)
    assert said.count("onerror") > 10  # it is there to be read
    links = [attrs["href"] for tag, attrs in read.elements if tag == "a"]
    assert links
    assert all(re.fullmatch(r"[A-Za-z0-9%._-]+/[a-z.-]+", link) for link in links)


def test_the_shared_texts_are_json_and_end_no_script(tmp_path: Path) -> None:
    page = hostile(tmp_path)
    found = re.search(r'<script type="application/json" id="texts">(.*?)</script>', page, re.DOTALL)
    assert found
    shared = json.loads(found.group(1))
    assert any("onerror" in text for text in shared["texts"])
    assert len(shared["hosts"]) == 3
    assert all(code < len(shared["texts"]) for row in shared["hosts"] for code in row)


def test_it_is_one_file_that_asks_for_nothing(tmp_path: Path) -> None:
    page = drawn(write_fleet(tmp_path, 21))
    read = Reader(page)
    assert not [attrs for _, attrs in read.elements if {"src", "style", "srcset", "background"} & set(attrs)]
    assert not [tag for tag, _ in read.elements if tag in {"link", "iframe", "object", "img", "base"}]
    assert not re.search(r"url\(|@import|@font-face", STYLE)
    assert not re.search(r"fetch|XMLHttp|import\(|innerHTML|eval|document\.write", SCRIPT)


def test_the_policy_names_what_is_in_the_page(tmp_path: Path) -> None:
    page = drawn(write_fleet(tmp_path, 2))
    assert f'content="{policy()}"' in page
    for tag in ("style", "script"):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy()
    assert "unsafe" not in policy()
    assert policy().startswith("default-src 'none'")


def test_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    once = drawn(write_fleet(tmp_path, 21))
    assert drawn(tmp_path) == once


def test_nvidia_smi_stands_there_verbatim(tmp_path: Path) -> None:
    write_host(tmp_path, 0, "healthy-lab-host", "healthy-lab-container")
    text = '\nGPU <0> & "more"\n\n  indented   spaces\n'
    file = tmp_path / "node-000" / "recording-container.json"
    recording = json.loads(file.read_text())
    recording["commands"]["nvidia-smi"]["stdout"] = text
    file.write_text(json.dumps(recording))
    page = drawn(tmp_path)
    assert "\n" + text in "".join(Reader(page).texts)  # the first line feed is the page's own
    assert "as it ran in a container" in page


def test_where_no_container_answered_it_is_the_hosts(tmp_path: Path) -> None:
    write_host(tmp_path, 0, "healthy-lab-host")
    page = drawn(tmp_path)
    assert "as it ran on the host itself" in page
    assert "NVIDIA-SMI 580" in page


def test_simulated_hosts_say_so(tmp_path: Path) -> None:
    write_host(tmp_path, 0, "healthy-lab-host", "healthy-lab-container")
    assert "imulated" not in "".join(Reader(drawn(tmp_path)).texts).replace(SCRIPT, "")
    write_host(tmp_path, 1, "healthy-simulated-host", "healthy-simulated-container")
    page = drawn(tmp_path)
    assert "<small>(simulated)</small>" in page
    assert '<p class="note">Simulated:' in page


def test_what_drifts_is_marked_with_what_it_should_be(tmp_path: Path) -> None:
    for number in (0, 1, 7):
        write_host(tmp_path, number, "healthy-lab-host", "healthy-lab-container")
    page = drawn(tmp_path)
    assert page.count('class="v drift"') == 1 + 1  # host 7 by its driver, host 0 by its image
    assert "580.126.09 <b>" in page
    assert "driver should be 580.159.03 (2 of 3 hosts)" in page


def test_the_race_is_ordered_by_time_and_by_price_with_intervals(tmp_path: Path) -> None:
    for number in (1, 2):
        write_host(tmp_path, number, "healthy-lab-host", "healthy-lab-container", race="prices")
    page = drawn(tmp_path)
    assert "network, by the time of one training" in page
    assert "network, by the cost of one training" in page
    assert re.search(r"network: 104 ms on cuda \(104 ms to 106 ms\), 0\.0261 EUR a thousand", page)


@pytest.mark.parametrize("number", [1, 21])
def test_every_host_has_two_rows_and_a_place_of_its_own(tmp_path: Path, number: int) -> None:
    read = Reader(drawn(write_fleet(tmp_path, number)))
    places = [attrs["data-h"] for tag, attrs in read.elements if tag == "details" and "data-h" in attrs]
    assert places == [str(k) for k in range(number)]


def test_a_host_more_costs_what_500_of_them_may(tmp_path: Path) -> None:
    few = len(drawn(write_fleet(tmp_path / "few", 20)).encode())
    more = len(drawn(write_fleet(tmp_path / "more", 40)).encode())
    assert few + (more - few) / 20 * 480 < 5e6


@pytest.mark.parametrize("name", ["index.html", "fleet.lock.json"])
def test_no_host_may_have_the_name_of_a_file_of_the_fleet(tmp_path: Path, name: str) -> None:
    with pytest.raises(VerifyError, match="cannot be the name of a folder of evidence"):
        start(tmp_path, {"hosts": [name]})

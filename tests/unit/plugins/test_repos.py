"""dnf's repository files: which sections name a repository of ours, and what stays of a file without them."""

from __future__ import annotations

import configparser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.module_utils.gpu_host_repos import repo, sections, urls, without_repo
from plugins.module_utils.gpu_host_sources import COMMENT, restored

HOST = "nvidia.github.io/libnvidia-container"
SAME = [HOST, "download.docker.com/linux"]
OURS = f"[libnvidia-container]\nname=a\nbaseurl=https://{HOST}/stable/centos8/$basearch\ngpgcheck=0\n"
THEIRS = "[epel]\nname=b\nmetalink=https://mirrors.example/metalink?repo=epel-9\nenabled=1\n"


@pytest.mark.parametrize(
    "section",
    [
        OURS,
        OURS.replace("https:", "http:").replace("$basearch", "x86_64/"),
        OURS.replace("baseurl=", "baseurl = "),
        OURS.replace("baseurl=", "baseurl=https://mirror.example/ "),
        OURS.replace("baseurl=", "baseurl=https://mirror.example/,"),
        OURS.replace("baseurl=", "baseurl=https://mirror.example/\n  "),
        f"{OURS}enabled=1\n",
        f"# mine\n\n{OURS}",
        f"[docker-ce-stable]\nbaseurl=https://{SAME[1]}/centos/$releasever/$basearch/stable\n",
    ],
)
def test_b1_every_form_of_a_section_that_is_ours(section: str) -> None:
    assert without_repo(section, SAME) == (1, None)


@pytest.mark.parametrize(
    "section",
    [
        f"{OURS}enabled=0\n",
        f"{OURS}enabled = False\n",
        OURS.replace("baseurl=", "# baseurl="),
        OURS.replace(HOST, f"mirror.example/{HOST}"),
        OURS.replace("baseurl=", "gpgkey="),
        THEIRS,
        "",
        "<html>\n",
    ],
)
def test_b1_a_section_that_is_off_or_not_ours_stays(section: str) -> None:
    assert without_repo(section, SAME)[0] == 0


def test_b1_sections_among_others_are_commented_out() -> None:
    for text in (f"{OURS}\n{THEIRS}", f"{THEIRS}\n{OURS}", f"# mine\n{THEIRS}{OURS}"):
        taken, left = without_repo(text, SAME)
        assert taken == 1
        assert left is not None
        assert THEIRS in left
        assert restored(left) == text
        assert without_repo(left, SAME) == (0, left)


def test_b1_of_a_file_with_sections_that_are_off_nothing_is_in_use_without_ours() -> None:
    assert without_repo(f"{OURS}\n{THEIRS.replace('enabled=1', 'enabled=0')}", SAME) == (1, None)


@given(
    st.lists(st.sampled_from([OURS, THEIRS, "# a\n", "\n", "[x]\n", "a=b\n"])).map("".join)
    | st.text(max_size=60)
)
def test_the_sections_are_the_file_and_what_was_commented_out_comes_back(text: str) -> None:
    assert "".join(sections(text)) == text
    taken, left = without_repo(text, SAME)
    if left is not None and COMMENT not in text:
        assert restored(left) == text
        assert (taken == 0) == (left == text)


def test_addresses_on_lines_of_their_own() -> None:
    assert urls("[a]\nbaseurl=http://a\n  http://b, http://c\nname=x\n") == [
        "http://a",
        "http://b",
        "http://c",
    ]
    assert urls("[a]\nbaseurl=\nname=x\n") == []


def test_our_own_file_says_each_thing_once() -> None:
    given_ = {"role": "a", "name": "cuda", "url": "https://a.example/$basearch"}
    read = configparser.ConfigParser(strict=True, interpolation=None)
    read.read_string(
        repo({**given_, "options": {"gpgcheck": "0", "module_hotfixes": "1"}}, "/etc/pki/rpm-gpg/k")
    )
    assert dict(read["cuda"]) == {
        "name": "cuda", "baseurl": "https://a.example/$basearch", "enabled": "1", "gpgcheck": "0",
        "gpgkey": "file:///etc/pki/rpm-gpg/k", "module_hotfixes": "1",
    }  # fmt: skip
    read.read_string(repo({**given_, "name": "b"}, "/k"))
    assert read["b"]["gpgcheck"] == "1"

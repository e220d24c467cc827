"""apt's source files in all their forms: what names a repository of ours, and what stays without it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.module_utils.gpu_host_sources import (
    COMMENT,
    blocks,
    conflicts,
    normal,
    parts,
    reads,
    restored,
    source,
    stanzas,
    strange,
    without,
)

HOST = "nvidia.github.io/libnvidia-container"
URL = f"https://{HOST}/stable/deb/$(ARCH)"
SAME = [HOST, "nvidia.github.io/nvidia-docker"]
DEBIAN = "deb http://deb.example.org/debian trixie main\n"


@pytest.mark.parametrize(
    "line",
    [
        f"deb {URL} /",
        f"deb https://{HOST}/stable/deb/amd64/ /",
        f"deb http://{HOST}/stable/ubuntu18.04/amd64 /",
        f"deb [signed-by=/usr/share/keyrings/nvidia-container-toolkit-keyring.gpg] {URL} /",
        f"deb [ arch=amd64 trusted=yes ] {URL}// /  # the toolkit",
        f"deb-src {URL} /",
        f"  deb\t{URL}\t/",
        "deb https://nvidia.github.io/nvidia-docker/ubuntu18.04/$(ARCH) /",
        f"deb https://user:word@{HOST.replace('nvidia.github.io', 'NVIDIA.github.io')}/stable/deb/amd64 /",
        f"deb https://{HOST.replace('.io', '.io:443')}/stable/deb/amd64 /",
    ],
)
def test_b1_every_form_of_a_line_that_is_ours(line: str) -> None:
    assert without("a.list", f"{line}\n", SAME, "amd64") == (1, None)


@pytest.mark.parametrize(
    "line",
    [
        f"# deb {URL} /",
        f"#deb {URL} /",
        "",
        "deb http://deb.example.org/debian trixie main",
        "deb https://nvidia.github.io/libnvidia-container-more/stable /",
        f"deb https://mirror.example/{HOST}/stable /",
        f"deb https://evil-{HOST}/stable /",
        "deb cdrom:[Debian GNU/Linux 13]/ trixie main",
        f"debian {URL} /",
    ],
)
def test_b1_a_line_that_is_off_or_not_ours_stays(line: str) -> None:
    assert without("a.list", f"{line}\n", SAME, "amd64")[0] == 0


def test_b1_what_lies_below_a_mirror_of_ours_stays() -> None:
    text = "deb http://mirror.example trixie main\ndeb http://mirror.example/debian trixie main\n"
    taken, left = without("theirs.list", text, ["=http://mirror.example/"], "amd64")
    assert taken == 1
    assert left is not None
    assert left.splitlines()[1] == "deb http://mirror.example/debian trixie main"


def test_b1_a_line_among_others_is_commented_out_and_nothing_else_changes() -> None:
    text = f"# mine\n{DEBIAN}deb [arch=amd64] {URL} /\n# deb {URL} /\n{DEBIAN.rstrip()}"
    taken, left = without("sources.list", text, SAME, "amd64")
    assert (taken, left) == (1, text.replace("deb [arch", f"{COMMENT}deb [arch"))


STANZA = f"""\
# mine
Types: deb
URIs: https://{HOST}/stable/deb/$(ARCH)/
Suites: /
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mDMEaw
"""
OTHER = "Types: deb\nURIs: http://deb.example.org/debian\nSuites: trixie\nComponents: main\n"


@pytest.mark.parametrize("name", ["a.sources"])
@pytest.mark.parametrize("off", ["no", "No", "false", "0", "off", "disable", "without"])
def test_b1_a_stanza_that_is_off_stays(name: str, off: str) -> None:
    assert without(name, f"{STANZA}Enabled: {off}\n", SAME, "amd64")[0] == 0
    assert without(name, f"{STANZA}Enabled: yes\n", SAME, "amd64") == (1, None)


@pytest.mark.parametrize(
    "text", [f"{OTHER}\n{STANZA}", f"{STANZA}\n{OTHER}", f"{OTHER}\n\n{STANZA}\n{OTHER}"]
)
def test_b1_a_stanza_among_others_is_commented_out_whole(text: str) -> None:
    taken, left = without("a.sources", text, SAME, "amd64")
    assert taken == 1
    assert left is not None
    assert OTHER in left
    assert all(f"{COMMENT}{line}\n" in left for line in STANZA.splitlines())
    assert restored(left) == text
    assert without("a.sources", left, SAME, "amd64")[0] == 0


@pytest.mark.parametrize(
    ("uris", "left"),
    [
        (f"URIs: {URL} https://mirror.example/deb", "URIs: https://mirror.example/deb"),
        (f"URIs: https://mirror.example/deb {URL}", "URIs: https://mirror.example/deb "),
        (f"URIs:{URL} https://mirror.example/deb", "URIs:https://mirror.example/deb"),
        (f"URIs:\n {URL}\n https://mirror.example/deb", "URIs:\n \n https://mirror.example/deb"),
    ],
)
def test_b1_of_several_addresses_ours_goes(uris: str, left: str) -> None:
    assert without("a.sources", f"Types: deb\n{uris}", SAME, "amd64") == (1, f"Types: deb\n{left}")


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("a.list", True), ("a.sources", True), ("a.list.save", False), ("a.sources.save", False),
        ("a.list~", False),
        ("a.list.distUpgrade", False), ("a.list.bak", False), ("a.list.disabled", False), ("README", False),
    ],
)  # fmt: skip
def test_b1_apt_ignores_other_names(name: str, read: bool) -> None:  # noqa: FBT001
    assert reads(name) == read


@pytest.mark.parametrize(
    ("name", "text", "says", "stops"),
    [
        (
            "a.list",
            "# Unsupported distribution!\n# Check https://nvidia.github.io/nvidia-docker\n",
            "no line in it",
            False,
        ),
        ("a.list", "<html><body>404</body></html>\n", "a web page", True),
        ("a.list", "\n<!DOCTYPE html>\n<html>\n", "a web page", True),
        ("a.sources", "<?xml version='1.0'?>\n<Error/>\n", "a web page", True),
        ("a.list", "404: Not Found", "no source list, but what a server", True),
        ("a.list", '{"message": "Not Found"}\n', "no source list, but what a server", True),
        ("a.sources", "Not Found\n", "no source list, but what a server", True),
        ("a.list", "", None, False),
        ("a.list", DEBIAN, None, False),
        ("a.list", f"# {DEBIAN}", None, False),
        ("a.sources", OTHER, None, False),
        ("a.sources", f"{OTHER}Enabled: no\n", None, False),
        ("a.sources", f"# a remark\n\n{OTHER}", None, False),
    ],
)
def test_b3_a_list_that_names_no_repository(name: str, text: str, says: str | None, stops: bool) -> None:  # noqa: FBT001
    found = strange(name, text)
    assert (found or "").startswith(says or "")
    assert (found is None) == (says is None)
    assert blocks(name, text) == stops


def test_b1_and_b4_entries_for_one_repository_with_different_keys() -> None:
    cuda = "developer.download.nvidia.com/compute/cuda/repos/ubuntu2204/x86_64"
    files = {
        "/etc/apt/sources.list.d/cuda.list": f"deb https://{cuda} /\n",
        "/etc/apt/sources.list.d/cuda-ubuntu2204-x86_64.list":
            f"deb [signed-by=/usr/share/keyrings/cuda-archive-keyring.gpg] http://{cuda}/ /\n",
        "/etc/apt/sources.list": DEBIAN,
        "/etc/apt/sources.list.d/a.sources": f"{OTHER}Enabled: no\nSigned-By: /a.gpg\n",
    }  # fmt: skip
    both = "/etc/apt/sources.list.d/cuda-ubuntu2204-x86_64.list and /etc/apt/sources.list.d/cuda.list"
    assert conflicts(files, "amd64") == [f"{both} name {cuda} / with different keys"]
    taken = [without(path, text, [cuda], "amd64") for path, text in files.items()]
    assert taken == [(1, None), (1, None), (0, DEBIAN), (0, None)]


def test_entries_with_the_same_key_or_another_suite_are_no_conflict() -> None:
    signed = "deb [arch=amd64 signed-by=/k.gpg] https://a.example/debian"
    assert (
        conflicts({"a.list": f"{signed} trixie main\n", "b.list": f"{signed} trixie extra\n"}, "amd64") == []
    )
    assert (
        conflicts(
            {"a.list": f"{signed} trixie main\n", "b.list": "deb https://a.example/debian sid main\n"}, ""
        )
        == []
    )


TEXTS = st.lists(
    st.sampled_from([DEBIAN, f"deb {URL} /\n", "# a\n", "\n", OTHER, STANZA, "nonsense\n", "a: b"])
).map("".join)


@given(st.sampled_from(["a.list", "a.sources"]), TEXTS | st.text(max_size=60))
def test_the_pieces_are_the_file_and_what_was_commented_out_comes_back(name: str, text: str) -> None:
    if "\r" not in text and name == "a.sources":
        assert "".join(stanzas(text)) == text
    assert "".join(piece for piece, _ in parts(name, text)) == text
    taken, left = without(name, text, SAME, "amd64")
    if left is not None and COMMENT not in text:
        assert restored(left) == text
        assert without(name, left, SAME, "amd64")[0] == 0
        assert (taken == 0) == (left == text)


@given(
    st.text(st.characters(codec="ascii", exclude_categories=["Z", "Cc"]), max_size=60), st.text(max_size=10)
)
def test_an_address_is_compared_in_one_form(url: str, architecture: str) -> None:
    assert normal(f"HTTPS://{url}", architecture) == normal(f"http://{url}//", architecture)


def test_our_own_file() -> None:
    given_ = {"role": "a", "url": URL, "suite": "/", "components": [], "options": {"Architectures": "amd64"}}
    text = source(given_, "/k.gpg")
    assert text.splitlines()[1:] == [
        "Types: deb",
        f"URIs: {URL}",
        "Suites: /",
        "Architectures: amd64",
        "Signed-By: /k.gpg",
    ]
    assert "Components: a b" in source({**given_, "suite": "x", "components": ["a", "b"]}, "/k.gpg")

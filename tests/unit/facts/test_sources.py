"""apt's source files (cases B1, B3, B4)."""

from __future__ import annotations

import pytest

from tests.unit.facts.build import recording, said
from verify.facts.sources import SOURCES_FOLDER, SOURCES_LIST, SourcesFacts, sources_facts

URL = "https://nvidia.github.io/libnvidia-container/stable/deb"


def read(uname: str = "x86_64", **files: str) -> SourcesFacts:
    named = {f"{SOURCES_FOLDER}{name.replace('_', '.')}": {"text": text} for name, text in files.items()}
    return sources_facts(recording(files=named, commands={"uname": said(f"Linux lab 6.8 {uname} GNU/Linux")}))


@pytest.mark.parametrize(
    ("uname", "text", "url"),
    [
        ("x86_64", f"deb [signed-by=/k.gpg] {URL}/$(ARCH) /\n", f"{URL}/amd64"),
        ("aarch64", f"deb [signed-by=/k.gpg] {URL}/$(ARCH) /\n", f"{URL}/arm64"),
        ("x86_64", f"deb [arch=amd64 signed-by=/k.gpg] {URL}//amd64/ /\n", f"{URL}/amd64"),
        ("x86_64", f"deb [signed-by=/k.gpg] {URL.replace('nvidia.g', 'NVIDIA.g')}/amd64 /\n", f"{URL}/amd64"),
    ],
)
def test_b1_one_repository_however_it_is_written(uname: str, text: str, url: str) -> None:
    (entry,) = read(uname, a_list=text).entries
    assert (entry.url, entry.suite, entry.key) == (url, "/", "/k.gpg")


def test_b1_a_deb822_file_and_what_is_switched_off() -> None:
    text = (
        f"# mine\nTypes: deb\nURIs: {URL}/amd64\n  {URL}/extra\nSuites: / stable\nSigned-By:\n /k.gpg\n\n"
        f"Types: deb\nURIs: {URL}/off\nSuites: /\nEnabled: no\n"
    )
    found = read(a_sources=text)
    assert [(e.url, e.suite, e.key) for e in found.entries] == [
        (f"{URL}/amd64", "/", "/k.gpg"),
        (f"{URL}/amd64", "stable", "/k.gpg"),
        (f"{URL}/extra", "/", "/k.gpg"),
        (f"{URL}/extra", "stable", "/k.gpg"),
    ]


def test_b1_comments_and_files_that_apt_ignores() -> None:
    line = f"deb {URL}/amd64 /\n"
    found = read(off_list=f"# {line}", a_list_save=line, a_list_bak=line, a_txt=line, a_list_disabled=line)
    assert found.entries == ()


@pytest.mark.parametrize(
    ("text", "page", "answer"),
    [
        ("<!DOCTYPE html>\n<html>", True, False),
        ("\n <html><body>404</body></html>", True, False),
        ("# Unsupported distribution!\n# Check https://nvidia.github.io/nvidia-docker\n", False, True),
        ("404: Not Found\n", False, True),
        ("# a note of mine\n", False, False),
        ("", False, False),
        (f"#deb {URL}/amd64 /\n", False, False),
        (f"deb {URL}/amd64 /\n", False, False),
    ],
)
def test_b3_what_was_saved_in_the_place_of_a_list(text: str, *, page: bool, answer: bool) -> None:
    found = read(some_list=text)
    assert (bool(found.pages), bool(found.comments)) == (page, answer)


def test_b3_the_empty_list_of_a_new_system_is_no_answer() -> None:
    moved = "# Ubuntu sources have moved to /etc/apt/sources.list.d/ubuntu.sources\n"
    assert sources_facts(recording(files={SOURCES_LIST: {"text": moved}})).comments == ()
    assert read(nvidia_list="# nothing\n").comments != ()


def test_b4_the_retired_key_by_its_name() -> None:
    assert read(a_list=f"deb [signed-by=/usr/share/keyrings/7FA2AF80.pub] {URL} /\n").retired
    assert not read(a_list=f"# 7fa2af80 is gone\ndeb {URL} /\n").retired
    found = sources_facts(recording(globs={"/usr/share/keyrings/*": ["/usr/share/keyrings/7fa2af80.pub"]}))
    assert found.retired == (("/usr/share/keyrings/*", "/usr/share/keyrings/7fa2af80.pub"),)


def test_b4_what_apt_says_of_its_sources() -> None:
    said_so = "W: GPG error: https://x InRelease: NO_PUBKEY A4B469963BF863CC\nW: something else\n"
    found = sources_facts(recording(commands={"apt-policy": said("", 100, said_so)}))
    assert [line.partition(": ")[0] for line in found.complaints] == ["apt-policy"]


@pytest.mark.parametrize(
    "files", [{}, {SOURCES_LIST: {"missing": True}}, {SOURCES_LIST: {"error": "EACCES"}}]
)
def test_b1_nobody_looked(files: dict[str, object]) -> None:
    assert sources_facts(recording(files=files)).recorded is False

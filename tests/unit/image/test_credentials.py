"""Docker's own logins: its file, its helpers, and what is wrong with them. Secrets stay where they are."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

import pytest

from verify.errors import VerifyError
from verify.image import credentials
from verify.image.credentials import Login, find_login
from verify.image.reference import parse

if TYPE_CHECKING:
    from pathlib import Path

REF = parse("registry.example.com:5000/team/race:1")
HUB = parse("nvidia/cuda:1")
SECRET = "s:cret"  # noqa: S105


def auth(user: str = "me", password: str = SECRET) -> dict[str, str]:
    return {"auth": base64.b64encode(f"{user}:{password}".encode()).decode()}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def config(folder: Path, document: object) -> None:
    text = document if isinstance(document, str) else json.dumps(document)
    (folder / "config.json").write_text(text, encoding="utf-8")


def helper(folder: Path, script: str, name: str = "test") -> None:
    file = folder / f"docker-credential-{name}"
    file.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    file.chmod(0o755)


def test_no_file_no_login(folder: Path) -> None:
    assert find_login(REF) == credentials.Found()
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    "key",
    [
        "registry.example.com:5000",
        "https://registry.example.com:5000",
        "https://registry.example.com:5000/v1/",
    ],
)
def test_the_file(folder: Path, key: str) -> None:
    config(folder, {"auths": {key: auth(), "other.example.com": {"auth": "%%%"}, "third": "no"}})
    assert find_login(REF).login == Login("me", SECRET)


def test_the_file_for_docker_hub(folder: Path) -> None:
    config(folder, {"auths": {"https://index.docker.io/v1/": auth("hub")}})
    assert find_login(HUB).login == Login("hub", SECRET)
    assert find_login(REF).login is None


@pytest.mark.parametrize("text", ["{", "", "\x00", '{"auths": {"a": '])
def test_a_damaged_file(folder: Path, text: str) -> None:
    config(folder, text)
    with pytest.raises(VerifyError, match=r"config\.json, where Docker keeps its logins: it is no JSON"):
        find_login(REF)


@pytest.mark.parametrize(
    "document", [[], 7, {"auths": []}, {"auths": {REF.registry: {}}}, {"credHelpers": []}]
)
def test_a_file_that_says_nothing(folder: Path, document: object) -> None:
    config(folder, document)
    assert find_login(REF).login is None


@pytest.mark.parametrize("entry", [{"auth": "%%%"}, {"auth": "bm9jb2xvbg=="}, {"auth": 7}, "text"])
def test_a_damaged_entry_of_this_registry(folder: Path, entry: object) -> None:
    config(folder, {"auths": {REF.registry: entry}})
    with pytest.raises(VerifyError, match=r"the login for .* cannot be read: `docker login"):
        find_login(REF)


def test_a_helper_gets_the_registry_and_gives_the_login(folder: Path) -> None:
    config(folder, {"credHelpers": {REF.registry: "test"}, "auths": {REF.registry: {}}})
    helper(folder, f'read s; printf \'{{"ServerURL":"x","Username":"%s","Secret":"{SECRET}"}}\' "$s"')
    assert find_login(REF).login == Login(REF.registry, SECRET)
    assert find_login(HUB).login is None


def test_a_store_is_asked_for_docker_hub_by_its_address(folder: Path) -> None:
    config(folder, {"credsStore": "test"})
    helper(folder, f'read s; printf \'{{"Username":"%s","Secret":"{SECRET}"}}\' "$s"')
    assert find_login(HUB).login == Login("https://index.docker.io/v1/", SECRET)


def test_a_helper_s_identity_token(folder: Path) -> None:
    config(folder, {"credsStore": "test"})
    helper(folder, f'echo \'{{"Username":"<token>","Secret":"{SECRET}"}}\'')
    assert find_login(REF).login == Login(token=SECRET)


def test_a_helper_without_an_entry_leaves_it_to_the_file(folder: Path) -> None:
    config(folder, {"credsStore": "test", "auths": {REF.registry: auth()}})
    helper(folder, "echo credentials not found in native keychain; exit 1")
    assert find_login(REF).login == Login("me", SECRET)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (f"echo {SECRET} >&2; exit 3", "failed with exit status 3"),
        (f"echo {SECRET}", "something else than a login"),
        ("echo '[]'", "something else than a login"),
    ],
)
def test_a_helper_that_fails_is_named_and_not_quoted(folder: Path, script: str, words: str) -> None:
    config(folder, {"credsStore": "test"})
    helper(folder, script)
    found = find_login(REF)
    assert found.login is None
    assert words in found.trouble
    assert SECRET not in found.trouble


def test_a_helper_that_is_not_installed(folder: Path) -> None:
    config(folder, {"credsStore": "desktop.exe"})
    assert (
        "docker-credential-desktop.exe, which Docker's config.json names, is not installed"
        in find_login(REF).trouble
    )


def test_a_helper_that_hangs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(credentials, "HELPER_LIMIT_S", 0.2)
    config(folder, {"credsStore": "test"})
    helper(folder, "exec sleep 5")
    assert "did not answer within 0.2 s" in find_login(REF).trouble


def test_a_login_does_not_show_itself() -> None:
    assert SECRET not in repr(Login("me", SECRET, SECRET))

"""A login proven before anything is written, merged into what is there, and taken out again."""

from __future__ import annotations

import base64
import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.plugins.modules import run_module
from tests.unit.plugins.registries import PASSWORD, USER, certificate, plain_chain, proxying, serving

AUTH = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
HOME = """
import os, pwd
found = pwd.getpwuid(os.getuid())
mine = pwd.struct_passwd((*found[:5], sys.argv[3], found[6]))
pwd.getpwnam = lambda name: mine if name == "root" else {}[name]
"""
MINE = {"auths": {"other.example.com": {"auth": "b3RoZXI6b3RoZXI="}}, "psFormat": "table", "detachKeys": 1e5}


class Lab:
    """A home, a place for CAs, an ownership file, and one registry."""

    def __init__(self, folder: Path, server: Any, ca: Path) -> None:
        self.folder, self.server, self.ca = folder, server, ca
        self.home, self.certs, self.owned = folder / "home", folder / "certs.d", folder / "lib/owned.json"
        self.home.mkdir()
        self.certs.mkdir()
        self.config = self.home / ".docker/config.json"
        self.ca_file = self.certs / server.name / "ca.crt"

    def run(self, **given: Any) -> dict[str, Any]:
        arguments = {
            "registry": self.server.name, "username": USER, "password": PASSWORD, "ca": self.ca.read_text(),
            "owned": str(self.owned), "certs": str(self.certs), **given,
        }  # fmt: skip
        return run_module("gpu_host_registry_login", arguments, str(self.home), before=HOME)

    def has(self, document: Any, mode: int = 0o600) -> str:
        self.config.parent.mkdir(exist_ok=True)
        text = document if isinstance(document, str) else json.dumps(document, indent=8)
        self.config.write_text(text)
        self.config.chmod(mode)
        return text

    def files(self) -> dict[str, bytes]:
        return {
            str(f.relative_to(self.folder)): f.read_bytes() for f in self.folder.rglob("*") if f.is_file()
        }


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certificate(tmp_path_factory.mktemp("ca"), "registry", "localhost")


@pytest.fixture
def lab(tmp_path: Path, ca: Path) -> Iterator[Lab]:
    with serving(ca) as server:
        yield Lab(tmp_path, server, ca)


@pytest.mark.parametrize("kind", ["basic", "bearer"])
def test_a_login_is_proven_then_written_and_not_asked_again(lab: Lab, kind: str) -> None:
    lab.server.kind = kind
    first = lab.run()
    assert (first["changed"], first["refused"]) == (True, ""), first
    assert json.loads(lab.config.read_text()) == {"auths": {lab.server.name: {"auth": AUTH}}}
    assert lab.config.stat().st_mode & 0o777 == 0o600
    assert lab.config.parent.stat().st_mode & 0o777 == 0o700
    assert lab.ca_file.read_bytes() == lab.ca.read_bytes()
    assert lab.ca_file.stat().st_mode & 0o777 == 0o644
    assert [path for path, given in lab.server.asked if given][-1] == "/v2/"
    asked = len(lab.server.asked)
    before = lab.files()
    assert lab.run()["changed"] is False
    assert len(lab.server.asked) == asked
    assert lab.files() == before


def test_the_password_is_nowhere_but_in_the_file(lab: Lab) -> None:
    said = json.dumps(lab.run())
    noted = lab.owned.read_text()
    for secret in (PASSWORD, AUTH):
        assert secret not in said
        assert secret not in noted


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_everything_else_in_the_file_stays_and_comes_back(lab: Lab, mode: int) -> None:
    text = lab.has(
        '{\n\t"detachKeys": 1.50e5,\n\t"auths": {"other.example.com": {"auth": "b3RoZXI="}}\n}', mode
    )
    done = lab.run()
    after = json.loads(lab.config.read_text())
    assert after["auths"] == {"other.example.com": {"auth": "b3RoZXI="}, lab.server.name: {"auth": AUTH}}
    assert "1.50e5" in lab.config.read_text()
    assert lab.config.stat().st_mode & 0o777 == 0o600
    copy = Path(done["backup"])
    assert copy.read_text() == text
    assert copy.stat().st_mode & 0o777 == 0o600
    assert lab.run(state="absent")["changed"] is True
    assert json.loads(lab.config.read_text()) == json.loads(text)
    assert sorted(lab.files()) == ["home/.docker/config.json"]


def test_absent_leaves_nothing_behind_and_a_second_one_does_nothing(lab: Lab) -> None:
    lab.run()
    assert lab.run(state="absent", registry="", username="", password="", ca="")["changed"] is True
    assert set(lab.folder.rglob("*")) == {lab.home, lab.certs}
    assert lab.run(state="absent")["changed"] is False


def test_credentials_that_were_there_come_back(lab: Lab) -> None:
    lab.has({**MINE, "auths": {lab.server.name: {"auth": "b2xkOm9sZA==", "email": "x"}}})
    first = lab.run()
    assert "had other credentials" in " ".join(first["notes"])
    document = json.loads(lab.config.read_text())
    assert document["auths"] == {lab.server.name: {"auth": AUTH}}
    assert document["psFormat"] == "table"
    lab.run(state="absent")
    assert json.loads(lab.config.read_text())["auths"] == {
        lab.server.name: {"auth": "b2xkOm9sZA==", "email": "x"}
    }
    assert sorted(lab.files()) == ["home/.docker/config.json"]


def test_what_was_changed_since_stays(lab: Lab) -> None:
    lab.run()
    document = json.loads(lab.config.read_text())
    document["auths"][lab.server.name] = {"auth": "bmV3Om5ldw=="}
    lab.config.write_text(json.dumps(document))
    lab.ca_file.write_text("mine")
    done = lab.run(state="absent")
    assert len(done["notes"]) == 2
    assert json.loads(lab.config.read_text()) == document
    assert lab.ca_file.read_text() == "mine"
    assert not lab.owned.exists()


def test_credentials_that_are_right_already_are_the_users(lab: Lab) -> None:
    lab.has({"auths": {lab.server.name: {"auth": AUTH}}})
    assert lab.run(ca="")["changed"] is False
    assert not lab.owned.exists()
    assert lab.run(state="absent")["changed"] is False
    assert AUTH in lab.config.read_text()


def test_one_of_two_registries_goes(lab: Lab, ca: Path) -> None:
    lab.run()
    with serving(ca) as other:
        lab.run(registry=other.name)
        assert set(json.loads(lab.config.read_text())["auths"]) == {lab.server.name, other.name}
        lab.run(state="absent")
        assert set(json.loads(lab.config.read_text())["auths"]) == {other.name}
        assert not lab.ca_file.exists()
        lab.run(state="absent", registry="")
    assert lab.files() == {}


REFUSALS: dict[str, tuple[str | int, dict[str, Any], str]] = {
    "wrong password": ("basic", {"password": "wrong"}, "refuses the user reader with the password given"),
    "wrong password, by token": (
        "bearer",
        {"password": "wrong"},
        "refuses the user reader with the password",
    ),
    "expired token": ("expired", {}, "the token given for reader has expired"),
    "unknown CA": ("basic", {"ca": ""}, "does not trust"),
    "no certificate": ("basic", {"ca": "nothing\n"}, "holds no certificate that can be read"),
    "nothing listens": ("basic", {"registry": "localhost:1"}, "nothing listens there"),
    "no proxy there": ("basic", {"proxy": "http://me:hush@localhost:1"}, "The proxy localhost:1 cannot be"),
    "no such name": ("basic", {"registry": "nowhere.invalid"}, "cannot be reached"),
    "rate limit": (429, {}, "rate-limiting"),
    "broken": (503, {}, "HTTP 503"),
    "not a registry": (404, {}, "of Docker's kind"),
    "sends elsewhere": (302, {}, "of Docker's kind"),
    "password in the clear": ("open", {}, "needed is an address with https"),
    "no such user": ("basic", {"user": "nobody-here"}, "There is no user nobody-here"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_each_cause_has_its_sentence_and_nothing_is_changed(lab: Lab, case: str) -> None:
    kind, given, words = REFUSALS[case]
    lab.server.kind = kind
    lab.has(MINE)
    before = lab.files()
    done = lab.run(**given)
    assert words in done["refused"], done
    assert done["changed"] is False
    assert PASSWORD not in json.dumps(done)
    assert "hush" not in json.dumps(done)
    assert lab.files() == before
    assert "Needed" in done["refused"] or "needed" in done["refused"]


@pytest.mark.parametrize(
    ("status", "words"),
    [(407, "wants a name and a password of its own"), (403, "does not let this host through to")],
)
@pytest.mark.parametrize("by", ["setting", "environment"])
def test_a_proxy_that_stands_in_the_way_is_said_and_gets_no_password(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, status: int, words: str, by: str
) -> None:
    with proxying(status) as proxy:
        if by == "environment":
            monkeypatch.setenv("https_proxy", proxy.url)
            monkeypatch.setenv("no_proxy", "")
        setting = {"proxy": proxy.url} if by == "setting" else {}
        said = lab.run(registry="registry.invalid", **setting)["refused"]
        assert proxy.asked == ["registry.invalid:443"]
    assert words in said
    assert proxy.url.removeprefix("http://") in said
    assert lab.files() == {}


def test_a_certificate_of_other_names_and_no_tls_at_all(lab: Lab, tmp_path: Path) -> None:
    other = certificate(tmp_path, "other", "registry.example.com")
    with serving(other) as server:
        said = lab.run(registry=server.name, ca=other.read_text())["refused"]
    assert "a certificate for that very name" in said
    with serving(None) as server:
        said = lab.run(registry=server.name)["refused"]
        assert server.asked == []
    assert "speaks no TLS" in said


def test_a_ca_without_the_finer_extensions_is_taken_as_docker_takes_it(lab: Lab, tmp_path: Path) -> None:
    authority, file = plain_chain(tmp_path, "localhost")
    with serving(file) as server:
        done = lab.run(registry=server.name, ca=authority.read_text())
    assert (done["changed"], done["refused"]) == (True, "")


def test_a_redirect_does_not_get_the_password(lab: Lab) -> None:
    lab.server.kind = 307
    lab.run()
    assert [path for path, _ in lab.server.asked] == ["/v2/"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"auths": {"a": {"auth": "c2VjcmV0"}},}', "line 1, column"),
        ('{"auths": {}, "auths": {"a": {"auth": "c2VjcmV0"}}}', 'the key "auths" is there twice'),
        ('["c2VjcmV0"]', "not an object in braces"),
        ('{"auths": ["c2VjcmV0"]}', '"auths" is not an object'),
        ('{"credsStore": "pass"}', "credential helper pass"),
    ],
)
def test_a_file_that_cannot_be_merged_is_refused_without_showing_it(lab: Lab, text: str, words: str) -> None:
    lab.has(text)
    done = lab.run()
    assert words in done["refused"]
    assert "c2VjcmV0" not in done["refused"]
    assert lab.config.read_text() == text
    assert lab.server.asked == []


def test_a_helper_for_this_registry_is_refused_and_one_for_another_is_not(lab: Lab) -> None:
    lab.has({"credHelpers": {lab.server.name: "ecr-login"}})
    assert "credential helper ecr-login" in lab.run()["refused"]
    lab.has({"credHelpers": {"other.example.com": "ecr-login"}})
    assert lab.run()["refused"] == ""


def test_somebody_elses_ca_is_refused(lab: Lab) -> None:
    lab.ca_file.parent.mkdir()
    lab.ca_file.write_text("mine")
    assert "is another certificate" in lab.run()["refused"]
    assert lab.ca_file.read_text() == "mine"
    assert not lab.config.exists()


def test_a_dry_run_says_it_and_changes_nothing(lab: Lab) -> None:
    done = lab.run(_ansible_check_mode=True)
    assert done["changed"] is True
    assert lab.files() == {}
    lab.server.kind = 404
    done = lab.run(_ansible_check_mode=True)
    assert (done["changed"], done["refused"]) == (True, "")
    assert "Now it would be refused" in done["notes"][0]


def test_a_link_stays_a_link(lab: Lab) -> None:
    kept = lab.home / "kept.json"
    kept.write_text("{}")
    lab.config.parent.mkdir()
    lab.config.symlink_to(kept)
    lab.run()
    assert lab.config.is_symlink()
    assert AUTH in kept.read_text()


def test_a_registry_that_asks_nobody_is_said(lab: Lab) -> None:
    lab.server.kind = "anybody"
    assert "answers anybody" in lab.run()["notes"][0]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_another_users_file_is_theirs(lab: Lab) -> None:
    before = HOME.replace("*found[:5]", "'x', 'x', 65534, 65534, ''").replace('name == "root"', "True")
    lab.home.chmod(0o777)
    for folder in (lab.folder, *lab.folder.parents):
        with contextlib.suppress(PermissionError):
            folder.chmod(folder.stat().st_mode | 0o011)
    arguments = {
        "registry": lab.server.name, "username": USER, "password": PASSWORD, "ca": lab.ca.read_text(),
        "owned": str(lab.owned), "certs": str(lab.certs), "user": "somebody",
    }  # fmt: skip
    done = run_module("gpu_host_registry_login", arguments, str(lab.home), before=before)
    assert done["refused"] == "", done
    assert lab.config.stat().st_uid == 65534
    assert lab.config.parent.stat().st_uid == 65534
    assert lab.ca_file.stat().st_uid == 0
    lab.run(state="absent")
    assert lab.files() == {}

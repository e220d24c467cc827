"""A registry in trouble, or that makes trouble: always one sentence, in time, and no secret in it."""

from __future__ import annotations

import base64
import datetime as dt
import email.utils
import json
import time
from typing import TYPE_CHECKING

import pytest

from tests.unit.image.fake_registry import BASIC, PASSWORD, TOKEN, USER, Registry, Reply, serve
from tests.unit.image.images import BASE, MANIFEST, Shape, digest_of, encoded
from tests.unit.plugins.registries import EXPIRED, proxying
from verify.cli import main
from verify.errors import VerifyError
from verify.image import command, web
from verify.image.command import look
from verify.image.manifest import Platform
from verify.image.reference import parse

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ONE = Shape(env=BASE)


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    monkeypatch.setattr("time.sleep", lambda _: None)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with serve() as registry:
        registry.put("team/race", "1.0", ONE)
        yield registry


def login(folder: Path, fake: Registry, password: str = PASSWORD) -> None:
    auth = base64.b64encode(f"{USER}:{password}".encode()).decode()
    write(folder, {"auths": {fake.host: {"auth": auth}}})


def write(folder: Path, document: object) -> None:
    (folder / "config.json").write_text(json.dumps(document), encoding="utf-8")


def refusal(fake: Registry, name: str = "team/race:1.0") -> str:
    with pytest.raises(VerifyError) as refused:
        look(parse(f"{fake.host}/{name}"), None, None)
    said = str(refused.value)
    for secret in (PASSWORD, BASIC, TOKEN, BASIC.removeprefix("Basic ")):
        assert secret not in said
    return said


def test_without_a_login_where_none_is_asked_for(fake: Registry) -> None:
    found = look(parse(f"{fake.host}/team/race:1.0"), None, None)
    assert found.digest == found.platform_digest == digest_of(ONE.manifest())
    assert found.env["CUDA_VERSION"] == "12.8.1"
    assert not [
        path for path, _ in fake.asked if ONE.manifest().decode().split('"digest": "')[-1][:20] in path
    ]


@pytest.mark.parametrize("access", ["basic", "bearer"])
def test_docker_s_own_login_is_used(fake: Registry, tmp_path: Path, access: str) -> None:
    fake.access = access
    login(tmp_path, fake)
    assert look(parse(f"{fake.host}/team/race:1.0"), None, None).env
    # Once let in, it does not ask for another token.
    assert len([path for path, _ in fake.asked if path.startswith("/token")]) == (access == "bearer")


def test_a_public_image_gets_a_token_for_nobody(fake: Registry) -> None:
    fake.access = "anonymous"
    assert look(parse(f"{fake.host}/team/race:1.0"), None, None).env
    assert all(auth in (None, f"Bearer {TOKEN}") for _, auth in fake.asked)


@pytest.mark.parametrize("access", ["basic", "bearer"])
def test_a_wrong_password(fake: Registry, tmp_path: Path, access: str) -> None:
    fake.access = access
    login(tmp_path, fake, "wrong-one")
    said = refusal(fake)
    assert f"refuses the user {USER}" in said
    assert f"`docker login {fake.host}`" in said
    assert "wrong-one" not in said


@pytest.mark.parametrize("status", [401, 403])
def test_an_expired_token(fake: Registry, tmp_path: Path, status: int) -> None:
    login(tmp_path, fake)
    body = encoded({"errors": [{"code": "DENIED", "message": EXPIRED}]})

    def before(_: str, authorization: str | None) -> Reply:
        asks = {"WWW-Authenticate": 'Basic realm="x"'}
        return Reply(status, body=body, headers=asks) if authorization else Reply(401, headers=asks)

    fake.before = before
    assert f"has expired: `docker login {fake.host}` with a fresh one" in refusal(fake)


@pytest.mark.parametrize(
    ("status", "words"),
    [(407, "wants a name and a password of its own (407)"), (403, "does not let us through")],
)
def test_a_proxy_that_lets_nobody_through(monkeypatch: pytest.MonkeyPatch, status: int, words: str) -> None:
    with proxying(status) as proxy:
        monkeypatch.setenv("https_proxy", proxy.url.replace("//", "//me:hush@"))
        monkeypatch.setenv("no_proxy", "")
        with pytest.raises(VerifyError) as refused:
            look(parse("registry.invalid/team/race:1.0"), None, None)
        assert proxy.asked
    assert f"the proxy on the way to registry.invalid {words}" in str(refused.value)
    assert "hush" not in str(refused.value)


def test_a_proxy_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://me:hush@127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "")
    with pytest.raises(
        VerifyError, match=r"the proxy on the way to registry\.invalid cannot be reached"
    ) as refused:
        look(parse("registry.invalid/team/race:1.0"), None, None)
    assert "hush" not in str(refused.value)


@pytest.mark.parametrize("access", ["basic", "bearer"])
def test_no_login(fake: Registry, access: str) -> None:
    fake.access = access
    assert "there is no login for it: `docker login" in refusal(fake)


def test_an_identity_token_is_exchanged(fake: Registry, tmp_path: Path) -> None:
    fake.access = "anonymous"
    write(tmp_path, {"auths": {fake.host: {"identitytoken": "identity-of-the-test"}}})
    asked: list[str] = []

    def before(path: str, _: str | None) -> Reply | None:
        if not path.startswith("/token"):
            return None
        asked.append(path)
        return Reply(body=encoded({"access_token": TOKEN}))

    fake.before = before
    assert look(parse(f"{fake.host}/team/race:1.0"), None, None).env
    assert "POST" in asked[0]
    assert "refresh_token=identity-of-the-test" in asked[0]


def test_an_unknown_tag_names_those_there_are(fake: Registry) -> None:
    assert "has no tag 2.0; it has 1.0: check the name" in refusal(fake, "team/race:2.0")


def test_an_unknown_digest(fake: Registry) -> None:
    assert "has no digest sha256:00" in refusal(fake, f"team/race@sha256:{'0' * 64}")


def test_a_registry_that_hangs(fake: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "TIMEOUT_S", 0.3)
    fake.before = lambda *_: Reply() if fake.stop.wait(5) else None
    begun = time.monotonic()
    assert "did not answer within 0.3 s" in refusal(fake)
    assert time.monotonic() - begun < 3


def test_an_answer_that_never_ends_meets_the_deadline(
    fake: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "DEADLINE_S", 0.5)
    fake.before = lambda *_: Reply() if fake.stop.wait(5) else None
    assert "within" in refusal(fake)


def test_429_is_waited_for_and_then_a_sentence(fake: Registry) -> None:
    fake.before = lambda *_: Reply(429, headers={"Retry-After": "2"})
    said = refusal(fake)
    assert "limits how often it answers (429): try again in 2 s, or `docker login" in said
    assert len(fake.asked) == 3


def test_429_for_long_is_not_waited_for(fake: Registry) -> None:
    later = dt.datetime.now(dt.UTC) + dt.timedelta(hours=6)
    fake.before = lambda *_: Reply(429, headers={"Retry-After": email.utils.format_datetime(later)})
    assert "try again in 21" in refusal(fake)  # 21600 s, or a little less
    assert len(fake.asked) == 1


def test_429_that_passes(fake: Registry) -> None:
    fake.before = lambda *_: Reply(429) if len(fake.asked) < 2 else None
    assert look(parse(f"{fake.host}/team/race:1.0"), None, None).env


def test_a_truncated_answer(fake: Registry) -> None:
    held = fake.documents["/v2/team/race/manifests/1.0"]
    fake.documents["/v2/team/race/manifests/1.0"] = Reply(body=held.body, headers=held.headers, cut=20)
    assert "broke off in the middle of its answer" in refusal(fake)


@pytest.mark.parametrize("body", [b"<html>Sign in</html>", b"[1]", b'{"a":', b"[" * 100000, b"", b"\xff\xfe"])
def test_no_json(fake: Registry, body: bytes) -> None:
    fake.documents["/v2/team/race/manifests/1.0"] = Reply(body=body, headers={"Content-Type": "text/html"})
    assert "something that is no JSON object" in refusal(fake)


def test_a_wrong_digest_of_a_tag(fake: Registry) -> None:
    held = fake.documents["/v2/team/race/manifests/1.0"]
    fake.documents["/v2/team/race/manifests/1.0"] = Reply(body=held.body + b" ", headers=held.headers)
    assert "sent something else than was asked for" in refusal(fake)


def test_a_wrong_digest_of_what_was_asked_for_by_digest(fake: Registry) -> None:
    digest = digest_of(ONE.manifest())
    fake.documents[f"/v2/team/race/manifests/{digest}"] = Reply(body=Shape().manifest())
    assert f"{digest} was due" in refusal(fake, f"team/race@{digest}")


def test_a_wrong_configuration(fake: Registry) -> None:
    digest = digest_of(ONE.config())
    fake.documents[f"/v2/team/race/blobs/{digest}"] = Reply(body=b"{}")
    assert f"{digest} was due" in refusal(fake)


def test_a_configuration_that_is_not_there(fake: Registry) -> None:
    del fake.documents[f"/v2/team/race/blobs/{digest_of(ONE.config())}"]
    assert "pushed by halves" in refusal(fake)


def test_a_manifest_without_end_is_refused_by_its_length(fake: Registry) -> None:
    fake.documents["/v2/team/race/manifests/1.0"] = Reply(headers={"Content-Length": str(100 * 1024 * 1024)})
    assert "more than 4096 KiB" in refusal(fake)


def test_a_manifest_that_does_not_say_how_long_it_is(fake: Registry) -> None:
    fake.documents["/v2/team/race/manifests/1.0"] = Reply(
        body=b" " * (5 * 1024 * 1024), headers={"Content-Length": "", "Connection": "close"}
    )
    assert "more than 4096 KiB" in refusal(fake)


def test_a_redirect_to_another_host_does_not_take_the_authorization_along(
    fake: Registry, tmp_path: Path
) -> None:
    fake.access = "basic"
    login(tmp_path, fake)
    digest = digest_of(ONE.config())
    with serve() as storage:
        storage.documents["/stored"] = Reply(body=ONE.config())
        goal = f"http://{storage.host}/stored?signature=secret"
        fake.documents[f"/v2/team/race/blobs/{digest}"] = Reply(307, headers={"Location": goal})
        assert look(parse(f"{fake.host}/team/race:1.0"), None, None).env
        assert storage.asked == [("/stored?signature=secret", None)]


def test_a_redirect_to_itself_keeps_it_and_ends(fake: Registry, tmp_path: Path) -> None:
    fake.access = "basic"
    login(tmp_path, fake)
    path = f"/v2/team/race/blobs/{digest_of(ONE.config())}"
    fake.documents[path] = Reply(302, headers={"Location": path})
    assert "redirects" in refusal(fake)
    assert {auth for asked, auth in fake.asked if asked == path} == {BASIC}


def test_a_netrc_is_not_ours(fake: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login other password other\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    assert look(parse(f"{fake.host}/team/race:1.0"), None, None).env
    assert {auth for _, auth in fake.asked} == {None}


def test_a_strange_login(fake: Registry) -> None:
    fake.before = lambda *_: Reply(401, headers={"WWW-Authenticate": "Negotiate"})
    assert "neither bearer nor basic: Negotiate" in refusal(fake)


@pytest.mark.parametrize("body", [b"no", b"[]", b"{}", b'{"token": 7}', b'{"token": "a\\r\\nX: y"}'])
def test_a_token_that_is_none(fake: Registry, body: bytes) -> None:
    fake.access = "anonymous"
    fake.before = lambda path, _: Reply(body=body) if path.startswith("/token") else None
    assert "without one" in refusal(fake)


def test_an_internal_error_is_told(fake: Registry) -> None:
    fake.before = lambda *_: Reply(500, encoded({"errors": [{"message": "disk\x1b[31m full"}]}))
    said = refusal(fake)
    assert "answers 500" in said
    assert "disk [31m full" in said


def test_schema_1_is_refused(fake: Registry) -> None:
    fake.documents["/v2/team/race/manifests/1.0"] = Reply(
        body=encoded({"schemaVersion": 1, "name": "team/race", "fsLayers": []}),
        headers={"Content-Type": "application/vnd.docker.distribution.manifest.v1+prettyjws"},
    )
    assert "schema 1" in refusal(fake)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"schemaVersion": 2, "mediaType": MANIFEST}, "no manifest of an image"),
        ({"config": {"mediaType": "application/vnd.cncf.helm.config.v1+json", "digest": "d"}, "layers": []},
         "no image to run"),
        ({"schemaVersion": 2, "manifests": []}, "without an image"),
        ({"errors": "?"}, "no manifest of an image"),
    ],
)  # fmt: skip
def test_no_image(fake: Registry, document: object, words: str) -> None:
    fake.documents["/v2/team/race/manifests/1.0"] = Reply(body=encoded(document))
    assert words in refusal(fake)


@pytest.mark.parametrize("size", [-1, "12", None, True, 1.5, 10**30])
def test_a_layer_without_a_size(fake: Registry, size: object) -> None:
    document = json.loads(ONE.manifest())
    document["layers"][0]["size"] = size
    fake.documents["/v2/team/race/manifests/1.0"] = Reply(body=encoded(document))
    assert "a layer without a digest or size" in refusal(fake)


def test_a_manifest_that_leads_elsewhere(fake: Registry) -> None:
    document = {"schemaVersion": 2, "config": {"digest": "../../../other/blobs/x"}, "layers": []}
    fake.documents["/v2/team/race/manifests/1.0"] = Reply(body=encoded(document))
    assert "which is no digest" in refusal(fake)
    assert len(fake.asked) == 1


@pytest.mark.parametrize(
    "goal", ["http://host:port/", "http://[::1", "ftp://127.0.0.1/x", "file:///etc/passwd"]
)
def test_a_redirect_to_nowhere(fake: Registry, goal: str) -> None:
    fake.documents["/v2/team/race/manifests/1.0"] = Reply(302, headers={"Location": goal})
    assert refusal(fake)


@pytest.mark.parametrize(
    ("realm", "why"),
    [
        ("http://[::1", "no address"),
        ("ftp://x/token", "no address"),
        ("", "no address"),
        ("/token", "no address"),
        ("http://elsewhere.example/token", "no login is sent there"),
    ],
)
def test_a_token_from_nowhere(fake: Registry, realm: str, why: str) -> None:
    fake.before = lambda *_: Reply(401, headers={"WWW-Authenticate": f'Bearer realm="{realm}"'})
    assert why in refusal(fake)


def test_an_index_gives_the_platform_that_is_wanted(fake: Registry) -> None:
    arm = Shape(env=BASE, architecture="arm64")
    digest = fake.put("team/both", "1", ONE, arm)
    found = look(parse(f"{fake.host}/team/both:1"), None, None)
    assert (str(found.platform), list(map(str, found.others))) == ("linux/amd64", ["linux/arm64"])
    assert found.digest == digest
    found = look(parse(f"{fake.host}/team/both:1"), None, Platform("linux", "arm64", "v8"))
    assert found.platform_digest == digest_of(arm.manifest())


def test_nobody_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    with pytest.raises(VerifyError, match=r"cannot reach 127\.0\.0\.1:9, connection refused"):
        look(parse("127.0.0.1:9/a:1"), None, None)


def test_exit_status_and_one_line(fake: Registry, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["image", f"{fake.host}/team/race:1.0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] is None
    assert main(["image", f"{fake.host}/team/race:9"]) == 2
    out, said = capsys.readouterr()
    assert out == ""
    assert said.startswith("gpu-verify: 127.0.0.1")
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("number", [1001, 5000])
def test_layers_are_not_counted_up_to_a_limit_and_the_rest_forgotten(fake: Registry, number: int) -> None:
    fake.put("team/many", "1", Shape(sizes=(1,) * number))
    assert f"names {number} layers, more than 1000" in refusal(fake, "team/many:1")


def test_a_tag_that_is_listed_twice_is_named_once(fake: Registry) -> None:
    fake.documents["/v2/team/race/tags/list"] = Reply(body=encoded({"tags": ["a", "b", "a", "a"]}))
    assert "a, b" in refusal(fake, "team/race:none")
    assert "a, a" not in refusal(fake, "team/race:none")


def test_what_stands_behind_a_hash_hides_nothing_of_what_is_asked(fake: Registry) -> None:
    fake.access = "anonymous"
    asked = fake.answer

    def answer(path: str, authorization: str | None) -> Reply:
        given = asked(path, authorization)
        header = given.headers.get("WWW-Authenticate", "")
        return Reply(
            given.status,
            given.body,
            {**given.headers, "WWW-Authenticate": header.replace("/token", "/token#x")},
        )

    fake.answer = answer  # type: ignore[method-assign]
    assert look(parse(f"{fake.host}/team/race:1.0"), None, None)

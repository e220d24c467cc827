"""Names of images, as Docker reads them."""

from __future__ import annotations

import pytest

from verify.errors import VerifyError
from verify.image.reference import parse

DIGEST = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("text", "whole", "host"),
    [
        ("ubuntu", "docker.io/library/ubuntu:latest", "registry-1.docker.io"),
        ("nvidia/cuda:12.8.1-base-ubuntu24.04", "docker.io/nvidia/cuda:12.8.1-base-ubuntu24.04",
         "registry-1.docker.io"),
        ("docker.io/ubuntu", "docker.io/library/ubuntu:latest", "registry-1.docker.io"),
        ("index.docker.io/a/b:1", "docker.io/a/b:1", "registry-1.docker.io"),
        ("nvcr.io/nvidia/pytorch:25.01-py3", "nvcr.io/nvidia/pytorch:25.01-py3", "nvcr.io"),
        ("localhost/a", "localhost/a:latest", "localhost"),
        ("10.0.0.1:5000/team/race:1", "10.0.0.1:5000/team/race:1", "10.0.0.1:5000"),
        ("[::1]:5000/a", "[::1]:5000/a:latest", "[::1]:5000"),
        (f"ghcr.io/a/b@{DIGEST}", f"ghcr.io/a/b@{DIGEST}", "ghcr.io"),
        (f"ghcr.io/a/b:1@{DIGEST}", f"ghcr.io/a/b:1@{DIGEST}", "ghcr.io"),
    ],
)  # fmt: skip
def test_names(text: str, whole: str, host: str) -> None:
    found = parse(text)
    assert (str(found), found.host) == (whole, host)
    assert found.wanted == (found.digest or found.tag)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("https://ghcr.io/a/b", "write it without https://"),
        ("Nvidia/CUDA", "small letters"),
        ("a/b@sha256:12", "is no digest"),
        ("a/b:-1", "is no tag"),
        ("a/b:", "is no tag"),
        ("", "is not an image"),
        ("../../etc/passwd", "is no"),
        ("a.b/c?x=1", "is not an image"),
        ("a..b:x/c", "is no registry"),
        ("host:5000@evil.example/a", "is no digest"),
        ("a/b c", "is not an image"),
    ],
)
def test_no_names(text: str, words: str) -> None:
    with pytest.raises(VerifyError, match=words):
        parse(text)


@pytest.mark.parametrize(
    ("text", "loopback"),
    [
        ("localhost:5000/a", True),
        ("127.0.0.2:5000/a", True),
        ("[::1]:5000/a", True),
        ("10.0.0.1:5000/a", False),
        ("localhost.example.com/a", False),
        ("a", False),
    ],
)
def test_plain_http_is_for_this_machine_alone(text: str, *, loopback: bool) -> None:
    assert parse(text).loopback is loopback

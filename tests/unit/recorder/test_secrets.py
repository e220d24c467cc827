from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verify.recorder import REDACTED, redact

SECRET = "hunter2-very-secret"  # noqa: S105  # what must not be found


@pytest.mark.parametrize(
    "text",
    [
        f'{{"auth": 1, "password": "{SECRET}", "kept": "yes"}}',
        f'{{"kept": "yes", "registry-token":"{SECRET}"}}',
        f'{{"API_KEY": ["{SECRET}", {{"a": "{SECRET}"}}], "kept": 1}}',
        f'{{"secrets": {{"a": "{SECRET}", "b": {{"c": "{SECRET}]}}"}}}}, "kept": 1}}',
        f'{{"clientSecret": "quote \\" {SECRET}", "kept": 1}}',
        f'{{"kept": "{{\\"password\\": \\"{SECRET}\\", \\"a\\": 1}}"}}',
        f'{{"Env": ["API_TOKEN={SECRET}", "kept=1"]}}',
        f'{{"password": "{SECRET}", "kept": 1,}}  // damaged',
        f'{{"password": "{SECRET}',
        f'[section]\npassword = "{SECRET}"\nkept = 1\n',
        f"api-key = '{SECRET}'\nkept = 1",
        f'tokens = [\n  "{SECRET}",\n  "b",\n]\nkept = 1\n',
        f"kept: 1\nmy_secret: {SECRET}\n",
        f"Environment=DB_PASSWORD={SECRET}\nkept=1",
        f"ExecStart=/usr/bin/dockerd --registry-token {SECRET} --kept",
        f"1 root tool --password={SECRET} --kept",
        f"https://user:{SECRET}@mirror.example/kept",
        f"deb [arch=amd64] http://user:p@ss{SECRET}@mirror.example/debian kept main",
        f"https://{SECRET}@mirror.example/kept",
        f'{{"HttpProxy": "http:\\/\\/u:{SECRET}@proxy:3128", "kept": 1}}',
        f"-----BEGIN OPENSSH PRIVATE KEY-----\n{SECRET}\n-----END OPENSSH PRIVATE KEY-----\nkept",
    ],
)
def test_secret_goes_and_the_rest_stays(text: str) -> None:
    redacted = redact(text)
    assert SECRET not in redacted
    assert ("kept" in redacted) is ("kept" in text)


@pytest.mark.parametrize(
    "text",
    [
        "deb [signed-by=/usr/share/keyrings/nvidia.gpg] https://nvidia.github.io/stable/deb/amd64 /\n",
        "GPU 0: NVIDIA A10 (UUID: GPU-5150)\n",
        'RegistryDwords: ""\nEnableMSI: 1\n',
        '{"runtimes": {"nvidia": {"args": [], "path": "nvidia-container-runtime"}}, "log-opts": {"a": "1m"}}',
        '{"a": 12345678901234567890, "b": 1.0e5,}',
        "proc /proc proc rw,nosuid 0 0\n",
        "mailto:someone@debian.example",
        '{"Plugins":{"Network":["bridge"],"Authorization":null,"Log":["local"]},"SwapLimit":true}',
        '{"Plugins":{"Authorization":["opa"],"Log":[]}}',
    ],
)
def test_other_text_is_untouched(text: str) -> None:
    assert redact(text) == text


def test_json_stays_json_and_other_values_stay() -> None:
    document = {"a": [1, {"key": "x"}], "token": None, "password": {"x": ["y"]}, "log": {"max-size": "10m"}}
    redacted = json.loads(redact(json.dumps(document)))
    assert redacted["a"] == [1, {"key": REDACTED}]
    assert redacted["password"] == REDACTED
    assert redacted["log"] == document["log"]
    assert set(redacted) == set(document)


def test_redacting_twice_changes_nothing() -> None:
    once = redact(f'password = "{SECRET}"\n{{"token": "{SECRET}"}}\nhttps://u:{SECRET}@h/')
    assert redact(once) == once


@pytest.mark.parametrize(
    "text",
    [
        "y" * 65536,
        "key " + "z" * 65536,
        "key " + "-" * 65536,
        "key" * 20000,
        '"' + "key" * 20000,
        "key" + "\\" * 65536,
        "proxy" * 13000,
        "proxy" + "." * 65536,
        "authorization" * 5000,
        "authorization: " + "a" * 65536,
        "login " * 11000,
        "login " + "-p" * 30000,
        "-u a:" * 13000,
        "bearer " + "." * 65536,
        "eyJaaaaaaaa." * 5500,
        "sk-" * 22000,
        '"-key",' * 9000,
    ],
)
def test_a_long_run_of_anything_does_not_hold_up_the_recorder(text: str) -> None:
    began = time.process_time()
    redact(text)
    assert time.process_time() - began < 2


_SECRET_KEYS = (
    "Authorization",
    "auth",
    "HttpProxy",
    "password",
    "HF_TOKEN",
    "Pass",
    "login",
    "user",
    "Args",
    "a",
)
_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12)
    | st.sampled_from(
        ["Bearer abcdefgh", "--password", "-u", "a:b@proxy:1", "https://u:p@h/", "docker login -p x"]
    ),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(_SECRET_KEYS), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=500)
@given(document=st.dictionaries(st.sampled_from(_SECRET_KEYS), _VALUES, max_size=5), compact=st.booleans())
def test_whatever_json_a_tool_prints_stays_json(document: dict[str, Any], *, compact: bool) -> None:
    text = json.dumps(document, separators=(",", ":") if compact else None)
    once = redact(text)
    assert set(json.loads(once)) == set(document)
    assert redact(once) == once

"""The repository module as it runs on a host: a root folder of its own, a server of our own for the key."""

from __future__ import annotations

import hashlib
import http.server
import json
import os
import shutil
import subprocess
import threading
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.plugins.keys import IN_RELEASE, NEEDED, NEEDED_KEY, OTHER, OTHER_KEY
from tests.unit.plugins.modules import run_module

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

URL = "https://nvidia.github.io/libnvidia-container/stable/deb/$(ARCH)"
LINE = "deb https://nvidia.github.io/libnvidia-container/stable/deb/amd64/ /\n"
DEBIAN = "deb http://deb.example.org/debian trixie main\n"
CUDA = "developer.download.nvidia.com/compute/cuda/repos/ubuntu2204/x86_64"
SAME = ["nvidia.github.io/libnvidia-container", "nvidia.github.io/nvidia-docker"]
TOOLKIT = "nvidia-container-toolkit"
# rpm's keys are files in a folder, named by the last eight digits of the fingerprint.
RPM = f"""#!/bin/sh
echo "rpm $*" >> "$ROOT/log"
case "$1" in
  -q) for key in $(ls "$ROOT/rpm"); do echo "gpg-pubkey-$key-1 $key"; done ;;
  --import) grep -q BEGIN "$2" && touch "$ROOT/rpm/{NEEDED[-8:].lower()}" ;;
  -e) shift 2; for one; do one=${{one#gpg-pubkey-}}; rm "$ROOT/rpm/${{one%-1}}"; done ;;
esac
"""
# Hidden, and not only taken from PATH: a module also looks into /usr/sbin by itself.
NO_APT = """
plain = basic.AnsibleModule.get_bin_path
hidden = ("apt-get", "gpg", "gpg2")
basic.AnsibleModule.get_bin_path = lambda self, name, *more, **named: (
    None if name in hidden else plain(self, name, *more, **named))
"""
NO_GPG = NO_APT.replace('"apt-get", ', "")


class Quiet(http.server.SimpleHTTPRequestHandler):
    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if self.path == "/500":
            self.send_error(500)
        else:
            super().do_GET()

    def log_message(self, *_: Any) -> None:
        """Say nothing on the test's output."""


class Host:
    def __init__(self, folder: Path, site: str) -> None:
        self.root, self.lib, self.site = folder / "root", folder / "lib", site
        self.lists = self.root / "etc/apt/sources.list.d"
        self.repos = self.root / "etc/yum.repos.d"
        self.bin = folder / "bin"
        for path in (self.lists, self.repos, self.bin, self.root / "rpm", folder / "remote"):
            path.mkdir(parents=True)
        for name, text in {
            "rpm": RPM,
            "dpkg": "#!/bin/sh\necho amd64\n",
            "apt-get": "#!/bin/sh\nexit 100\n",
        }.items():
            (self.bin / name).write_text(text)
            (self.bin / name).chmod(0o755)
        self.owned = self.lib / "owned.json"
        self.source = self.lists / f"{TOOLKIT}.sources"
        self.ring = self.root / f"usr/share/keyrings/{TOOLKIT}-keyring.gpg"
        self.tmp = folder / "remote"

    def run(
        self, *, rpm: bool = False, check: bool = False, key: str = "right", before: str = "", **given: Any
    ) -> dict[str, Any]:
        parameters = {
            "role": "nvidia_container_toolkit", "name": TOOLKIT, "url": URL, "key_url": f"{self.site}/{key}",
            "fingerprint": NEEDED, "same_as": SAME, "path": str(self.owned), "root": str(self.root), **given,
        }  # fmt: skip
        internal = {"_ansible_check_mode": check, "_ansible_tmpdir": str(self.tmp)}
        env = {
            **os.environ,
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "no_proxy": "127.0.0.1",
            "ROOT": str(self.root),
        }
        shim = f"{NO_APT if rpm else NO_GPG}\n"
        settled = self.settled(parameters, internal, shim, env)
        result = run_module("gpu_host_repository", {**parameters, **internal}, before=shim + before, env=env)
        if parameters.get("state") != "absent":
            # What preflight's one look says of it, in every case that is tried here.
            assert settled == (
                not result.get("failed") and not result["changed"] and "warnings" not in result
            )
        return result

    @staticmethod
    def settled(given: dict[str, Any], internal: dict[str, Any], shim: str, env: dict[str, str]) -> bool:
        asked = {"subset": ["machine"], "repository": {"debian": given}, **internal}
        said = run_module("gpu_host_probe", asked, before=shim, env=env)
        settled: bool = said["settled"]["repository"]
        return settled

    def files(self) -> dict[str, bytes]:
        """Return everything but the log of what rpm was asked."""
        paths = [path for place in (self.root, self.lib) for path in place.rglob("*") if path.is_file()]
        return {str(path): path.read_bytes() for path in paths if path.name != "log"}

    def entry(self) -> dict[str, Any]:
        entry: dict[str, Any] = json.loads(self.owned.read_text())["roles"]["nvidia_container_toolkit"]
        return entry

    def log(self) -> str:
        log = self.root / "log"
        return log.read_text() if log.exists() else ""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    folder = tmp_path / "site"
    folder.mkdir()
    pages = {
        "right": NEEDED_KEY, "other": OTHER_KEY, "both": NEEDED_KEY + OTHER_KEY, "page": "<html>no</html>",
        "empty": "", "cut": NEEDED_KEY[:200], "big": "a" * (1024 * 1024 + 1),
    }  # fmt: skip
    for name, text in pages.items():
        (folder / name).write_text(text)
    Quiet.asked = []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *a: Quiet(*a, directory=str(folder)))
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def host(tmp_path: Path, site: str) -> Host:
    return Host(tmp_path, site)


def test_the_key_is_checked_without_gpg_and_a_second_run_needs_no_network(host: Host) -> None:
    assert host.run()["changed"]
    assert host.ring.stat().st_mode & 0o777 == 0o644
    assert f"URIs: {URL}\nSuites: /\nSigned-By: {host.ring}" in host.source.read_text()
    assert host.entry()["files"] == sorted([str(host.source), str(host.ring)])
    before = host.files()
    again = host.run(key_url="http://127.0.0.1:9/unreachable")
    assert not again["changed"]
    assert not again.get("failed")
    assert host.files() == before
    assert Quiet.asked == ["/right"]


@pytest.mark.parametrize(
    ("key", "says", "rpm"),
    [
        ("other", OTHER, False), ("both", f"{NEEDED}, {OTHER}", False), ("page", "no OpenPGP key", False),
        ("empty", "no OpenPGP key", False), ("cut", "no OpenPGP key", False), ("none", "404", False),
        ("500", "500", False), ("big", "no signing key", False),
        ("other", OTHER, True), ("page", "no OpenPGP key", True),
    ],
)  # fmt: skip
def test_b3_and_b4_any_other_key_is_refused_and_nothing_is_touched(
    host: Host,
    key: str,
    says: str,
    rpm: bool,  # noqa: FBT001
) -> None:
    (host.lists / "nvidia-docker.list").write_text(LINE)
    before = host.files()
    for check in (True, False):
        result = host.run(key=key, check=check, rpm=rpm)
        assert (result["failed"], result["reason"]) == (True, "key")
        assert says in result["msg"]
        assert host.files() == before
        assert list(host.tmp.iterdir()) == []
    assert "--import" not in host.log()


@pytest.mark.parametrize("there", ["", "<html>404</html>", OTHER_KEY])
def test_b3_a_keyring_that_is_none_is_replaced(host: Host, there: str) -> None:
    host.ring.parent.mkdir(parents=True)
    host.ring.write_text(there)
    assert host.run()["changed"]
    assert host.run(key_url="http://127.0.0.1:9/")["changed"] is False
    assert host.run(state="absent")["changed"]
    assert host.ring.read_text() == there, "what was the user's comes back byte for byte"


def test_check_mode_says_what_would_be_and_writes_nothing(host: Host) -> None:
    (host.lists / "nvidia-docker.list").write_text(LINE)
    before = host.files()
    result = host.run(check=True)
    assert result["changed"]
    assert result["moved"] == [str(host.lists / "nvidia-docker.list")]
    assert URL in result["diff"]["after"]
    assert host.files() == before


def test_b1_every_duplicate_is_put_aside_before_any_apt_and_comes_back(host: Host) -> None:
    mixed = f"{DEBIAN}deb [signed-by=/x.gpg] {URL} /\n# {LINE}"
    (host.root / "etc/apt/sources.list").write_text(mixed)
    (host.lists / "nvidia-docker.list").write_text(LINE)
    (host.lists / "nvidia-docker.list").chmod(0o600)
    (host.lists / "off.list").write_text(f"# {LINE}")
    (host.lists / "old.list.save").write_text(LINE)
    (host.lists / "theirs.sources").write_text(
        "Types: deb\nURIs: http://deb.example.org/debian\nSuites: sid\n"
    )
    before = host.files()
    result = host.run()
    assert result["moved"] == [
        str(host.root / "etc/apt/sources.list"),
        str(host.lists / "nvidia-docker.list"),
    ]
    assert (host.root / "etc/apt/sources.list").read_text() == mixed.replace("deb [", "# gpu-host: deb [")
    assert not (host.lists / "nvidia-docker.list").exists()
    untouched = ("off.list", "old.list.save", "theirs.sources")
    assert all(host.files()[str(host.lists / name)] == before[str(host.lists / name)] for name in untouched)
    assert not host.run(key_url="http://127.0.0.1:9/")["changed"]
    assert host.run(state="absent", check=True)["changed"]
    assert host.source.exists()
    assert host.run(state="absent")["changed"]
    assert host.files() == before
    assert (host.lists / "nvidia-docker.list").stat().st_mode & 0o777 == 0o600
    assert not host.run(state="absent")["changed"]


def test_b1_a_file_that_the_user_changed_since_stays_theirs(host: Host) -> None:
    path = host.lists / "mixed.list"
    path.write_text(f"{DEBIAN}{LINE}")
    (host.lists / "gone.list").write_text(LINE)
    host.run()
    path.write_text(f"{path.read_text()}# mine\n")
    (host.lists / "gone.list").write_text("# new\n")
    result = host.run(state="absent")
    assert path.read_text() == f"{DEBIAN}{LINE}# mine\n"
    assert (host.lists / "gone.list").read_text() == "# new\n"
    assert str(result["warnings"]).count("was changed since it was put aside") == 2
    assert len(list((host.lib / "moved").iterdir())) == 2


def test_b1_a_file_of_the_users_in_the_place_of_ours_is_kept(host: Host) -> None:
    host.source.write_text("Types: deb\nURIs: https://mirror.example/toolkit\nSuites: /\n")
    before = host.files()
    host.run()
    assert URL in host.source.read_text()
    host.run(state="absent")
    assert host.files() == before


@pytest.mark.parametrize("killed", [".moved", "owned", "unlink"])
def test_b1_an_interrupted_run_is_finished_by_the_next(host: Host, killed: str) -> None:
    path = host.lists / "nvidia-docker.list"
    path.write_text(LINE)
    before = host.files()
    host.run()
    after = host.files()
    host.source.unlink()
    if killed != "unlink":
        path.write_text(LINE)
    if killed == ".moved":
        host.owned.unlink()
        host.ring.unlink()
    assert host.run()["changed"]
    assert host.files() == after
    host.run(state="absent")
    assert host.files() == before


def test_b3_comments_and_web_pages_in_the_place_of_a_list(host: Host) -> None:
    comment, page, foreign = (
        host.lists / f"{name}.list" for name in ("nvidia-docker", "libnvidia-container", "vpn")
    )
    comment.write_text("# Unsupported distribution!\n# Check https://nvidia.github.io/nvidia-docker\n")
    page.write_text("<html><body>404</body></html>\n")
    foreign.write_text("<html><body>no entry</body></html>\n")
    result = host.run()
    assert result["moved"] == [str(page)]
    assert comment.exists()
    assert foreign.exists(), "it was never meant for this repository"
    reported = "\n".join(result["reported"])
    assert f"{comment}: no line in it names a repository; it stays." in reported
    assert f"{page} is a web page" in reported
    assert f"{foreign}: a web page (HTML or XML) saved in the place of a source list; it stays." in reported
    host.run(state="absent")
    assert page.exists()


def test_b4_duplicate_entries_of_the_cuda_repository_and_the_retired_key(host: Host) -> None:
    trusted = host.root / "etc/apt/trusted.gpg.d/cuda.asc"
    trusted.parent.mkdir()
    trusted.write_text(OTHER_KEY)
    (host.lists / "cuda.list").write_text(f"deb https://{CUDA} /\n")
    (host.lists / "cuda-ubuntu2204-x86_64.list").write_text(f"deb [signed-by=/c.gpg] https://{CUDA}/ /\n")
    (host.lists / "nvidia-ml.list").write_text(
        "deb http://developer.download.nvidia.com/compute/machine-learning x /\n"
    )
    given: dict[str, Any] = {
        "name": "cuda",
        "url": f"https://{CUDA}",
        "same_as": ["developer.download.nvidia.com/compute/cuda/repos"],
    }
    result = host.run(**given)
    assert result["moved"] == [
        str(host.lists / name) for name in ("cuda-ubuntu2204-x86_64.list", "cuda.list")
    ]
    assert (host.lists / "nvidia-ml.list").exists()
    assert not host.run(**given)["changed"]


def test_b1_foreign_entries_that_do_not_agree_are_named(host: Host) -> None:
    one, two = host.lists / "a.list", host.lists / "b.list"
    one.write_text("deb https://vpn.example/apt stable main\n")
    two.write_text("deb [signed-by=/v.gpg] https://vpn.example/apt/ stable main\n")
    result = host.run()
    (line,) = result["reported"]
    assert line.startswith(
        f"{one} and {two} name vpn.example/apt stable with different keys: apt reads no source"
    )
    assert one.exists()
    assert two.exists()


def test_b4_a_key_known_by_its_sum_alone(host: Host) -> None:
    digest = hashlib.sha256(NEEDED_KEY.encode()).hexdigest()
    given: dict[str, Any] = {"fingerprint": "", "key_sha256": digest.upper()}
    assert "needed is" in host.run(**{**given, "key_sha256": "0" * 64})["msg"]
    assert host.run(**given)["fingerprint"] == NEEDED
    again = host.run(**given, key_url="http://127.0.0.1:9/")
    assert (again["changed"], again["fingerprint"]) == (False, NEEDED)
    assert "0" * 64 in host.run(**{**given, "key_sha256": "0" * 64})["msg"], "another sum is another key"


def test_b4_the_sum_may_be_that_without_the_version_line(host: Host, tmp_path: Path) -> None:
    (tmp_path / "site" / "versioned").write_text(
        NEEDED_KEY.replace("\n\n", "\nVersion: GnuPG v2.0.22\n\n", 1)
    )
    digest = hashlib.sha256(NEEDED_KEY.encode()).hexdigest()
    assert host.run(key="versioned", fingerprint="", key_sha256=digest)["changed"]


def test_b4_neither_fingerprint_nor_sum_and_a_short_key_id_are_refused(host: Host) -> None:
    assert "No fingerprint is known" in host.run(fingerprint="")["msg"]
    assert "not a full one" in host.run(fingerprint="DDCAE044F796ECB0")["msg"]
    assert Quiet.asked == []


def test_b4_with_rpm_the_key_is_taken_up_after_the_check_and_goes_again(host: Host) -> None:
    (host.repos / f"{TOOLKIT}-old.repo").write_text(
        "[a]\nbaseurl=https://nvidia.github.io/libnvidia-container/stable/rpm\n"
    )
    before = host.files()
    options = {"repo_gpgcheck": "1", "gpgcheck": "0"}
    assert host.run(rpm=True, check=True)["changed"]
    assert host.files() == before
    assert host.run(
        rpm=True, url="https://nvidia.github.io/libnvidia-container/stable/rpm/$basearch", options=options
    )["changed"]
    ring = host.root / f"etc/pki/rpm-gpg/RPM-GPG-KEY-{TOOLKIT}"
    assert ring.read_text() == NEEDED_KEY
    text = (host.repos / f"{TOOLKIT}.repo").read_text()
    assert f"gpgkey=file://{ring}\nrepo_gpgcheck=1" in text
    assert text.count("\ngpgcheck=") == 1
    assert host.entry()["settings"]["rpm_keys"] == [NEEDED]
    given: dict[str, Any] = {
        "url": "https://nvidia.github.io/libnvidia-container/stable/rpm/$basearch",
        "options": options,
    }
    assert not host.run(rpm=True, key_url="http://127.0.0.1:9/", **given)["changed"]
    assert host.log().count("--import") == 1
    host.run(rpm=True, state="absent")
    assert host.files() == before


def test_b4_a_key_that_rpm_has_lost_is_taken_up_again_and_one_of_the_users_stays(host: Host) -> None:
    (host.root / "rpm" / NEEDED[-8:].lower()).write_text("")
    host.run(rpm=True)
    assert "rpm_keys" not in host.entry()["settings"], "rpm had it before"
    (host.root / "rpm" / NEEDED[-8:].lower()).unlink()
    assert host.run(rpm=True, key_url="http://127.0.0.1:9/")["changed"]
    assert (host.root / "rpm" / NEEDED[-8:].lower()).exists()


@pytest.mark.parametrize("rpm", [False, True])
def test_b1_gpu_host_removed_takes_all_of_it_back(host: Host, rpm: bool) -> None:  # noqa: FBT001
    (host.lists / "mixed.list").write_text(f"{DEBIAN}{LINE}")
    (host.repos / "old.repo").write_text(f"[a]\nbaseurl={URL.replace('$(ARCH)', 'x')}\n")
    host.source.write_text("Types: deb\nURIs: https://mirror.example/toolkit\nSuites: /\n")
    before = host.files()
    host.run(rpm=rpm)
    assert host.files() != before
    given = {"role": "nvidia_container_toolkit", "path": str(host.owned)}
    env = {**os.environ, "PATH": f"{host.bin}:/usr/bin:/bin", "ROOT": str(host.root)}
    assert run_module("gpu_host_removed", given, before=NO_APT if rpm else "", env=env)["changed"]
    assert host.files() == before


def test_absent_leaves_the_rest_of_the_role_alone(host: Host) -> None:
    host.run()
    document = json.loads(host.owned.read_text())
    document["roles"]["nvidia_container_toolkit"]["packages"] = ["a"]
    document["roles"]["docker_engine"] = {"packages": ["b"]}
    host.owned.write_text(json.dumps(document))
    host.run(state="absent")
    assert json.loads(host.owned.read_text())["roles"] == {
        "nvidia_container_toolkit": {"packages": ["a"], "files": [], "holds": [], "settings": {}},
        "docker_engine": {"packages": ["b"]},
    }


def apt_update(root: Path, status: Path) -> str:
    """Let the real apt read the sources in a folder; return what it says."""
    for name in ("state/lists/partial", "cache/archives/partial"):
        (root / name).mkdir(parents=True, exist_ok=True)
    status.write_text("")
    options = [f"Dir={root}", "Dir::State=state", "Dir::Cache=cache", f"Dir::State::status={status}",
               "APT::Sandbox::User=root", "Dir::Etc::trusted=/nowhere", "Dir::Etc::trustedparts=/nowhere",
               "Acquire::Languages=none"]  # fmt: skip
    done = subprocess.run(
        ["apt-get", "--quiet", *(f"-o{option}" for option in options), "update"],
        capture_output=True, text=True, check=False, timeout=60,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
    )  # fmt: skip
    return f"{done.stdout}{done.stderr}status {done.returncode}"


@pytest.mark.skipif(not shutil.which("apt-get"), reason="this controller has no apt to ask")
def test_b1_and_b4_the_real_apt_reads_its_sources_again(host: Host, tmp_path: Path) -> None:
    """Entries that conflict, a key that is not there, another key in its place: and after the module."""
    flat, status = tmp_path / "flat", tmp_path / "status"
    flat.mkdir()
    (flat / "Packages").write_text("")
    (flat / "InRelease").write_text(IN_RELEASE)
    old = host.lists / "old.list"
    given: dict[str, Any] = {"url": f"file:{flat}", "same_as": [f"file:{flat}"]}
    old.write_text(f"deb file:{flat}/ /\n")
    assert f"NO_PUBKEY {NEEDED[-16:]}" in apt_update(host.root, status)
    theirs = f"Types: deb\nURIs: file:{flat}\nSuites: /\nSigned-By: {host.ring}\n"
    (host.lists / "second.sources").write_text(theirs)
    old.write_text(f"deb [signed-by=/usr/share/keyrings/old.gpg] file:{flat}/ /\n")
    said = apt_update(host.root, status)
    assert "E: Conflicting values set for option Signed-By" in said
    assert "E: The list of sources could not be read." in said
    assert len(host.run(**given)["moved"]) == 2
    said = apt_update(host.root, status)
    assert said.endswith("status 0"), said
    assert "W:" not in said
    host.ring.write_bytes(OTHER_KEY.encode())
    assert "NO_PUBKEY" in apt_update(host.root, status)
    assert host.run(**given)["changed"]
    assert apt_update(host.root, status).endswith("status 0")

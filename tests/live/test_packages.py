"""gpu_host_packages and gpu_host_removed with a real apt: cases B6 and B7, and what else is in the way.

Needs what lab.py says. The host's own package sources and lists are put aside: a small signed repository
of the test's own, made on the host, is all that apt sees meanwhile.
"""

from __future__ import annotations

import json
import shlex
import tempfile
from typing import TYPE_CHECKING, Any

import pytest

from tests.live import lab

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.live.lab import Host, Ran

OWNED = "/root/test-packages/owned.json"
SOURCE = "/etc/apt/sources.list.d/try-packages.sources"
FOREIGN = "/etc/apt/sources.list.d/foreign.list"
# try-one in two versions, try-two that needs it, try-bad that cannot be configured until the test says so.
MAKE = r"""
[ -e /etc/gpu-host/simulated ] || { echo "this host is not a simulated one" >&2; exit 1; }
if ! [ -d /root/test-packages ]; then
  mkdir -p /root/test-packages/apt /srv/try-packages
  mv /var/lib/apt/lists /root/test-packages/lists
  mv /etc/apt/sources.list.d /root/test-packages/apt/
  ! [ -e /etc/apt/sources.list ] || mv /etc/apt/sources.list /root/test-packages/apt/
fi
mkdir -p /etc/apt/sources.list.d /var/lib/apt/lists/partial
cd /srv/try-packages && rm -rf ./*
package() {
  rm -rf /tmp/try && mkdir -p /tmp/try/DEBIAN
  printf 'Package: %s\nVersion: %s\n' "$1" "$2" > /tmp/try/DEBIAN/control
  printf 'Architecture: all\nMaintainer: x <x@example.org>\nDescription: x\n' >> /tmp/try/DEBIAN/control
  ! [ "$3" ] || echo "Depends: $3" >> /tmp/try/DEBIAN/control
  ! [ "$4" ] || printf '#!/bin/sh\n%s\n' "$4" | install -m 755 /dev/stdin /tmp/try/DEBIAN/postinst
  dpkg-deb --build --root-owner-group /tmp/try . > /dev/null
}
package try-one 1 '' ''
package try-one 2 '' ''
package try-two 1 try-one ''
package try-bad 1 '' '[ -e /root/test-packages/fine ]'
for deb in *.deb; do
  dpkg-deb --field "$deb"
  echo "Filename: ./$deb"
  echo "Size: $(stat -c %s "$deb")"
  echo "SHA256: $(sha256sum < "$deb" | cut -d' ' -f1)"
  echo
done > Packages
for name in ours other; do
  [ -e /root/test-packages/$name.gpg ] && continue
  export GNUPGHOME=/root/test-packages/gnupg-$name
  mkdir -m 700 $GNUPGHOME
  gpg --batch --quiet --passphrase '' --quick-gen-key $name@example.org rsa2048 sign never 2> /dev/null
  gpg --export > /root/test-packages/$name.gpg
done
install -m 644 /root/test-packages/ours.gpg /root/test-packages/other.gpg /srv/try-packages/
"""
# As each test wants it: $1 when the repository was signed, $2 the key that apt trusts, $3 its address.
FRESH = r"""
dpkg --purge --force-all try-one try-two try-bad > /dev/null 2>&1
rm -rf /root/test-packages/owned.json /root/test-packages/moved /root/test-packages/fine
rm -f /etc/apt/sources.list.d/* /var/lib/apt/lists/*_*
umount -q /var/cache/apt/archives || true
cd /srv/try-packages
{
  echo "Date: $(LC_ALL=C date -u -d "$1" '+%a, %d %b %Y %H:%M:%S UTC')"
  echo "SHA256:"
  echo " $(sha256sum < Packages | cut -d' ' -f1) $(stat -c %s Packages) Packages"
} > Release
export GNUPGHOME=/root/test-packages/gnupg-ours
gpg --batch --yes --quiet --clearsign --output InRelease Release 2> /dev/null
printf 'Types: deb\nURIs: %s\nSuites: ./\nSigned-By: %s\n' "$3" "/srv/try-packages/$2.gpg" \
  > /etc/apt/sources.list.d/try-packages.sources
"""
RESTORE = """
dpkg --purge --force-all try-one try-two try-bad > /dev/null 2>&1
umount -q /var/cache/apt/archives || true
rm -rf /etc/apt/sources.list.d /var/lib/apt/lists
mv /root/test-packages/lists /var/lib/apt/lists
mv /root/test-packages/apt/sources.list.d /etc/apt/
! [ -e /root/test-packages/apt/sources.list ] || mv /root/test-packages/apt/sources.list /etc/apt/
rm -rf /root/test-packages /srv/try-packages
"""
HOLD = """
import fcntl, sys, time
handle = open("/var/lib/dpkg/lock-frontend", "w")
fcntl.lockf(handle, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(float(sys.argv[1]))
"""
# A proxy is asked for whole addresses; this one has all hosts' files in one folder.
PROXY = """
import http.server, os, urllib.parse
class Proxy(http.server.SimpleHTTPRequestHandler):
    def translate_path(self, path):
        return "/srv/try-packages/" + os.path.basename(urllib.parse.urlsplit(path).path)
http.server.HTTPServer(("127.0.0.1", 3129), Proxy).serve_forever()
"""


class Apt:
    """The host, and the modules run on it."""

    def __init__(self, host: Host) -> None:
        self.host, self.sh = host, host.sh

    def fresh(self, *, signed: str = "now", key: str = "ours", url: str = "copy:/srv/try-packages") -> None:
        self.sh(f"set -- {shlex.quote(signed)} {key} {url}\n{FRESH}")

    def module(self, name: str, *arguments: str, **given: Any) -> Ran:
        task = {name: {"role": "test_packages", "path": OWNED, **given}, "name": "The module"}
        play = [{"hosts": "all", "gather_facts": False, "become": True, "tasks": [task]}]
        # A play of one task as JSON, which is YAML.
        self.host.play.write_text(json.dumps(play), encoding="utf-8")
        return self.host.role(*arguments)

    def bring(self, *names: str, **given: Any) -> dict[str, Any]:
        defaults = {"names": list(names), "repositories": ["try-packages"], "lock_timeout": 20}
        return self.module("gpu_host_packages", **{**defaults, **given}).result

    def versions(self) -> str:
        query = "dpkg-query -W -f='${Package}=${Version}:${db:Status-Abbrev} ' 'try-*' 2> /dev/null || true"
        return " ".join(word for word in self.sh(query).split() if not word.endswith((":rc", ":un")))

    def holds(self) -> list[str]:
        # The roles hold what they installed.
        return [name for name in self.sh("apt-mark showhold").split() if name.startswith("try-")]

    def entry(self) -> dict[str, Any]:
        entry: dict[str, Any] = json.loads(self.sh(f"cat {OWNED}"))["roles"]["test_packages"]
        return entry

    def background(self, name: str, program: str, *arguments: str) -> None:
        """Start Python in a unit of its own, and wait until it is there."""
        unit = f"try-{name}"
        self.sh(
            f"systemctl stop {unit} 2> /dev/null || true; systemctl reset-failed {unit} 2> /dev/null || true"
        )
        words = " ".join(shlex.quote(word) for word in ("python3", "-c", program, *arguments))
        self.sh(f"systemd-run --quiet --unit={unit} {words}; sleep 0.5; systemctl is-active {unit}")


@pytest.fixture(scope="module")
def reached() -> Iterator[Apt]:
    with tempfile.TemporaryDirectory(prefix="gh-") as folder:
        apt = Apt(lab.named(folder))
        apt.sh(MAKE)
        yield apt
        apt.sh(RESTORE)


@pytest.fixture
def apt(reached: Apt) -> Apt:
    reached.fresh()
    return reached


def warned(result: dict[str, Any]) -> str:
    return str(result.get("warnings", ""))


def test_b7_installed_held_upgraded_with_our_holds_and_removed(apt: Apt) -> None:
    came = apt.bring("try-two", "try-one=1", hold=["try-one"])
    assert (came["changed"], came["installed"]) == (True, ["try-one", "try-two"])
    assert apt.versions() == "try-one=1:hi try-two=1:ii"
    assert apt.entry()["packages"] == ["try-one", "try-two"]
    assert apt.entry()["holds"] == ["try-one"]
    assert not apt.bring("try-two", "try-one=1", hold=["try-one"])["changed"]

    assert apt.bring("try-one=2", hold=["try-one"])["changed"]
    assert apt.versions() == "try-one=2:hi try-two=1:ii"
    assert apt.bring("try-one=1", hold=["try-one"])["reason"] == "downgrade"
    assert apt.versions() == "try-one=2:hi try-two=1:ii"

    assert apt.module("gpu_host_removed").result["packages"] == ["try-one", "try-two"]
    assert (apt.versions(), apt.holds()) == ("", [])


def test_b7_somebody_elses_hold_is_in_the_way_and_stays(apt: Apt) -> None:
    apt.bring("try-one=1")
    apt.sh("apt-mark hold try-one")
    refused = apt.bring("try-one=2")
    assert (refused["reason"], refused["held"]) == ("held", ["try-one"])
    assert "Held by somebody on this host, and in the way: try-one" in refused["msg"]
    assert apt.versions() == "try-one=1:hi"
    # It is ours and they want it kept: it stays, and is theirs.
    result = apt.module("gpu_host_removed").result
    assert (result["packages"], result["held"]) == ([], ["try-one"])
    assert (apt.versions(), apt.holds()) == ("try-one=1:hi", ["try-one"])


def test_b6_the_holder_of_a_lock_is_named_waited_for_and_left_alone(apt: Apt) -> None:
    apt.background("lock", HOLD, "60")
    refused = apt.bring("try-one", lock_timeout=1)
    assert refused["reason"] == "lock"
    pid = apt.sh("systemctl show --value -p MainPID try-lock").strip()
    assert f"/var/lib/dpkg/lock-frontend is held by python3 (process {pid})" in refused["msg"]
    assert apt.sh("systemctl is-active try-lock").strip() == "active"

    apt.background("lock", HOLD, "6")
    came = apt.bring("try-one")
    assert came["changed"]
    assert "Waited for python3 (process" in warned(came)


def test_b6_a_foreign_source_is_a_warning_and_ours_is_not(apt: Apt) -> None:
    apt.sh(f"echo 'deb [trusted=yes] file:/nowhere ./' > {FOREIGN}")
    came = apt.bring("try-one=1")
    assert came["changed"]
    assert "A package source does not work and was left out: " in warned(came)
    assert "file:/nowhere" in warned(came)

    apt.sh("rm /srv/try-packages/InRelease /srv/try-packages/Release /var/lib/apt/lists/*_*")
    refused = apt.bring("try-one=2")
    assert refused["reason"] == "repository"
    assert f"The package list of {SOURCE} cannot be read: " in refused["msg"]


@pytest.mark.parametrize("old", [False, True], ids=["first", "lists-of-before"])
def test_b4_a_signature_of_another_key_is_fatal(apt: Apt, *, old: bool) -> None:
    if old:
        apt.bring("try-one=1")
    apt.sh(f"sed -i s/ours.gpg/other.gpg/ {SOURCE}; touch -d '1 hour' /srv/try-packages/InRelease")
    refused = apt.bring("try-one=2")
    assert refused["reason"] == "repository"
    assert "whose signature holds: correct the role's repository_url or key" in refused["msg"]


def test_b6_a_clock_that_is_behind_is_said(apt: Apt) -> None:
    apt.fresh(signed="3 days")
    refused = apt.bring("try-one")
    assert refused["reason"] == "repository"
    assert "this host's clock is behind (Release file for " in refused["msg"]
    assert "is not valid yet" in refused["msg"]


def test_b1_a_file_that_apt_cannot_read_is_named(apt: Apt) -> None:
    apt.sh(f"echo '<!DOCTYPE html>' > {FOREIGN}")
    refused = apt.bring("try-one")
    assert refused["reason"] == "repository"
    assert FOREIGN in refused["msg"]


def test_what_is_half_configured_is_ours_to_finish(apt: Apt) -> None:
    failed = apt.bring("try-bad")
    assert (failed["reason"], failed["half_configured"]) == ("install", ["try-bad"])
    assert apt.entry()["packages"] == ["try-bad"]
    # Another role's, or somebody's, is not.
    assert apt.bring("try-one", role="other")["reason"] == "half-configured"
    apt.sh("touch /root/test-packages/fine")
    came = apt.bring("try-bad")
    assert came["changed"]
    assert "Finished an interrupted installation: try-bad" in warned(came)
    assert apt.versions() == "try-bad=1:ii"


def test_a_full_disk_is_refused_before_the_download(apt: Apt) -> None:
    apt.sh("mount -t tmpfs -o size=1m none /var/cache/apt/archives; mkdir /var/cache/apt/archives/partial")
    refused = apt.bring("try-one")
    assert refused["reason"] == "disk"
    assert "/var/cache/apt/archives has 1 MB free; needed are 2" in refused["msg"]
    assert apt.versions() == ""


def test_a_proxy_is_used_for_this_run(apt: Apt) -> None:
    apt.fresh(url="http://repository.invalid/")
    apt.background("proxy", PROXY)
    assert apt.bring("try-one", proxy="http://127.0.0.1:3129")["changed"]
    assert apt.sh("grep -rl 3129 /etc/apt || true") == ""
    apt.sh("systemctl stop try-proxy")


def test_a_folder_needs_no_repository(apt: Apt) -> None:
    apt.sh(f"rm {SOURCE}")
    assert apt.bring("try-two", "try-one=2", folder="/srv/try-packages", repositories=[])["changed"]
    assert apt.versions() == "try-one=2:ii try-two=1:ii"


def test_check_mode_says_what_would_be_and_does_nothing(apt: Apt) -> None:
    result = apt.module("gpu_host_packages", "--check", names=["try-one"], hold=["try-one"]).result
    assert (result["changed"], result["installed"]) == (True, ["try-one"])
    assert apt.versions() == ""
    assert apt.sh(f"ls {OWNED} 2> /dev/null || true") == ""

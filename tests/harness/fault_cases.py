"""Each external step failing once: how it is made to fail and healed, and what the person must then read."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from tests.harness.bad_repo import BadRepo
from tests.harness.lab import Lab
from tests.harness.users import DAEMON_JSON, FILES

# A host with nothing but the user's files; and one where the user has installed driver and engine too.
BARE, ENGINE = "bare", "engine"
Step = Callable[[Lab, BadRepo], None]
DAEMON = "/etc/docker/daemon.json"
AGE = "/etc/apt/apt.conf.d/99zz-age"


@dataclass(frozen=True)
class Fault:
    """One fault. ``says`` are patterns that the message (or, where it is not fatal, a warning) has."""

    name: str
    do: Step
    lift: Step
    says: tuple[str, ...]
    state: str = ENGINE
    settings: tuple[str, ...] = ()
    fatal: bool = True
    case: str = ""


def served(mode: str) -> Step:
    return lambda _, repo: repo.mode(mode)


def script(text: str) -> Step:
    def run(lab: Lab, _: BadRepo) -> None:
        lab.sh(text)

    return run


def nothing(_: Lab, __: BadRepo) -> None:
    """Do nothing: what is wrong is in the settings."""


def daemon_json(text: str) -> Step:
    def write(lab: Lab, _: BadRepo) -> None:
        lab.exec(["sh", "-ec", f"cat > {DAEMON}"], text)

    return write


def heal_daemon_json(lab: Lab, repo: BadRepo) -> None:
    daemon_json(FILES[DAEMON])(lab, repo)
    lab.sh("systemctl reset-failed docker docker.socket; systemctl restart docker")


def repository(name: str, *says: str, case: str = "") -> Fault:
    """A fault of the toolkit's repository."""
    return Fault(name, served(name), served(""), ("toolkit-repo:8000", *says), case=case)


def expired(lab: Lab, repo: BadRepo) -> None:
    """Serve lists of last week; the stand-in base system leaves their age alone, others do not."""
    repo.mode("expired")
    lab.sh(f"""echo 'Acquire::Check-Valid-Until "true";' > {AGE}""")


def in_date(lab: Lab, repo: BadRepo) -> None:
    repo.mode("")
    lab.sh(f"rm {AGE}")


# The lock is the kernel's: it goes with the process that holds it.
HOLD = """
cat > /root/holder.py <<'END'
import fcntl, sys, time
files = [open(f"/var/lib/dpkg/{name}", "w") for name in ("lock-frontend", "lock")]
for file in files:
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
time.sleep(float(sys.argv[1]))
END
systemd-run --quiet --unit users-holder --collect python3 /root/holder.py """
RELEASE = "systemctl stop users-holder 2> /dev/null || true; rm -f /root/holder.py"
HALF = """
mkdir -p /root/half/DEBIAN
cat > /root/half/DEBIAN/control <<'END'
Package: users-broken
Version: 1
Architecture: all
Maintainer: the user
Description: does not configure
END
printf '#!/bin/sh\\nexit 10\\n' > /root/half/DEBIAN/postinst
chmod 755 /root/half/DEBIAN/postinst
dpkg-deb --build /root/half /root/half.deb > /dev/null
dpkg --install /root/half.deb > /dev/null 2>&1 || true
"""
WHOLE = "dpkg --purge --force-all users-broken; rm -r /root/half /root/half.deb"
TMPFS = "mount -t tmpfs -o size=2m tmpfs /var/cache/apt/archives; mkdir -p /var/cache/apt/archives/partial"
FULL = """
systemctl stop docker.socket docker
mount -t tmpfs -o size=24m tmpfs /var/lib/docker
systemctl start docker
dd if=/dev/zero of=/var/lib/docker/fill bs=1M 2> /dev/null || true
"""
NOT_FULL = """
systemctl stop docker.socket docker || true
umount /var/lib/docker
systemctl reset-failed docker docker.socket; systemctl start docker
"""
NO_DNS = """
cp /etc/resolv.conf /root/resolv
printf 'nameserver 192.0.2.1\\noptions timeout:1 attempts:1\\n' > /etc/resolv.conf
"""
DNS = "cat /root/resolv > /etc/resolv.conf; rm /root/resolv"
FOREIGN = "/etc/apt/sources.list.d/foreign.list"
NOT_BACK = """
printf '[Service]\\nExecStartPre=/bin/false\\n' > /etc/systemd/system/docker.service.d/50-fault.conf
systemctl daemon-reload
"""
BACK = """
rm /etc/systemd/system/docker.service.d/50-fault.conf
systemctl daemon-reload; systemctl reset-failed docker docker.socket; systemctl restart docker
"""
WRONG = "0123456789ABCDEF0123456789ABCDEF01234567"

TYPO = json.dumps({**DAEMON_JSON, "users-typo": True})
UNDEFINED = json.dumps({**DAEMON_JSON, "default-runtime": "users-typo"})

FAULTS = (
    repository("lists-404", "404|does not have a Release file"),
    repository("all-500", "500"),
    repository("signature", "NO_PUBKEY|not signed|signature|Missing key", case="b4"),
    repository("lists-hash", "Hash Sum mismatch|hash|unexpected size"),
    repository("debs-hash", "Hash Sum mismatch|hash"),
    repository("debs-404", "404"),
    Fault("expired", expired, in_date, ("toolkit-repo:8000", "expired|clock|date")),
    repository("future", "not valid yet|clock|date"),
    repository("key-404", "404"),
    repository("key-html", "HTML|web page|no key|not a key|no OpenPGP", case="b3"),
    repository("key-other", "fingerprint", case="b4"),
    Fault(
        "fingerprint", nothing, nothing, (WRONG, "fingerprint"), case="b4",
        settings=("-e", f"nvidia_container_toolkit_key_fingerprint={WRONG}"),
    ),
    Fault(
        "disk-apt", script(TMPFS), script("umount /var/cache/apt/archives"),
        ("space|disk|free", "/var/cache/apt|file system"), state=BARE, case="i3",
    ),
    Fault("disk-docker", script(FULL), script(NOT_FULL), ("space|disk|free", "/var/lib/docker"), case="i3"),
    Fault("dockerd-refuses", daemon_json(TYPO), heal_daemon_json, (DAEMON, "users-typo"), case="a2"),
    Fault(
        "dockerd-not-started", daemon_json(UNDEFINED), heal_daemon_json,
        (DAEMON, "users-typo", "byte for byte|Nothing was changed"),
    ),
    Fault(
        "dockerd-not-back", script(NOT_BACK), script(BACK), (DAEMON, "byte for byte", "journalctl -u docker")
    ),
    Fault(
        "lock-held", script(f"{HOLD} 60"), script(RELEASE), ("holder.py", "package manager|lock"),
        fatal=False, case="b6",
    ),
    Fault("half-configured", script(HALF), script(WHOLE), ("users-broken", "dpkg"), case="c4"),
    Fault("dns", script(NO_DNS), script(DNS), ("resolve|DNS|address",), state=BARE),
    Fault(
        "foreign", script(f"echo 'deb http://foreign-repo:8000/foreign ./' > {FOREIGN}"),
        script(f"rm {FOREIGN}"), ("foreign-repo:8000/foreign|foreign.list",), fatal=False, case="b6",
    ),
)  # fmt: skip
# What `make test` tries of them.
SHORT = ("lists-404", "fingerprint", "dockerd-not-back")

from __future__ import annotations

import pytest

from tests.unit.facts.build import recording, said
from verify.facts.package_manager import AUDIT, CLOUD_INIT, JOURNAL, LOCKS, manager_facts

HALF = (
    "The following packages are only half configured, probably due to problems\n"
    "configuring them the first time.  The configuration should be retried using\n"
    "dpkg --configure <package> or the configure menu option in dselect:\n"
    " nvidia-dkms-580-open NVIDIA DKMS package (open kernel module)\n"
    "\n"
    "The following packages have been unpacked but not yet configured.\n"
    "They must be configured using dpkg --configure or the configure\n"
    "menu option in dselect for them to work:\n"
    " libnvidia-compute-580:amd64 NVIDIA libcompute package\n"
    "\n"
    "The following packages have been triggered, but the trigger processing\n"
    "has not yet been done.  Trigger processing can be requested using\n"
    "dselect or dpkg --configure --pending (or dpkg --triggers-only):\n"
    " libc-bin GNU C Library: Binaries\n"
)


def test_c4_what_dpkg_left_half_done() -> None:
    found = manager_facts(recording(commands={AUDIT: said(HALF)}))
    assert found.half == (
        ("nvidia-dkms-580-open", "half configured"),
        ("libnvidia-compute-580", "unpacked, not configured"),
    )


@pytest.mark.parametrize(
    "heading",
    [
        "The following packages are in a mess due to serious problems during",
        "x are only half installed, due to",
    ],
)
def test_c4_other_headings_that_stop_every_run(heading: str) -> None:
    assert len(manager_facts(recording(commands={AUDIT: said(f"{heading}\n zoom\n")})).half or ()) == 1


@pytest.mark.parametrize(
    ("entry", "half"),
    [
        (None, None),
        ({"argv": ["dpkg"], "missing": True}, None),
        ({"argv": ["dpkg"], "timed_out": True}, None),
        ({"argv": ["dpkg"], "error": "EACCES"}, None),
        (said(""), ()),
    ],
)
def test_nobody_looked_is_not_nothing_half_done(entry: dict[str, object] | None, half: object) -> None:
    assert manager_facts(recording(commands={AUDIT: entry} if entry else {})).half == half


@pytest.mark.parametrize(
    ("line", "pid", "holder"),
    [
        ("/var/lib/dpkg/lock-frontend 2113 unattended-upgr", 2113, "unattended-upgr"),
        ("/var/lib/dpkg/lock 9 apt get", 9, "apt get"),
        ("/var/lib/dpkg/lock 0 ", 0, "a process"),
        ("/var/lib/dpkg/lock -1", -1, "a process"),
    ],
)
def test_b6_who_holds_a_lock(line: str, pid: int, holder: str) -> None:
    (lock,) = manager_facts(recording(commands={LOCKS: said(line + "\n")})).locks or ()
    assert (lock.path, lock.pid, lock.holder) == (line.partition(" ")[0], pid, holder)


@pytest.mark.parametrize(
    ("text", "rc", "status"),
    [
        ("status: running\n", 0, "running"),
        ("\nstatus: done\n", 0, "done"),
        ("status: done\nextended_status: degraded done\n", 2, "degraded"),
        ("status: error\ndetail:\nscripts_user\n", 1, "error"),
        ("status: not started\n", 0, "not started"),
        ("cloud-init: something else\n", 1, None),
    ],
)
def test_b6_cloud_inits_texts(text: str, rc: int, status: str | None) -> None:
    assert manager_facts(recording(commands={CLOUD_INIT: said(text, rc)})).cloud_init == status


def test_b6_without_cloud_init_there_is_none() -> None:
    entry = {"argv": ["cloud-init"], "missing": True}
    assert manager_facts(recording(commands={CLOUD_INIT: entry})).cloud_init is None


@pytest.mark.parametrize(
    ("globs", "yes"), [({}, None), ({JOURNAL: []}, False), ({JOURNAL: ["/x/0000"]}, True)]
)
def test_c4_dpkg_was_interrupted(globs: dict[str, list[str]], yes: bool | None) -> None:  # noqa: FBT001
    assert manager_facts(recording(globs=globs)).interrupted is yes

"""Keys that rpm itself has taken up: whether one is there, and how it goes again."""

from __future__ import annotations


def names(module, fingerprint):
    """Return rpm's own packages of a key: gpg-pubkey-<last eight digits, or all of them>-<time>."""
    _, out, _ = module.run_command(
        ["rpm", "-q", "gpg-pubkey", "--qf", "%{NAME}-%{VERSION}-%{RELEASE} %{VERSION}\\n"]
    )
    rows = [line.split() for line in out.splitlines()]
    wanted = {fingerprint.lower(), fingerprint[-16:].lower(), fingerprint[-8:].lower()}
    return [row[0] for row in rows if len(row) == 2 and row[1].lower() in wanted]  # noqa: PLR2004


def imported(module, fingerprint):
    return bool(names(module, fingerprint))


def forget(module, fingerprints):
    """Erase keys; one that is gone already is no complaint."""
    for fingerprint in fingerprints:
        found = names(module, fingerprint)
        if found:
            module.run_command(["rpm", "-e", "--allmatches", *found], check_rc=True)

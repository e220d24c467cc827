"""What ``gpu-verify report`` writes of a fleet when asked to: the lock file, files for Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.errors import VerifyError
from verify.files import replace_file
from verify.fleet.lock import lock_of
from verify.fleet.prometheus import FILE
from verify.fleet.versions import versions
from verify.report.evidence import host_folders, read_host
from verify.report.layout import LOCK, dump

if TYPE_CHECKING:
    from pathlib import Path


_LISTED = 12


def write_lock(source: Path, host: str) -> None:
    """Write the lock file from one host, which must be proven."""
    names = []
    for folder in host_folders(source):
        report, documents = read_host(folder)
        if report.host == host:
            replace_file(source / LOCK, dump(lock_of(report, versions(report, documents)).document()))
            return
        names.append(report.host)
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    known = f"{', '.join(names[:_LISTED])}{more}"
    raise VerifyError(f"{source} holds no host {host}: it holds {known}; name one of these")


def write_prometheus(source: Path, directory: Path) -> None:
    """Put every host's file into one folder, under its own name, for one node_exporter to serve."""
    if not directory.is_dir():
        raise VerifyError(
            f"{directory} is not a folder: give the one that node_exporter reads "
            "(--collector.textfile.directory), or make it first"
        )
    for folder in host_folders(source):
        text = (folder / FILE).read_text(encoding="utf-8")
        replace_file(directory / f"gpu-host-{folder.name}.prom", text)

"""A folder copied beside its place, compared with what it was made from, and only then given its name."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from .gpu_host_dockerd import run
from .gpu_host_refused import RefusedError
from .gpu_host_storage_root import differences

SYNC_S = 600


def copy(source, target, lock):
    """Copy beside the place, compare, and give it its name; a copy that was begun serves where it can."""
    target, part = Path(target), Path(f"{target}.part")
    if target.is_dir() and any(target.iterdir()):
        # Of an earlier run, complete then; Docker may have run since: compared again.
        if part.is_dir():
            shutil.rmtree(part)
        target.rename(part)
    rsync = shutil.which("rsync")
    if rsync:
        part.mkdir(exist_ok=True)
        argv = [rsync, "-aHAXS", "--numeric-ids", "--delete", f"{source}/", f"{part}/"]
    else:
        if part.is_dir() and differences(source, part):
            shutil.rmtree(part)
        argv = ["cp", "-a", "--no-target-directory", source, part]
    if rsync or not part.is_dir():
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            pass_fds=(lock,), check=False, env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
        if done.returncode != 0:
            # What fills the volume now would stand in the way of the next try.
            shutil.rmtree(part, ignore_errors=True)
            last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            raise RefusedError("copy", f"{argv[0]} failed: {''.join(last)}")
    wrong = differences(source, part)
    if wrong:
        raise RefusedError("copy", f"the copy is not the same: {'; '.join(wrong)}")
    run(["sync", "--file-system", part], SYNC_S)
    if target.is_dir():
        target.rmdir()
    part.rename(target)

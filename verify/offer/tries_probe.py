"""Try out what an offer can do, within limits, and take it all away again; sent alone, as text, to python3.

Runs where the rest of this package is absent (Python 3.6 or newer, standard library only). It writes into one
folder of its own on each mount it measures, makes containers, one image and one network with its own label,
and removes all of it at the end: after an interruption too, and what a killed run left behind is removed by
the next. Only a small marker file stays on each mount, because nothing else can prove that the mount survives
a restart. Prints a dot a step, so that it stops when nobody listens any more, and one JSON object.
"""

import contextlib
import glob
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import uuid
from typing import Any, Callable, Dict, Iterator, List, Optional

PREFIX = ".gpu-verify-offer"
MARKER = PREFIX + ".json"
LABEL = "gpu-host.offer"
IMAGE = "gpu-host-offer"
MARKER_LIMIT = 4096
STREAM_LIMIT = 16 * 1024
ROOTFS_LIMIT = 32 * 1024 * 1024
BLOCK = 1024 * 1024
ROOM = 1024 * 1024 * 1024  # a mount with less is not written to for its speed
PLACE_LIMIT_S = 15.0
STEP_LIMIT_S = 30.0
REMOVE_LIMIT_S = 20.0
MOST_PLACES = 6
STARTED = 19  # the word of /proc/PID/stat, behind the name, that says when a process began
MOUNT_WORDS = 4

Json = Dict[str, Any]

KINDS = frozenset(
    (
        *("ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "bcachefs", "overlay"),
        *("nfs", "nfs4", "cifs", "smb3", "ceph", "lustre", "beegfs", "gpfs", "9p", "virtiofs", "wekafs"),
    )
)
# What is the system's own, and what engines mount below their folders for one container.
SYSTEM = (
    "/proc",
    "/sys",
    "/dev",
    "/run",
    "/boot",
    "/snap",
    "/etc",
    "/usr",
    "/lib",
    "/var/lib/kubelet",
    "/var/snap",
)
ENGINES = ("/var/lib/docker", "/var/lib/containerd", "/var/lib/containers")


class Stopped(BaseException):
    """Somebody wants us to end: what was made is taken away first."""


def _stop(*_: object) -> None:
    raise Stopped


def tell() -> None:
    """Say that a step is done; where nobody listens, stop."""
    try:
        sys.stdout.write(".")
        sys.stdout.flush()
    except OSError:
        raise Stopped from None


# --- processes -------------------------------------------------------------------------------


def environment() -> Dict[str, str]:
    """English texts, and the sbin folders that a plain SSH session lacks."""
    env = dict(os.environ, LC_ALL="C", LANGUAGE="C")
    folders = env.get("PATH", "/usr/local/bin:/usr/bin:/bin").split(":")
    more = ("/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin")
    env["PATH"] = ":".join([*folders, *[folder for folder in more if folder not in folders]])
    return env


def found(program: str) -> Optional[str]:
    return shutil.which(program, path=environment()["PATH"])


def run(argv: List[str], limit: float, feed: str = os.devnull, **more: str) -> Json:
    """Run one command, a file on its standard input; return it as a recording has it."""
    entry = {"argv": argv}  # type: Json
    if found(argv[0]) is None:
        entry["missing"] = True
        return entry
    began = time.monotonic()
    try:
        with open(feed, "rb") as stream:
            process = subprocess.Popen(
                argv,
                stdin=stream,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                env=dict(environment(), **more),
            )
    except OSError as error:
        entry["error"] = str(error)
        return entry
    try:
        out, err = process.communicate(timeout=max(0.1, limit))
        entry["rc"] = process.returncode
    except subprocess.TimeoutExpired:
        entry["timed_out"] = True
        _kill(process)
        out, err = b"", b""
    except BaseException:
        _kill(process)
        raise
    entry["seconds"] = round(time.monotonic() - began, 3)
    entry["stdout"] = out[:STREAM_LIMIT].decode("utf-8", "replace")
    entry["stderr"] = err[-STREAM_LIMIT:].decode("utf-8", "replace")
    return entry


def _kill(process: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(1)  # a process in the kernel cannot die: it is not waited for
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def aside(limit: float, work: Callable[..., Json], *arguments: Any) -> Json:
    """Do something that a dead mount may hold for ever, in a process that can be left behind."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            os.close(ours)
            with os.fdopen(theirs, "w") as stream:
                try:
                    answer = work(*arguments)
                except (OSError, ValueError) as error:
                    answer = {"error": _reason(error)}
                json.dump(answer, stream)
            status = 0
        finally:
            os._exit(status)
    os.close(theirs)
    try:
        return _answer(ours, time.monotonic() + limit, limit)
    finally:
        os.close(ours)
        with contextlib.suppress(OSError):
            os.kill(child, signal.SIGKILL)
        until = time.monotonic() + 1
        with contextlib.suppress(OSError):
            while os.waitpid(child, os.WNOHANG)[0] == 0 and time.monotonic() < until:
                time.sleep(0.01)


def _answer(pipe: int, until: float, limit: float) -> Json:
    data = b""
    while True:
        left = until - time.monotonic()
        if left <= 0 or not select.select([pipe], [], [], left)[0]:
            return {"timed_out": True, "seconds": limit}
        piece = os.read(pipe, 65536)
        if not piece:
            break
        data += piece
    try:
        answer = json.loads(data.decode("utf-8"))
    except ValueError:
        answer = None
    return answer if isinstance(answer, dict) else {"error": "no answer"}


def _reason(error: BaseException) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)


# --- mounts ----------------------------------------------------------------------------------


def _read(path: str, limit: int = 65536) -> str:
    try:
        with open(path, "rb") as stream:
            return stream.read(limit).decode("utf-8", "replace")
    except OSError:
        return ""


def identity() -> Json:
    """Tell one start of this machine, or of this container, from the next."""
    started = _read("/proc/1/stat").rpartition(")")[2].split()
    return {
        "boot": _read("/proc/sys/kernel/random/boot_id").strip() or None,
        "init": int(started[STARTED]) if len(started) > STARTED and started[STARTED].isdigit() else None,
    }


def candidates(mounts: str, wanted: List[str]) -> List[Json]:
    """Return the mounts that data could be kept on, the wanted folders first, each file system once."""
    rows = []
    for line in mounts.splitlines():
        words = [word.replace("\\040", " ") for word in line.split()]
        if len(words) >= MOUNT_WORDS:
            rows.append({"path": words[1], "source": words[0], "kind": words[2], "options": words[3]})
    kept = []  # type: List[Json]
    for path in wanted:
        under = [row for row in rows if path == row["path"] or path.startswith(row["path"].rstrip("/") + "/")]
        on = max(under, key=lambda row: len(row["path"]), default={})  # type: Json
        kept.append(
            {"path": path, "mount": on.get("path"), "source": on.get("source"), "kind": on.get("kind")}
        )
    for row in rows:
        path, kind = row["path"], row["kind"]
        theirs = any((path + "/").startswith(one + "/") for one in SYSTEM)
        theirs = theirs or any(path.startswith(one + "/") for one in ENGINES)
        keeps = (kind in KINDS or kind.startswith("fuse.")) and kind != "fuse.lxcfs"
        if keeps and not theirs and "rw" in row["options"].split(","):
            kept.append({"path": path, "mount": path, "source": row["source"], "kind": kind})
    return kept


def measure(place: Json, name: str, limits: Json) -> Json:
    """Write and read some bytes in a folder of our own, and time it: to the disk, and from it."""
    folder = os.path.join(place["folder"], name)
    room = os.statvfs(place["folder"])
    free = room.f_bavail * room.f_frsize
    if free < ROOM:
        return {"skipped": "only %d bytes are free" % free}
    os.mkdir(folder, 0o700)
    path = os.path.join(folder, "speed")
    block, amount = os.urandom(BLOCK), 0
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        began = time.monotonic()
        while amount < limits["bytes"] and time.monotonic() - began < limits["seconds"]:
            amount += os.write(handle, block)
        os.fsync(handle)
        answer = {"write": {"bytes": amount, "seconds": round(time.monotonic() - began, 4)}}  # type: Json
        cold = False
        with contextlib.suppress(OSError, AttributeError):
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            cold = True
        os.lseek(handle, 0, os.SEEK_SET)
        began, amount = time.monotonic(), 0
        while time.monotonic() - began < limits["seconds"]:
            piece = os.read(handle, BLOCK)
            if not piece:
                break
            amount += len(piece)
        seconds = round(time.monotonic() - began, 4)
        answer["read"] = {"bytes": amount, "seconds": seconds, "cold": cold}
        return answer
    finally:
        os.close(handle)
        shutil.rmtree(folder, ignore_errors=True)


def mark(place: Json, marker: Optional[Json]) -> Json:
    """Read the marker of an earlier run; where there is none, leave one."""
    path = os.path.join(place["folder"], MARKER)
    answer = {"found": None, "written": False}  # type: Json
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        handle = -1
    if handle >= 0:
        with os.fdopen(handle, "rb") as stream:
            old = json.loads(stream.read(MARKER_LIMIT).decode("utf-8"))
        answer["found"] = old if isinstance(old, dict) else None
        return answer
    if marker is not None:
        fresh = path + ".new"
        with contextlib.suppress(FileNotFoundError):
            os.unlink(fresh)
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "w") as stream:
            json.dump(marker, stream)
            stream.flush()
            os.fsync(stream.fileno())
        os.rename(fresh, path)
        answer["written"] = True
    return answer


def forget(place: Json) -> Json:
    """Remove the marker of an earlier run."""
    path = os.path.join(place["folder"], MARKER)
    try:
        os.unlink(path)
    except FileNotFoundError:
        return {"forgotten": False}
    return {"forgotten": True}


def _look(place: Json) -> Json:
    """Find out what a mount is, and where on it we may write."""
    info = os.stat(place["path"])
    room = os.statvfs(place["path"])
    folders = [place["path"]]
    home = os.path.expanduser("~")
    if place["path"] == "/":
        folders += [home, "/var/tmp"]  # noqa: S108  # for a user who may not write to /
    may = [
        folder
        for folder in folders
        if os.path.isdir(folder)
        and os.access(folder, os.W_OK | os.X_OK)
        and os.stat(folder).st_dev == info.st_dev
    ]
    return {
        "device": info.st_dev,
        "folder": may[0] if may else None,
        "is_folder": os.path.isdir(place["path"]),
        "total": room.f_blocks * room.f_frsize,
        "free": room.f_bavail * room.f_frsize,
    }


def places(given: Json, run_id: str, answer: Json, until: float) -> None:
    """Measure and mark every mount that data could be kept on."""
    seen = []  # type: List[int]
    chosen = []  # type: List[Json]
    for place in candidates(_read("/proc/self/mounts", 1024 * 1024), given["mounts"]):
        if len(chosen) == MOST_PLACES:
            answer["more_places"] = True
            break
        place.update(aside(3, _look, place))
        if place.get("is_folder") is False or place.get("device") in seen:
            continue
        if place.get("device") is not None:
            seen.append(place["device"])
        if not place.get("folder") and not place.get("error") and not place.get("timed_out"):
            place["error"] = "no folder on it may be written to"
        chosen.append(place)
        answer["places"].append(place)
    usable = [place for place in chosen if place.get("folder")]
    marker = dict(identity(), id=run_id, at=answer["at"], mounts=[place["path"] for place in usable])
    for place in usable:
        if given["forget"]:
            place["marker"] = aside(5, forget, place)
            continue
        wanted = marker if given["mark"] else None
        place["marker"] = aside(5, mark, place, wanted)
        if given["bytes"] and time.monotonic() < until:
            name = "%s-%s" % (PREFIX, run_id)
            place["speed"] = aside(PLACE_LIMIT_S, measure, place, name, given)
        tell()


def _remove_folders(answer: Json) -> None:
    """Remove our folders, and those of runs that were killed."""
    for place in answer["places"]:
        folder = place.get("folder")
        if folder and not place.get("timed_out"):
            place["left"] = aside(REMOVE_LIMIT_S, _swept, folder, answer["id"]).get("left")


def _swept(folder: str, run_id: str) -> Json:
    for path in glob.glob(os.path.join(glob.escape(folder), PREFIX + "-*")):
        name = os.path.basename(path)[len(PREFIX) + 1 :]
        if (name == run_id or not _alive(name)) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
    mine = os.path.join(folder, "%s-%s" % (PREFIX, run_id))
    return {"left": [mine] if os.path.exists(mine) else []}


def _alive(name: str) -> bool:
    """Whether the run that made something still runs: its name begins with its process id."""
    pid = name.partition("-")[0]
    return not pid.isdigit() or os.path.exists("/proc/" + pid)


# --- Docker ----------------------------------------------------------------------------------


def why_not() -> Optional[str]:
    """Why Docker is not tried; None where it is."""
    if found("docker") is None:
        return "there is no docker command"
    if os.path.isdir("/run/systemd/system"):
        units = (
            run(["systemctl", "is-active", "docker.service", "docker.socket"], 5).get("stdout", "").split()
        )
        if len(units) > 1 and units[1] == "active" and units[0] not in ("active", "activating", "reloading"):
            return "docker.service is %s and asking would start it" % units[0]
    asked = run(["docker", "version", "--format", "{{.Server.Version}}"], 10)
    if asked.get("rc") != 0:
        said = (asked.get("stderr") or "no answer").strip().splitlines()
        return "the engine does not answer: %s" % (said[-1] if said else "it says nothing")[:300]
    return None


def _needed(program: str) -> List[str]:
    """Return a program's file and the libraries that it is linked with."""
    listed = run(["ldd", program], 10).get("stdout", "")
    words = [word for line in listed.splitlines() for word in line.split()]
    return [word for word in words if word.startswith("/") and os.path.isfile(word)]


def rootfs(folder: str) -> Json:
    """Put the host's own shell, sleep and nvidia-smi there, with their libraries: no image is pulled."""
    wanted = {}  # type: Dict[str, str]
    for name, goal in (("sh", "/bin/sh"), ("sleep", "/bin/sleep"), ("nvidia-smi", "/usr/bin/nvidia-smi")):
        program = found(name)
        if program is None:
            continue
        real = os.path.realpath(program)
        with open(real, "rb") as stream:
            script = stream.read(2) == b"#!"
        if script:
            continue
        wanted[goal] = real
        wanted.update((path, os.path.realpath(path)) for path in _needed(real))
    size = sum(os.path.getsize(real) for real in wanted.values())
    if size > ROOTFS_LIMIT:
        return {"error": "the host's shell and its libraries are %d bytes" % size}
    for path, real in sorted(wanted.items()):
        goal = folder + path
        os.makedirs(os.path.dirname(goal), exist_ok=True)
        shutil.copy(real, goal)
    os.makedirs(os.path.join(folder, "tmp"), exist_ok=True)
    return {"files": sorted(wanted), "bytes": size}


DOCKERFILE = """FROM scratch
LABEL %s=%s
ENV NVIDIA_DRIVER_CAPABILITIES=compute,utility
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
COPY root/ /
RUN ["/bin/sh", "-c", "echo built > /built"]
"""


def _packed(folder: str, name: str) -> str:
    """Pack a folder: a client that is a snap reads no files of ours, but what it is fed."""
    path = os.path.join(folder, name + ".tar")
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as tar:
        tar.add(os.path.join(folder, name), arcname=".")
    return path


def _build(steps: Json, folder: str, run_id: str, step: Callable[..., Json]) -> bool:
    """Build an image from nothing; where that fails import one, so that the rest is tried all the same."""
    tag = "%s:%s" % (IMAGE, run_id)
    context = os.path.join(folder, "context")
    root = os.path.join(context, "root")
    os.makedirs(root)
    steps["rootfs"] = rootfs(root)
    if "error" in steps["rootfs"]:
        return False
    with open(os.path.join(context, "Dockerfile"), "w") as stream:
        stream.write(DOCKERFILE % (LABEL, run_id))
    feed = _packed(folder, "context")
    # The classic builder leaves nothing behind; where it is gone, BuildKit is what there is.
    argv = ["docker", "build", "--network=none", "--force-rm", "--no-cache", "-t", tag, "-"]
    if step("build", argv, feed, DOCKER_BUILDKIT="0").get("rc") != 0:
        other = [word for word in argv if word != "--force-rm"]
        step("build-buildkit", other, feed, DOCKER_BUILDKIT="1")
    if any(steps.get(name, {}).get("rc") == 0 for name in ("build", "build-buildkit")):
        return True
    change = ["--change", "LABEL %s=%s" % (LABEL, run_id), "--change", "ENV PATH=/usr/bin:/bin"]
    change += ["--change", "ENV NVIDIA_DRIVER_CAPABILITIES=compute,utility"]
    imported = step("import", ["docker", "import", *change, "-", tag], _packed(context, "root"))
    return bool(imported.get("rc") == 0)


def _two(run_id: str, step: Callable[..., Json]) -> None:
    """Start two containers, and see both run."""
    for number in ("1", "2"):
        name = "%s-%s-%s" % (IMAGE, run_id, number)
        options = ["--pull=never", "--network=none", "--cap-drop=ALL", "--label", "%s=%s" % (LABEL, run_id)]
        argv = ["docker", "run", "-d", "--rm", "--name", name, *options, "%s:%s" % (IMAGE, run_id)]
        step("start-" + number, [*argv, "/bin/sleep", "60"])
    listing = ["docker", "ps", "--filter", "label=%s=%s" % (LABEL, run_id), "--format", "{{.Names}}"]
    step("two-running", listing)
    names = ["%s-%s-%s" % (IMAGE, run_id, number) for number in ("1", "2")]
    step("two-removed", ["docker", "rm", "-f", *names])


def _service(run_id: str, *, gpu: bool) -> Json:
    service = {
        "image": "%s:%s" % (IMAGE, run_id),
        "pull_policy": "never",
        "command": ["/bin/sleep", "60"],
        "labels": {LABEL: run_id},
    }  # type: Json
    if gpu:
        devices = [{"driver": "nvidia", "count": 1, "capabilities": ["gpu"]}]
        service["deploy"] = {"resources": {"reservations": {"devices": devices}}}
    return service


def _compose(folder: str, run_id: str, step: Callable[..., Json]) -> None:
    """Bring two services up, one with a card reserved; where that fails, without the reservation."""
    front = ["docker", "compose"] if step("compose", ["docker", "compose", "version"]).get("rc") == 0 else []
    if not front and step("compose-alone", ["docker-compose", "version"]).get("rc") == 0:
        front = ["docker-compose"]
    for name, gpu in (("compose-gpu", True), ("compose-plain", False)):
        if not front:
            return
        path = os.path.join(folder, name + ".yaml")
        document = {
            "services": {"one": _service(run_id, gpu=gpu), "two": _service(run_id, gpu=False)},
            "networks": {"default": {"internal": True, "labels": {LABEL: run_id}}},
        }
        with open(path, "w") as stream:
            json.dump(document, stream)  # JSON is YAML
        call = [*front, "-p", "%s-%s" % (IMAGE, run_id), "-f", "-"]
        up = step(name + "-up", [*call, "up", "-d"], path)
        if up.get("rc") == 0:
            listing = ["docker", "ps", "--filter", "label=%s=%s" % (LABEL, run_id), "--format", "{{.Names}}"]
            step(name + "-running", listing)
        if up.get("rc") == 0 and gpu:
            step(name + "-card", [*call, "exec", "-T", "one", "nvidia-smi", "-L"], path)
        step(name + "-down", [*call, "down", "-t", "0"], path)
        if up.get("rc") == 0:
            return


def docker_tries(given: Json, run_id: str, folder: str, answer: Json, until: float) -> None:
    """Build, run, run with a card in each way, run two, bring Compose up."""
    answer["docker"] = why_not()
    if answer["docker"] is not None:
        return
    steps = answer["steps"]

    def step(name: str, argv: List[str], feed: str = os.devnull, **more: str) -> Json:
        if time.monotonic() >= until:
            steps[name] = {"argv": argv, "error": "not run: the time was up"}
        else:
            steps[name] = run(argv, min(STEP_LIMIT_S, until - time.monotonic()), feed, **more)
        tell()
        return dict(steps[name])

    _remove_containers(None)
    if not _build(steps, folder, run_id, step):
        return
    tag = "%s:%s" % (IMAGE, run_id)
    for name, argv in sorted(given["runs"].items()):
        step(name, [part.replace("{image}", tag).replace("{id}", run_id) for part in argv])
    _two(run_id, step)
    _compose(folder, run_id, step)


def _ids(kind: List[str], label: str) -> List[str]:
    listed = run(["docker", *kind, "--filter", "label=" + label, "--format", "{{.ID}}"], 10)
    return list(dict.fromkeys(listed.get("stdout", "").split())) if listed.get("rc") == 0 else []


def _remove_containers(run_id: Optional[str]) -> List[str]:
    """Remove what this run made, name what stays; without a run, remove what dead ones left behind."""
    if run_id is None:
        show = ["docker", "image", "ls", IMAGE, "--format", "{{.Tag}}"]
        names = run(show, 10).get("stdout", "").split()
        return [left for name in names if not _alive(name) for left in _remove_containers(name)]
    label = "%s=%s" % (LABEL, run_id)
    removals = (
        (["ps", "-a"], ["rm", "-f"]),
        (["network", "ls"], ["network", "rm"]),
        (["image", "ls"], ["rmi", "-f"]),
    )
    left = []  # type: List[str]
    for listing, removal in removals:
        ids = _ids(listing, label)
        if ids:
            run(["docker", *removal, *ids], REMOVE_LIMIT_S)
            left += ["%s %s" % (listing[0], one) for one in _ids(listing, label)]
    return left


# --- the whole -------------------------------------------------------------------------------


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Be deaf to signals while taking things away."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    yield


def tries(given: Json) -> Json:
    """Try everything; what was learned before an interruption is returned all the same."""
    run_id = "%d-%s" % (os.getpid(), uuid.uuid4().hex[:8])
    answer = {
        "schema": 1,
        "id": run_id,
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "identity": identity(),
        "places": [],
        "docker": "not tried",
        "steps": {},
        "interrupted": False,
        "left": [],
    }  # type: Json
    until = time.monotonic() + given["deadline"]
    folder = os.path.join(given.get("folder") or "/tmp", "%s-%s" % (PREFIX, run_id))  # noqa: S108  # made below, 0700
    began = time.monotonic()
    try:
        if given["docker"]:
            os.mkdir(folder, 0o700)
            docker_tries(given, run_id, folder, answer, until)
        places(given, run_id, answer, until)
    except Stopped:
        answer["interrupted"] = True
    except (OSError, subprocess.SubprocessError) as error:
        answer["error"] = "%s: %s" % (type(error).__name__, _reason(error))
    finally:
        with _deaf():
            if answer["docker"] is None:
                answer["left"] += _remove_containers(run_id)
            _remove_folders(answer)
            shutil.rmtree(folder, ignore_errors=True)
            _swept(os.path.dirname(folder), run_id)
            answer["left"] += [folder] if os.path.exists(folder) else []
            answer["left"] += [path for place in answer["places"] for path in place.pop("left", None) or []]
    answer["seconds"] = round(time.monotonic() - began, 3)
    return answer


def main(given: Json) -> int:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    answer = tries(given)
    try:
        sys.stdout.write("\n" + json.dumps(answer, sort_keys=True) + "\n")
        sys.stdout.flush()
    except OSError:
        return 141
    return 130 if answer["interrupted"] else 0

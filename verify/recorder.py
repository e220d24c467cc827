"""Take one machine's recording: raw files and command outputs, one JSON document on stdout.

Runs on the target, or in a container, piped to its python3 (3.6 or newer, standard library only)::

    python3 - MANIFEST_JSON [image=REF] < recorder.py

It interprets nothing and changes nothing. Every read and every command runs in a thread that is
waited for with a limit and never joined without one, because a dead NFS mount or a wedged driver
holds a process in the kernel where no signal reaches it.
"""

import contextlib
import errno
import glob
import json
import os
import re
import selectors
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
import uuid
from typing import Any, Callable, Dict, List, Optional, Tuple

SIMULATED_MARK = "/etc/gpu-host/simulated"
SYSTEMD_MARK = "/run/systemd/system"
FILE_LIMIT = 64 * 1024
STREAM_LIMIT = 256 * 1024
FILTER_LIMIT = 4 * 1024 * 1024  # what is read of a stream of which only some lines are kept
COMMAND_LIMIT_S = 10.0
DEADLINE_S = 60.0
GRACE_S = 0.5  # for a pipe that a left-over child holds open, and for a killed process to go
REDACTED = "REDACTED"

Json = Dict[str, Any]

# --- secrets ---------------------------------------------------------------------------------

# Never read, whatever the manifest says: they are recorded as present or missing.
_CREDENTIAL_FILE = re.compile(
    r"(?:^|/)(?:\.docker/config\.json|\.dockercfg|\.netrc|\.git-credentials|auth\.conf(?:\.d/[^/]+)?"
    r"|id_[a-z0-9]+|shadow|key\.json|[^/]+\.(?:pem|key))$"
)
# No pattern may try a long run of letters again from each of its letters: a 64 KiB line would take hours, and
# hold every limit of ours up. So a key is matched whole, from where it begins, and then asked what it is.
_URL_USER = re.compile(r"([A-Za-z0-9+.-]:(?:\\?/){2})[^\s/\\\"'<>]*@")
_QUOTE = r"(?:\\{0,3}[\"'])?"  # as it stands in a string of another, too
_IS = _QUOTE + r"[ \t]{0,4}[=:][ \t]{0,4}" + _QUOTE
_PROXY_USER = re.compile(r"(proxy[\w.-]{0,40}" + _IS + r")[^\s/\\\"'<>@]{1,256}@", re.IGNORECASE)
_AUTHORIZATION = re.compile(
    r"(authorization" + _IS + r"(?!(?:null|true|false)\b|[\[{\d-])(?:[a-z]{1,20}[ \t]{1,4})?)"
    r"[^\s\"'\\,<>\[\]{}]+",
    re.IGNORECASE,
)
_BEARER = re.compile(r"(?<![\w-])(bearer[ \t]{1,4})[\w.~+/=-]{8,}", re.IGNORECASE)
_LOGIN = re.compile(
    r"(\blogin\b[^\n\"'\\]{0,200}?[ \t]-p[ =]?" + _QUOTE + r")(?![\d:]+\s)[^\s\"'\\-][^\s\"'\\]*"
)
_USER_FLAG = re.compile(
    r"((?<![\w-])(?:-u|--user|--proxy-user)[ \t=]{1,4}" + _QUOTE + r"[^\s:\"'\\-][^\s:\"'\\]{0,63}:)"
    r"(?!\d+(?!\w))[^\s\"'\\]+"
)
# Tokens that are known by how they begin: AWS, GitHub, GitLab, Hugging Face, NGC, Docker, Slack, Google, JWT.
_TOKEN = re.compile(
    r"(?<![A-Za-z0-9_-])(?:(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])|gh[opsu]_\w{20,}|github_pat_\w{20,}"
    r"|glpat-[\w-]{16,}|hf_[A-Za-z0-9]{20,}|nvapi-[\w-]{20,}|dckr_(?:pat|oat)_[\w-]{16,}|xox[a-z]-[\w-]{10,}"
    r"|sk-[\w-]{20,}|AIza[\w-]{30,}|eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?)"
)
_WORD = re.compile(
    r"token|passw(?:or)?d|passphrase|secret|key|credential|(?<!by)(?<!com)pass(?![a-z])|_pwd(?![a-z])"
    r"|(?<![a-z])auth(?![a-z])",
    re.IGNORECASE,
)
_JSON_KEY = re.compile(r'"([^"\\\n]*)"\s*:\s*(?=["\[{0-9tf-])')
_JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_JSON_BARE = re.compile(r"[^\s,}\]]*")
_ARRAY_FLAG = re.compile(r'"(-[^"\\\n]*)"\s*,\s*(?=")')  # ["--password", "…"]
_NESTED = re.compile(r'(?<!\\)(?P<q>\\+")(?P<k>[^"\\\n]*)(?P=q)\s*:\s*(?P=q)')  # in a string of another
_CONF_KEY = re.compile(r"(?<![\w.-])([\w.-]+)[ \t]*[=:][ \t]*")
_CONF_VALUE = re.compile(
    r"(?P<open>[\[{])|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|(?P<bare>[^\s,;\"'\]}][^\s,;\"'\]}]*)"
)
_FLAG = re.compile(r"(?<![\w-])([\w-]+)[ \t]+(?!-)")
_FLAG_VALUE = re.compile(r"[^\s\"']+|\"[^\"\n]*\"|'[^'\n]*'")
_PEM = re.compile(r"(-----BEGIN [A-Z ]*PRIVATE KEY-----).*?(-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)


def _value_end(text: str, start: int) -> int:
    """Where the bracketed value that opens at ``start`` closes; the end of the text if it never does."""
    depth = 0
    position = start
    while position < len(text):
        character = text[position]
        if character == '"':
            string = _JSON_STRING.match(text, position)
            if string is None:
                return len(text)
            position = string.end()
            continue
        depth += (character in "[{") - (character in "]}")
        position += 1
        if depth == 0:
            return position
    return len(text)


def _replace(text: str, key: Any, value: Callable[[Any], Optional[Tuple[int, str]]]) -> str:
    """Replace what stands behind each secret key; ``value`` finds its end and what to write instead."""
    pieces = []  # type: List[str]
    done = 0
    for match in key.finditer(text):
        if match.start() < done or not _WORD.search(match.group()):  # gone already, or no secret
            continue
        found = value(match)
        if found is not None:
            end, instead = found
            pieces += [text[done : match.end()], instead]
            done = end
    return "".join(pieces) + text[done:]


def _json_value(match: Any) -> Tuple[int, str]:
    text, start = match.string, match.end()
    if text[start] == '"':
        string = _JSON_STRING.match(text, start)
        end = string.end() if string else len(text)
    elif text[start] in "[{":
        end = _value_end(text, start)
    else:
        end = _JSON_BARE.match(text, start).end()  # type: ignore[union-attr]
    return end, '"' + REDACTED + '"'


def _array_value(match: Any) -> Optional[Tuple[int, str]]:
    string = _JSON_STRING.match(match.string, match.end())
    if string is None or re.compile(r"\s{0,9}:").match(match.string, string.end()):  # the next key
        return None
    return string.end(), '"' + REDACTED + '"'


def _nested_value(match: Any) -> Optional[Tuple[int, str]]:
    line_end = match.string.find("\n", match.end())
    end = match.string.find(match.group("q"), match.end(), line_end if line_end >= 0 else len(match.string))
    return (end, REDACTED) if end >= 0 else None


def _conf_value(match: Any) -> Optional[Tuple[int, str]]:
    value = _CONF_VALUE.match(match.string, match.end())
    if value is None:
        return None
    end = _value_end(match.string, match.end()) if value.group("open") else value.end()
    return end, REDACTED if value.group("bare") else '"' + REDACTED + '"'


def _flag_value(match: Any) -> Optional[Tuple[int, str]]:
    dash = match.group(1).find("-")
    value = _FLAG_VALUE.match(match.string, match.end())
    return (value.end(), REDACTED) if value and dash >= 0 and _WORD.search(match.group(1), dash) else None


def redact(text: str) -> str:
    """Remove user information from URLs and the values of secret-looking keys; keep everything else."""
    text = _PROXY_USER.sub(r"\1", _URL_USER.sub(r"\1", text))
    for known in (_AUTHORIZATION, _BEARER, _LOGIN, _USER_FLAG):
        text = known.sub(r"\1" + REDACTED, text)
    text = _TOKEN.sub(REDACTED, text)
    if not _WORD.search(text):
        return text
    text = _PEM.sub(r"\1" + REDACTED + r"\2", text)
    text = _replace(text, _NESTED, _nested_value)
    text = _replace(text, _JSON_KEY, _json_value)
    text = _replace(text, _ARRAY_FLAG, _array_value)
    text = _replace(text, _CONF_KEY, _conf_value)
    return _replace(text, _FLAG, _flag_value)


# --- limits ----------------------------------------------------------------------------------


def _decode(data: bytes) -> Tuple[str, bool]:
    try:
        return data.decode("utf-8"), False
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace"), True


def _trim(data: bytes, limit: int, keep: str) -> Tuple[bytes, Optional[str]]:
    """At most ``limit`` bytes from the end that is kept, and which end was dropped."""
    if len(data) <= limit:
        return data, None
    return (data[-limit:], "head") if keep == "tail" else (data[:limit], "tail")


def _error_name(error: OSError) -> str:
    return errno.errorcode.get(error.errno or 0, str(error))


def _utc(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


class Workers:
    """Threads that are started, waited for until a moment, and otherwise left behind."""

    def __init__(self) -> None:
        self._threads = []  # type: List[threading.Thread]

    def start(self, work: Callable[..., None], *args: Any) -> threading.Thread:
        """Run ``work`` in a daemon thread."""
        thread = threading.Thread(target=work, args=args)
        thread.daemon = True
        thread.start()
        self._threads.append(thread)
        return thread

    def wait(self, until: float) -> None:
        """Join all of them, up to the moment ``until`` and no longer."""
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))


# --- files -----------------------------------------------------------------------------------


def read_file(path: str, spec: Optional[Json] = None) -> Json:
    """One entry of ``files``. Never opens what is not a regular file: a FIFO or a device could block."""
    spec = spec or {}
    limit = spec.get("limit", FILE_LIMIT)  # type: int
    try:
        info = os.stat(path)
        entry = {
            "mode": "%04o" % stat.S_IMODE(info.st_mode),
            "uid": info.st_uid,
            "gid": info.st_gid,
            "size": info.st_size,
            "mtime": _utc(info.st_mtime),
            "ctime": _utc(info.st_ctime),  # when it came here: packages keep the mtime of their build
        }  # type: Json
        if spec.get("secret") or _CREDENTIAL_FILE.search(path):
            return entry
        if stat.S_ISDIR(info.st_mode):
            return {"error": "EISDIR"}
        if not stat.S_ISREG(info.st_mode):
            return {"error": "not a regular file"}
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0))
        with os.fdopen(handle, "rb") as stream:
            if spec.get("keep") == "tail" and info.st_size > limit:
                stream.seek(-limit, os.SEEK_END)
                data, cut = stream.read(limit), "head"  # type: Tuple[bytes, Optional[str]]
            else:
                data, cut = _trim(stream.read(limit + 1), limit, "head")
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return {"missing": True}
        return {"error": _error_name(error)}
    text, lossy = _decode(data)
    entry["text"] = redact(text)
    if lossy:
        entry["lossy"] = True
    if cut:
        entry["cut"] = cut
    return entry


def read_disk(path: str) -> Json:
    try:
        info = os.statvfs(path)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return {"missing": True}
        return {"error": _error_name(error)}
    return {
        "total": info.f_blocks * info.f_frsize,
        "free": info.f_bavail * info.f_frsize,
        "inodes_free": info.f_favail,
        "inodes": info.f_files,  # 0 where the file system has no such limit
    }


# --- commands --------------------------------------------------------------------------------


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill the whole group, wait a moment, never forever: a process in the kernel cannot die."""
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    until = time.monotonic() + GRACE_S
    while process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)


def _pump(
    process: "subprocess.Popen[bytes]", until: float, limit: int, keep: str
) -> Tuple[List[bytearray], List[bool], bool]:
    """Read both streams until they close, the process is gone, or the time is up."""
    streams = [process.stdout, process.stderr]
    data = [bytearray(), bytearray()]
    dropped = [False, False]
    selector = selectors.DefaultSelector()
    for number, stream in enumerate(streams):
        os.set_blocking(stream.fileno(), False)  # type: ignore[union-attr]
        selector.register(stream, selectors.EVENT_READ, number)  # type: ignore[arg-type]
    gone_at = None  # type: Optional[float]
    while selector.get_map():
        now = time.monotonic()
        if gone_at is None and process.poll() is not None:
            gone_at = now
        stop = until if gone_at is None else min(until, gone_at + GRACE_S)
        if now >= stop:
            break
        for key, _ in selector.select(min(stop - now, 0.05)):
            chunk = os.read(key.fd, 65536)
            if not chunk:
                selector.unregister(key.fileobj)
                continue
            data[key.data] += chunk
            if len(data[key.data]) > limit:
                dropped[key.data] = True
                del data[key.data][slice(None, -limit) if keep == "tail" else slice(limit, None)]
    while process.poll() is None and time.monotonic() < until:
        time.sleep(0.005)
    finished = process.poll() is not None
    selector.close()
    for stream in streams:
        stream.close()  # type: ignore[union-attr]
    return data, dropped, finished


def run_command(argv: List[str], until: float, spec: Optional[Json] = None) -> Json:
    """One entry of ``commands``; ``spec``: size, keep, lines (a filter), needs, needs_any, cleanup."""
    spec = spec or {}
    entry = {"argv": argv}  # type: Json
    path = child_environment()["PATH"]
    absent = [tool for tool in [argv[0], *spec.get("needs", [])] if shutil.which(tool, path=path) is None]
    others = spec.get("needs_any", [])
    if absent or (others and not any(shutil.which(tool, path=path) for tool in others)):
        entry["missing"] = True
        return entry
    lines = spec.get("lines")
    keep = "tail" if lines else spec.get("keep", "head")
    limit = spec.get("size", STREAM_LIMIT)
    began = time.monotonic()
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=child_environment(),
        )
    except OSError as error:
        entry["error"] = _error_name(error)
        return entry
    data, dropped, finished = _pump(process, until, FILTER_LIMIT if lines else limit, keep)
    entry["seconds"] = round(time.monotonic() - began, 3)
    if finished:
        entry["rc"] = process.returncode
    else:
        entry["timed_out"] = True
        _kill(process)
        if spec.get("cleanup"):
            _quietly(spec["cleanup"])
    for name, raw, cut in zip(("stdout", "stderr"), data, dropped):  # noqa: B905  # Python 3.6
        text, lossy = _decode(bytes(raw))
        if lines and name == "stdout":
            text = "".join(line for line in text.splitlines(keepends=True) if re.search(lines, line))
            short, end = _trim(text.encode("utf-8"), limit, "tail")
            text, cut = _decode(short)[0], cut or end is not None  # noqa: PLW2901
        entry[name] = redact(text)
        if lossy:
            entry["lossy"] = True
        if cut:
            entry[name + "_cut"] = "head" if keep == "tail" else "tail"
    return entry


def _quietly(argv: List[str]) -> None:
    """Start a clean-up and do not wait for more than a moment: it goes on without us."""
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=child_environment(),
        )
        process.wait(2)
    except (OSError, subprocess.TimeoutExpired):
        pass


def child_environment() -> Dict[str, str]:
    """English texts, and the sbin folders that a plain SSH session lacks."""
    env = dict(os.environ, LC_ALL="C", LANGUAGE="C")
    folders = env.get("PATH", "/usr/local/bin:/usr/bin:/bin").split(":")
    for folder in ("/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin"):
        if folder not in folders:
            folders.append(folder)
    env["PATH"] = ":".join(folders)
    return env


def docker_would_wake() -> Optional[str]:
    """Why a docker command would start a stopped engine, or None where it would not.

    docker.socket listens for a stopped docker.service: the first client starts it, and a recording
    that starts the engine shows a state that was not there.
    """
    if not os.path.isdir(SYSTEMD_MARK):
        return None
    units = ["docker.service", "docker.socket"]
    answer = run_command(["systemctl", "is-active", *units], time.monotonic() + 5)
    states = answer.get("stdout", "").split()
    if answer.get("missing"):
        return None
    if len(states) != len(units):
        return "not run: systemctl did not say whether docker.socket would start the engine"
    service, socket = states
    if service in ("active", "activating", "reloading") or socket != "active":
        return None
    return (
        "not run: docker.service is %s and docker.socket is active: asking would start the engine" % service
    )


# --- the whole -------------------------------------------------------------------------------

_PLACEHOLDER = re.compile(r"\{(docker_root|kernel|cdi_host_paths|gpu_pids|image|run_id|gpu_index|python)\}")
_CDI_PATH = re.compile(r'(?:hostPath|\bpath)"?\s*:\s*"?(/[^"\s,}]+)')


def expand(text: str, values: Json) -> List[str]:
    """Put values in; a list value makes one text for each. No value: nothing, not a wrong text."""
    names = set(_PLACEHOLDER.findall(text))
    if any(values.get(name) is None for name in names):
        return []
    results = [text]
    for name in sorted(names):
        options = values[name] if isinstance(values[name], list) else [values[name]]
        results = [result.replace("{%s}" % name, str(option)) for result in results for option in options]
    return results


def gpu_pids() -> List[str]:
    """Find the processes that hold a card's device node open, as far as we may look."""
    found = []
    for folder in glob.glob("/proc/[0-9]*/fd"):
        try:
            targets = [os.readlink(os.path.join(folder, name)) for name in os.listdir(folder)]
        except OSError:
            continue
        if any(re.match(r"/dev/nvidia(\d+|-uvm)$", target) for target in targets):
            found.append(folder.split("/")[2])
    return sorted(found, key=int)


def _docker_root(document: Json) -> str:
    for text in (
        document["commands"].get("docker-info", {}).get("stdout"),
        document["files"].get("/etc/docker/daemon.json", {}).get("text"),
    ):
        match = re.search(r'"(?:DockerRootDir|data-root)"\s*:\s*"([^"]+)"', text or "")
        if match:
            return match.group(1)
    return "/var/lib/docker"


def _look(manifest: Json, values: Json, document: Json) -> List[Tuple[str, Json]]:
    """Expand globs and file names; return the files to read, each with its limits."""
    wanted = []  # type: List[Tuple[str, Json]]
    for item in manifest.get("globs", []):
        for pattern in expand(item["pattern"], values):
            found = sorted(glob.glob(pattern))
            document["globs"][pattern] = found
            if item.get("link"):
                document["links"].update(_links(found))
            if item.get("newest"):
                found = sorted(found, key=_mtime)[-1:]
            if item.get("read"):
                wanted += [(path, item) for path in found]
    for item in manifest.get("files", []):
        spec = item if isinstance(item, dict) else {"path": item}
        wanted += [(path, spec) for path in expand(spec["path"], values)]
    return wanted


def _read_tree(manifest: Json, values: Json, document: Json) -> None:
    """Files, globs, links, paths: runs in a thread of its own, filling the document as it goes."""
    wanted = _look(manifest, values, document)
    for path, _ in wanted:
        document["files"].setdefault(path, {"error": "timed out"})
    for path, spec in wanted:
        document["files"][path] = read_file(path, spec)
    for text in manifest.get("links", []):
        document["links"].update(_links(expand(text, values)))
    cdi = [entry.get("text", "") for path, entry in document["files"].items() if "/cdi/" in path]
    values["cdi_host_paths"] = sorted({path for text in cdi for path in _CDI_PATH.findall(text)})[:500]
    for text in manifest.get("paths", []):
        for path in expand(text, values):
            document["paths"][path] = os.path.exists(path)


def _mtime(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def _links(paths: List[str]) -> Dict[str, str]:
    return {path: redact(os.readlink(path)) for path in paths if os.path.islink(path)}


def _store(section: Json, key: str, take: Callable[..., Json], *args: Any) -> None:
    section[key] = take(*args)


def _plan(spec: Json, values: Json) -> List[Tuple[str, Json, List[str]]]:
    """List the commands one manifest entry stands for: none without its image, one a card with ``each``."""
    indexes = values["gpu_indexes"] if spec.get("each") == "gpu_index" else [None]
    planned = []
    for index in indexes:
        mine = dict(values, gpu_index=index, run_id=uuid.uuid4().hex[:12])
        if any(mine.get(name) is None for part in spec["argv"] for name in _PLACEHOLDER.findall(part)):
            continue
        argv = [text for part in spec["argv"] for text in expand(part, mine)]
        cleanup = [text for part in spec.get("cleanup", []) for text in expand(part, mine)]
        planned.append((expand(spec["name"], mine)[0], dict(spec, cleanup=cleanup), argv))
    return planned


def _run_all(specs: List[Json], values: Json, document: Json, until: float, asleep: Optional[str]) -> Workers:
    workers = Workers()
    commands = document["commands"]
    for spec in specs:
        for name, mine, argv in _plan(spec, values):
            if asleep and mine.get("engine"):
                commands[name] = {"argv": argv, "error": asleep}
                continue
            limit = min(until, time.monotonic() + mine.get("limit", COMMAND_LIMIT_S))
            # Stays if the thread never comes back from starting the command.
            commands[name] = {"argv": argv, "timed_out": True, "seconds": round(limit - time.monotonic(), 3)}
            workers.start(_store, commands, name, run_command, argv, limit, mine)
    return workers


def record(manifest: Json, given: Json) -> Json:
    """Take the recording that the manifest describes."""
    until = time.monotonic() + manifest.get("deadline", DEADLINE_S)
    document = {
        "schema": 1,
        "taken_at": _utc(time.time()),
        "where": manifest["where"],
        "simulated": os.path.exists(SIMULATED_MARK),
        "uid": os.geteuid(),
        "files": {},
        "globs": {},
        "links": {},
        "paths": {},
        "commands": {},
        "disks": {},
        "env": {name: redact(os.environ[name]) for name in manifest.get("env", []) if name in os.environ},
    }  # type: Json
    nodes = [re.match(r"/dev/nvidia(\d+)$", path) for path in sorted(glob.glob("/dev/nvidia[0-9]*"))]
    values = dict(
        given,
        kernel=os.uname().release,
        gpu_pids=gpu_pids(),
        python=sys.executable or "python3",
        gpu_indexes=[node.group(1) for node in nodes if node],
    )  # type: Json
    asleep = docker_would_wake() if any(spec.get("engine") for spec in manifest["commands"]) else None
    files = Workers()
    reader = files.start(_read_tree, manifest, values, document)
    first = [spec for spec in manifest["commands"] if not spec.get("if_failed")]
    _run_all(first, values, document, until, asleep).wait(until + 1)
    failed = {name for name, entry in document["commands"].items() if entry.get("rc") != 0}
    second = [spec for spec in manifest["commands"] if spec.get("if_failed") in failed]
    later = _run_all(second, values, document, until, asleep)
    reader.join(max(0.0, until - time.monotonic()))
    values["docker_root"] = _docker_root(document)
    for text in manifest.get("disks", []):
        for path in expand(text, values):
            document["disks"][path] = {"error": "timed out"}
            later.start(_store, document["disks"], path, read_disk, path)
    later.wait(until + 1)
    return document


def _print(document: Json) -> None:
    # A thread left behind may still write into the document while it is printed: try again.
    for _ in range(100):
        try:
            text = json.dumps(document, sort_keys=True)
        except RuntimeError:
            time.sleep(0.01)
        else:
            break
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(arguments: List[str]) -> int:
    if not arguments:
        sys.stderr.write("recorder: needs the manifest as its first argument\n")
        return 2
    try:
        manifest = json.loads(arguments[0])
        given = dict(argument.split("=", 1) for argument in arguments[1:])
    except ValueError as error:
        sys.stderr.write("recorder: cannot read the arguments: %s\n" % error)
        return 2
    _print(record(manifest, {name: value for name, value in given.items() if value}))
    return 0


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stderr.flush()
    os._exit(status)  # not sys.exit: a thread in a dead mount must not hold us

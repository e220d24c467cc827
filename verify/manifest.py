"""What a recording holds: the files, globs and commands, as data that the recorder reads.

The names of commands are stable whatever arguments an OS needs (docs/recording.md). A
command that is not there is recorded as missing, so one manifest serves every host.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from verify.facts.card import QUERY_FIELDS
from verify.facts.toolkit import OBSOLETE, PACKAGES
from verify.launch import Cards, docker_run, unless_asleep
from verify.manifest_scripts import KERNEL_LINES, LAYERS, LOCKS, MODINFO, NEWEST, PCI_CONFIG

Where = Literal["host", "container"]
Spec = dict[str, Any]

DEADLINE_S = 60
RUN_LIMIT_S = 20
_CONTAINER_NAME = "gpu-host-run-{run_id}"

_APT = (
    *PACKAGES,
    "cuda-keyring",
    "nvidia-driver",
    "nvidia-smi",
    "libnvidia-ml1",
    "libcuda1",
    "docker.io",
    "docker-ce",
    "docker-cli",
)
_UNIT_PROPERTIES = (
    "Id,LoadState,ActiveState,SubState,Result,UnitFileState,FragmentPath,DropInPaths,ActiveEnterTimestamp,"
    "ExecMainStartTimestamp,ExecMainStartTimestampMonotonic,ExecMainStatus,NRestarts,InactiveEnterTimestamp"
)
_ENV = (
    "CUDA_VISIBLE_DEVICES",
    "CUDA_DEVICE_ORDER",
    "CUDA_DISABLE_PTX_JIT",
    "NCCL_P2P_DISABLE",
    "NCCL_SHM_DISABLE",
    "NVIDIA_VISIBLE_DEVICES",
    "NVIDIA_DRIVER_CAPABILITIES",
    "NVIDIA_REQUIRE_CUDA",
    "NVIDIA_DISABLE_REQUIRE",
    "CUDA_VERSION",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "PATH",
    "DOCKER_HOST",
    "DOCKER_CONTEXT",
    "WSL_DISTRO_NAME",
)

_BOTH_FILES: tuple[str, ...] = (
    "/etc/os-release",
    "/etc/gpu-host/simulated",
    "/proc/version",
    "/proc/sys/kernel/osrelease",
    "/proc/driver/nvidia/version",
    "/proc/driver/nvidia/params",
    "/proc/1/comm",
    "/proc/1/cgroup",
    "/.dockerenv",
    "/run/.containerenv",
    "/sys/module/nvidia/version",
)
_HOST_FILES: tuple[str | Spec, ...] = (
    *_BOTH_FILES,
    "/proc/modules",
    "/proc/mounts",
    "/proc/sys/kernel/random/boot_id",
    "/etc/docker/daemon.json",
    "/etc/nvidia-container-runtime/config.toml",
    # For their times alone: since when the daemon runs, and since when the hook is there.
    {"path": "/var/run/docker.pid", "secret": True},
    {"path": "/usr/bin/nvidia-container-runtime-hook", "secret": True},
    "/etc/apt/sources.list",
    "/var/lib/gpu-host/owned.json",
    "/var/lib/gpu-host/reboot-needed.json",
    "/sys/kernel/security/lockdown",
    "/etc/dgx-release",
    {"path": "/var/log/apt/history.log", "keep": "tail", "limit": 16 * 1024},
    {"path": "/root/.docker/config.json", "secret": True},
    {"path": "/etc/docker/key.json", "secret": True},
    {"path": "/etc/apt/auth.conf", "secret": True},
)
_DKMS = "/var/lib/dkms/*nvidia*"
_PCI = "/sys/bus/pci/devices/*"
_HOST_GLOBS: tuple[Spec, ...] = (
    {"pattern": "/dev/nvidia*"},
    {"pattern": "/dev/dri/*"},
    {"pattern": "/etc/cdi/*", "read": True, "limit": 256 * 1024},
    {"pattern": "/var/run/cdi/*", "read": True, "limit": 256 * 1024},
    {"pattern": "/etc/docker/daemon.json?*", "read": True},
    {"pattern": "/etc/apt/sources.list.d/*", "read": True},
    {"pattern": "/etc/apt/trusted.gpg.d/*"},
    {"pattern": "/usr/share/keyrings/*"},
    {"pattern": "/etc/apt/preferences.d/*", "read": True},
    {"pattern": "/etc/yum.repos.d/*", "read": True},
    {"pattern": "/etc/modprobe.d/*", "read": True},
    {"pattern": "/etc/systemd/system/docker.service.d/*", "read": True},
    {"pattern": f"{_PCI}/vendor", "read": True, "limit": 64},
    {"pattern": f"{_PCI}/device", "read": True, "limit": 64},
    {"pattern": f"{_PCI}/class", "read": True, "limit": 64},
    {"pattern": f"{_PCI}/revision", "read": True, "limit": 64},
    {"pattern": f"{_PCI}/driver", "link": True},
    {"pattern": "/sys/firmware/efi/efivars/SecureBoot-*", "read": True, "limit": 64},
    {"pattern": f"{_DKMS}/*/build/make.log", "read": True, "newest": True, "keep": "tail", "limit": 8192},
    {"pattern": f"{_DKMS}/*/*/*/log/make.log", "read": True, "newest": True, "keep": "tail", "limit": 8192},
    {"pattern": "/var/lib/dpkg/updates/*"},
    {"pattern": "/boot/vmlinuz-*"},
    {"pattern": "/run/user/*/docker.sock"},
    {"pattern": "/lib/modules/*"},
    {"pattern": "/lib/modules/*/updates/dkms/nvidia*"},
    {"pattern": "/lib/modules/*/kernel/drivers/video/nvidia*"},
    {"pattern": "/lib/modules/*/kernel/nvidia*/nvidia.ko*"},
    {"pattern": "/lib/modules/*/extra/nvidia*"},
    {"pattern": "/lib/modules/*/extra/nvidia*/nvidia.ko*"},
    {"pattern": "/lib/modules/*/weak-updates/nvidia*"},
    {"pattern": "/usr/src/linux-headers-*"},
    {"pattern": "/usr/src/kernels/*"},
    {"pattern": "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so*", "link": True},
    {"pattern": "/usr/lib/x86_64-linux-gnu/libcuda.so*", "link": True},
    {"pattern": "/usr/lib64/libnvidia-ml.so*", "link": True},
    {"pattern": "/usr/lib64/libcuda.so*", "link": True},
)
_CONTAINER_GLOBS: tuple[Spec, ...] = (
    {"pattern": "/dev/nvidia*"},
    {"pattern": "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so*", "link": True},
    {"pattern": "/usr/lib/x86_64-linux-gnu/libcuda.so*", "link": True},
    {"pattern": "/usr/lib/aarch64-linux-gnu/libcuda.so*", "link": True},
    {"pattern": "/usr/lib64/libcuda.so*", "link": True},
    {"pattern": "/usr/local/cuda*/compat/libcuda.so*", "link": True},
)
# Starts a program whose text is the first argument, so that it can start itself again.
_LOADER = "import sys; exec(compile(sys.argv[1], 'probe', 'exec'))"
_PATHS = (
    "{cdi_host_paths}",
    "/lib/modules/{kernel}/build",
    "/lib/modules/{kernel}/modules.dep",
    "/usr/src/linux-headers-{kernel}",
    "/usr/bin/nvidia-container-runtime",
    "/usr/bin/nvidia-container-runtime-hook",
    "/usr/bin/nvidia-container-cli",
    "/usr/bin/nvidia-cdi-hook",
    "/usr/bin/nvidia-ctk",
    "/usr/bin/dockerd",
    "/snap/bin/docker",
    "/usr/bin/podman",
    "/usr/bin/nvidia-uninstall",
    "/sys/firmware/efi",
)

_LINKS = ("/usr/bin/docker", "/etc/docker/daemon.json", "/var/run", "/usr/bin/nvidia-smi", "/bin")
_STORES = ("{docker_root}", "/var/lib/docker", "/var/lib/containerd")
_DISKS = ("/", "/var", *_STORES, "/dev/shm", "/tmp")  # noqa: S108


def _command(name: str, *argv: str, **spec: Any) -> Spec:  # noqa: ANN401  # keys of a JSON object
    return {"name": name, "argv": list(argv), **spec}


def _shell(name: str, script: str, *arguments: str, **spec: Any) -> Spec:  # noqa: ANN401
    return _command(name, "sh", "-c", script, "sh", *arguments, **spec)


def _docker(name: str, *argv: str, **spec: Any) -> Spec:  # noqa: ANN401
    """Mark a command that reaches the engine: even ``docker context`` pings it in older clients."""
    return _command(name, "docker", *argv, engine=True, **spec)


def _run(
    name: str, *, gpus: Cards | None = None, cdi: Cards | None = None, nvidia: str | None = None
) -> Spec:
    argv = docker_run(
        "{image}",
        ["nvidia-smi", "-L"],
        gpus=gpus,
        cdi=cdi,
        runtime="nvidia" if nvidia else None,
        env={"NVIDIA_VISIBLE_DEVICES": nvidia} if nvidia else None,
        name=_CONTAINER_NAME,
    )
    # A client that is killed leaves its container behind.
    return _command(
        name,
        *argv,
        engine=True,
        limit=RUN_LIMIT_S,
        size=16384,
        cleanup=["docker", "rm", "-f", _CONTAINER_NAME],
    )


def _python(program: str, **spec: Any) -> Spec:  # noqa: ANN401
    """Ask the image whether it has a Python that runs the recorder: 3.6 or newer."""
    asked = "import sys; print('%d.%d.%d' % sys.version_info[:3]); sys.exit(sys.version_info < (3, 6))"
    argv = docker_run("{image}", [program, "-c", asked], name=_CONTAINER_NAME)
    cleanup = ["docker", "rm", "-f", _CONTAINER_NAME]
    return _command(
        f"image-{program}", *argv, engine=True, limit=RUN_LIMIT_S, size=4096, cleanup=cleanup, **spec
    )


def _query(name: str, *extra: str, fields: tuple[str, ...] = QUERY_FIELDS, **spec: Any) -> Spec:  # noqa: ANN401
    asked = f"--query-gpu={','.join(fields)}"
    return _command(name, "nvidia-smi", *extra, asked, "--format=csv,noheader,nounits", **spec)


def _smi_commands() -> list[Spec]:
    return [
        _command("nvidia-smi", "nvidia-smi", limit=20),
        _command("nvidia-smi-list", "nvidia-smi", "-L", limit=20),
        _command("nvidia-smi-xml", "nvidia-smi", "-q", "-x", limit=20, size=1024 * 1024),
        _query("nvidia-smi-query", limit=20),
        _command("nvidia-smi-wsl", "/usr/lib/wsl/lib/nvidia-smi", "-L", limit=20),
        _query("nvidia-smi-query-old", fields=_OLD_FIELDS, limit=20, if_failed="nvidia-smi-query"),
        _query(
            "nvidia-smi-gpu-{gpu_index}",
            "-i",
            "{gpu_index}",
            limit=20,
            each="gpu_index",
            if_failed="nvidia-smi-query",
        ),
        _command("ldconfig", "ldconfig", "-p", lines="nvidia|libcuda|libcudnn"),
    ]


def _packages(name: str, patterns: tuple[str, ...], without: str = "$^") -> Spec:
    script = (
        "if command -v dpkg-query >/dev/null; then"
        " dpkg-query -W -f='${Package} ${Version} ${db:Status-Status}\\n' \"$@\" 2>/dev/null;"
        " else rpm -qa --qf '%{NAME} %{VERSION}-%{RELEASE} installed\\n' \"$@\"; fi"
    )
    # dpkg also lists what it merely knows of.
    lines = rf"^(?!{without}).* (?!not-installed)\S+$"
    return _shell(name, script, *patterns, lines=lines, needs_any=["dpkg-query", "rpm"])


def _engine_commands() -> list[Spec]:
    inspect = (
        '{"id":{{json .Id}},"name":{{json .Name}},"image":{{json .Config.Image}},'
        '"labels":{{json .Config.Labels}},"runtime":{{json .HostConfig.Runtime}},'
        '"device_requests":{{json .HostConfig.DeviceRequests}},"devices":{{json .HostConfig.Devices}}}'
    )
    listing = 'ids=$(docker ps -q --no-trunc) || exit; [ -z "$ids" ] || docker inspect --format "$1" $ids'
    show = f"--property={_UNIT_PROPERTIES}"
    return [
        _command("systemd-state", "systemctl", "is-system-running"),
        _command("docker-unit", "systemctl", "cat", "docker"),
        _command("docker-show", "systemctl", "show", "docker", show),
        _command(
            "docker-log",
            "journalctl",
            *("-u", "docker", "-n", "200", "-o", "cat", "--no-pager"),
            lines="failed|unable|fatal",
            size=16384,
        ),
        _command("docker-socket-show", "systemctl", "show", "docker.socket", show),
        _command("fabricmanager-unit", "systemctl", "show", "nvidia-fabricmanager", show),
        _command(
            "fabricmanager-log",
            *("journalctl", "-b", "-u", "nvidia-fabricmanager", "-o", "cat", "-n", "30", "--no-pager"),
        ),
        _docker("docker-version", "version", "--format", "{{json .}}"),
        _docker("docker-info", "info", "--format", "{{json .}}"),
        _docker("docker-context", "context", "ls", "--format", "{{json .}}"),
        _docker("compose-version", "compose", "version", "--short"),
        _docker("image-inspect", "image", "inspect", "{image}"),
        _shell("docker-ps", listing, inspect, engine=True, needs=["docker"]),
        _shell("image-layers", LAYERS, engine=True, needs=["docker"], size=262144),
        _python("python3"),
        _python("python", if_failed="image-python3"),
        _run("run-none"),
        _run("run-gpus-all", gpus="all"),
        _run("run-gpus-first", gpus=["0"]),
        _run("run-runtime", nvidia="all"),
        _run("run-runtime-first", nvidia="0"),
        _run("run-cdi", cdi="all"),
        _run("run-cdi-first", cdi=["0"]),
    ]


# What drivers of before 2022 do not know is left out.
_OLD_FIELDS = tuple(field for field in QUERY_FIELDS if field != "compute_cap")


def _machine_commands() -> list[Spec]:
    processes = (
        'for pid; do ps -o pid=,user=,args= -p "$pid";'
        ' sed "s/^/$pid cgroup /" "/proc/$pid/cgroup"; done; true'
    )
    held = "if command -v apt-mark >/dev/null; then apt-mark showhold; else dnf -q versionlock list; fi"
    drivers = ("nvidia-*", "libnvidia-*", "libcuda1", "cuda-drivers*", "linux-modules-nvidia-*")
    return [
        _command("uname", "uname", "-a"),
        _shell("modinfo-nvidia", MODINFO, needs=["modinfo"]),
        _shell("modinfo-newest", NEWEST, needs=["modinfo"]),
        _command("dkms-status", "dkms", "status"),
        _command("mokutil-sb", "mokutil", "--sb-state"),
        _command("dmesg-nvidia", "dmesg", lines=KERNEL_LINES, size=65536),
        _command(
            "journal-nvidia",
            *("journalctl", "-k", "-b", "--no-pager", "-o", "short"),
            lines=KERNEL_LINES,
            size=65536,
            if_failed="dmesg-nvidia",
        ),
        _command(
            "modules-load",
            *("journalctl", "-b", "-u", "systemd-modules-load", "-o", "cat", "-n", "50", "--no-pager"),
            lines="(?i)nvidia",
        ),
        _shell("pci-config", PCI_CONFIG),
        _shell("package-locks", LOCKS),
        _command("cloud-init-status", "cloud-init", "status", "--long"),
        _command("nvidia-ctk-version", "nvidia-ctk", "--version"),
        _command("nvidia-cdi-list", "nvidia-ctk", "cdi", "list"),
        _packages("toolkit-packages", (*PACKAGES, *OBSOLETE)),
        _packages("driver-packages", drivers, without="(lib)?nvidia-container"),
        _command("dpkg-audit", "dpkg", "--audit"),
        _command("apt-policy", "apt-cache", "policy", *_APT),
        _shell("held-packages", held, needs_any=["apt-mark", "dnf"]),
        _shell("gpu-processes", processes, "{gpu_pids}", needs=["ps"]),
    ]


def _probe(name: str) -> str:
    return Path(__file__).with_name(f"{name}_probe.py").read_text(encoding="utf-8")


def _probes() -> list[Spec]:
    """List the programs that ask CUDA and torch; ``{python}`` is the one that runs the recorder."""
    torch = _probe("torch")
    return [
        _command("nvidia-smi-topo", "nvidia-smi", "topo", "-m", limit=20),
        _command("cuda", "{python}", "-c", _probe("cuda"), limit=30),
        _command("torch", "{python}", "-c", torch, limit=50),
        _command("torch-clean", "{python}", "-c", torch, "clean", limit=50),
        _command("python-packages", "{python}", "-c", _probe("packages"), limit=50),
        _command("torch-peers", "{python}", "-c", _LOADER, _probe("peers"), limit=55),
    ]


def manifest(where: Where) -> dict[str, Any]:
    """Return the manifest of a host's recording, or of one taken inside a container."""
    if where == "container":
        content: dict[str, Any] = {
            "files": list(_BOTH_FILES),
            "globs": list(_CONTAINER_GLOBS),
            "commands": [*_smi_commands(), *_probes()],
            "disks": ["/", "/dev/shm"],  # noqa: S108  # looked at, not written to
        }
    else:
        content = {
            "files": list(_HOST_FILES),
            "globs": list(_HOST_GLOBS),
            "links": list(_LINKS),
            "paths": list(_PATHS),
            "commands": [*_smi_commands(), *_machine_commands(), *_engine_commands()],
            "disks": list(_DISKS),
        }
    return {"schema": 1, "where": where, "deadline": DEADLINE_S, "env": list(_ENV), **content}


_USAGE = (
    "nvidia-smi-list",
    "nvidia-smi-query",
    "nvidia-smi-xml",
    "gpu-processes",
    "docker-ps",
    "dmesg-nvidia",
    "journal-nvidia",
)
_USAGE_DEADLINE_S = 20


def usage_manifest() -> dict[str, Any]:
    """Return the part of a host's manifest that says how its cards are used: no container is started."""
    whole = manifest("host")
    commands = [command for command in whole["commands"] if command["name"] in _USAGE]
    return {"schema": 1, "where": "host", "deadline": _USAGE_DEADLINE_S, "commands": commands}


def recorder_source() -> str:
    """Return the recorder's text, to be piped to a python3."""
    return Path(__file__).with_name("recorder.py").read_text(encoding="utf-8")


def recorder_argv(
    where: Where,
    image: str | None = None,
    name: str | None = None,
    content: dict[str, Any] | None = None,
    python: str = "python3",
) -> list[str]:
    """Return what runs on the target with the recorder on its standard input.

    ``name`` is the container's, ``python`` the program in its image.
    """
    text = json.dumps(content or manifest(where), separators=(",", ":"))
    if where == "host":
        return ["python3", "-", text, *([f"image={image}"] if image else [])]
    if image is None:
        raise ValueError("a container recording needs an image")
    run = docker_run(image, [python, "-", text], gpus="all", interactive=True, name=name)
    return unless_asleep(run)

"""What the daemon's and the hooks' error texts mean, and the next command. The first that fits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cause:
    """One meaning. ``because`` are the checks that find the same on the host: they are to be blamed."""

    id: str
    texts: tuple[str, ...]
    meaning: str
    remedy: str
    because: tuple[str, ...] = ()


_SPECS = ("toolkit.cdi-spec", "runtime.cdi-enabled")

CAUSES = (
    Cause(
        "disk-full",
        ("no space left on device",),
        "the disk that holds Docker's data is full",
        "df -h /var/lib/docker; df -i /var/lib/docker; docker system df",
        ("engine.disk",),
    ),
    Cause(
        "cdi-off",
        ('could not select device driver "cdi"',),
        "this engine does not give CDI devices",
        'add "cdi": true to "features" in /etc/docker/daemon.json, then: systemctl restart docker',
        ("runtime.cdi-enabled",),
    ),
    Cause(
        "gpus-quoting",
        ("cannot set both Count and DeviceIDs",),
        "several cards were named to --gpus without inner quotes: a comma ends the value for docker",
        "--gpus '\"device=0,1\"'  # the quotes must reach docker; or: --runtime=nvidia "
        "-e NVIDIA_VISIBLE_DEVICES=0,1",
    ),
    Cause(
        "no-device-driver",
        ("could not select device driver", "no known GPU vendor found"),
        "the daemon knows nobody who gives cards",
        "systemctl restart docker",
        ("engine.kind", "toolkit.installed"),
    ),
    Cause(
        "no-runtime",
        ("unknown or invalid runtime name", "Unknown runtime specified"),
        "the daemon does not know the runtime nvidia",
        "nvidia-ctk runtime configure --runtime=docker && systemctl restart docker",
        ("engine.kind", "runtime.in-daemon"),
    ),
    Cause(
        "hook-refused",
        ("invoking the NVIDIA Container Runtime Hook directly",),
        "the toolkit's mode does not allow --gpus, it wants --runtime=nvidia",
        "nvidia-ctk config --in-place --set nvidia-container-runtime.mode=auto",
        ("runtime.mode",),
    ),
    Cause(
        "requirement",
        ("unsatisfied condition",),
        "the image asks for a newer CUDA than the driver offers",
        "use an older image, or install a newer driver",
        ("image.requirement",),
    ),
    Cause(
        "driver-not-loaded",
        ("nvml error: driver not loaded", "Driver Not Loaded"),
        "the driver is not loaded",
        "modprobe nvidia",
        ("module.loaded", "driver.answers"),
    ),
    Cause(
        "no-library",
        ("libnvidia-ml.so.1: cannot open",),
        "the toolkit does not find the driver's libraries: they are missing, or the loader's cache is stale",
        "ldconfig && ldconfig -p | grep libnvidia-ml  # nothing? Install the driver's compute libraries",
        ("driver.answers",),
    ),
    Cause(
        "rpc-timeout",
        ("driver rpc error: timed out",),
        "the driver was too slow to answer: without persistence each start wakes every card",
        "systemctl enable --now nvidia-persistenced  # or: nvidia-smi -pm 1; after a hibernation: reboot",
        ("driver.answers",),
    ),
    Cause(
        "rpc-failed",
        ("driver rpc error",),
        "the driver could not serve the toolkit's request: a fault of the driver, not of Docker",
        "dmesg | grep -i -e nvrm -e xid | tail; then reboot",
        ("driver.answers",),
    ),
    Cause(
        "cuda-fault",
        ("initialization error: cuda error",),
        "CUDA cannot be started on the host itself",
        "modprobe -r nvidia_uvm && modprobe nvidia_uvm  # in use, or still so? Reboot",
        ("driver.answers",),
    ),
    Cause(
        "device-rules",
        ("failed to add device rules", "devices.allow: permission denied", "BPF_CGROUP_DEVICE"),
        "the toolkit may not set the device rules of containers, as in rootless Docker",
        "nvidia-ctk config --in-place --set nvidia-container-cli.no-cgroups=true  # rootless Docker only",
        ("runtime.no-cgroups",),
    ),
    Cause(
        "persistenced",
        ("nvidia-persistenced/socket",),
        "the socket of nvidia-persistenced is gone: it stopped after the CDI specification was made, or with "
        "an upgrade of the driver",
        "systemctl restart nvidia-persistenced nvidia-cdi-refresh",
        ("toolkit.cdi-spec",),
    ),
    Cause(
        "cdi-unresolved",
        (
            "unresolvable CDI devices",
            "failed to stat CDI host device",
            "CDI device injection failed",
            "stat nvidia.com/gpu=",
        ),
        "the CDI specification does not describe this card, or names a file that is gone",
        "systemctl restart nvidia-cdi-refresh && nvidia-ctk cdi list",
        _SPECS,
    ),
    Cause(
        "no-cdi-hook",
        ("nvidia-cdi-hook: no such file",),
        "nvidia-cdi-hook is missing",
        "apt-get install --reinstall nvidia-container-toolkit-base",
    ),
    Cause(
        "no-cli",
        ("couldn't find binary nvidia-container-cli",),
        "nvidia-container-cli is missing",
        "apt-get install --reinstall libnvidia-container-tools",
    ),
    Cause(
        "no-runtime-program",
        (
            'nvidia-container-runtime": executable file not found',
            "nvidia-container-runtime: executable file not found",
        ),
        "the registered runtime's program is missing",
        "apt-get install --reinstall nvidia-container-toolkit",
    ),
    Cause(
        "toolkit-config",
        ("nvidia-container-runtime did not terminate successfully",),
        "the toolkit's runtime failed before it started the container, often by its own configuration",
        "nvidia-container-runtime --version; less /etc/nvidia-container-runtime/config.toml",
        ("runtime.no-cgroups", "runtime.mode"),
    ),
    Cause(
        "stale-library",
        ("error mounting",),
        "a library of the driver is missing on the host",
        "nvidia-smi  # on the host; then: ldconfig; systemctl restart nvidia-cdi-refresh",
        ("toolkit.cdi-spec",),
    ),
    Cause(
        "card-forbidden",
        ("Failed to initialize NVML",),
        "the container has the library and may not use the card",
        "look for no-cgroups = true in /etc/nvidia-container-runtime/config.toml",
        ("runtime.no-cgroups",),
    ),
)


def cause(said: str) -> Cause | None:
    """Return the meaning of an error text and the next command; None where it is not known."""
    return next((one for one in CAUSES if any(text in said for text in one.texts)), None)

"""Which names belong to the trade or to the public, and so identify nobody."""

from __future__ import annotations

import json
import re
from functools import cache

from verify.manifest import manifest

# Names under these are the public's: a distribution's, a vendor's, a registry's.
_PUBLIC_HOST = re.compile(
    r"(?:^|\.)(?:(?:almalinux|anaconda|archlinux|centos|debian|fedoraproject|freedesktop|gnu|golang|kernel"
    r"|opencontainers|opensuse|pypi|python|pythonhosted|pytorch|rockylinux|x)\.org"
    r"|(?:anaconda|canonical|docker|github|google|microsoft|nvidia|redhat|ubuntu)\.com"
    r"|(?:conda|docker|gcr|ghcr|github|k8s|kubernetes|quay)\.io|nvcr\.io|huggingface\.co"
    r"|(?:launchpad|launchpadcontent)\.net)$",
    re.IGNORECASE,
)
_LOCAL = frozenset({"localhost", "localhost.localdomain", "localhost4", "localhost6", "ip6-localhost"})
# Accounts that systems and clouds make: everybody has them.
_KEPT_USERS_TEXT = (
    "adm admin administrator almalinux azureuser bin centos cloud-user containerd daemon data debian "
    "docker dockremap ec2-user fedora gdm gdm3 guest jovyan kubelet lightdm linuxbrew messagebus mysql "
    "nginx nobody node nvidia-+ nvidia-persistenced ollama opc opensuse operator postgres public redis "
    "rhel rocky root runner sddm shared slurm sys syslog systemd-network ubuntu user users vagrant www- "
    "data xrdp"
)
KEPT_USERS = frozenset(_KEPT_USERS_TEXT.split())
# The vocabulary of the texts that a recording holds, beside what the manifest itself names.
_TRADE_TEXT = (
    "aarch64 active added amd amd64 any apt arch arm64 available base blocked board boot branch brand "
    "bridge build built bus busy candidate card cards cdi cgroup class client clocks cloud cluster code "
    "command compute config container containers context core count cpu cuda current current_link daemon "
    "dead deb debian default desktop device devices disabled disk display dkms dmesg dnf dockerd driver "
    "dumb ecc efi enabled engine enter entry env error exit exited fabric failed false fatal fault fedora "
    "file filter firmware foreign format free full gateway geforce generic gpu gpus graphics group gsp "
    "guest half hash header headers held help hold home hook host hosts hwe image inactive index info "
    "init inside installed instance intel internal ipc json kernel lab label lib library license limit "
    "line linux list listening live load loaded local lock log login logs low lts machine main major "
    "manager master max mem memory message minor mirror missing mode model module modules mount name "
    "network new nodes none normal nouveau null number nvidia nvlink nvswitch off old open openssl option "
    "options output overlay2 package packages path pci peer pending persistence platform plugin podman "
    "policy pool port power private process product profile python python3 quadro query ready reboot "
    "rebooted release remote removed repo repository rescue reset resource restart result rev rocky "
    "rootless rtx run runc running runs runtime runtimes scope secure security server service session "
    "shim signed simulated slice smi snap socket source stable state static status stdout stopped storage "
    "swarm system systemd temp tesla test timeout titan toolkit total trixie true type ubuntu unit "
    "unknown unused update updates used utility vendor version versions video volume warning wayland "
    "worker workstation wsl x86 x86_64 xid xml xorg zone"
)
_TRADE = frozenset(_TRADE_TEXT.split())
# A100, H200, L40S, RTX4090: a host of that name says what is in it, and the driver says the same.
_CARD = re.compile(
    r"(?:[abhklmptv]\d{1,3}[a-z]{0,2}|g[bh]\d{2,3}|[rg]tx\w*|dgx\w*|hgx\w*|sm_?\d+[a-z]?|cu\d+)$"
)
_SHORTEST = 3


def is_word(name: str) -> bool:
    """Whether a name is also a word that stands elsewhere in a recording with its own meaning."""
    low = name.lower()
    parts = re.split(r"[^a-z0-9]+", low)
    return (
        len(low) < _SHORTEST
        or low.replace(".", "").isdigit()
        or _CARD.match(low) is not None
        or low in _TRADE
        or low in KEPT_USERS
        or low in _manifest_words()
        or all(part in _TRADE or part in _manifest_words() for part in parts)
    )


@cache
def _manifest_words() -> frozenset[str]:
    return frozenset(
        re.findall(r"[a-z][a-z0-9_]*", json.dumps([manifest("host"), manifest("container")]).lower())
    )


def is_private_host(host: str) -> bool:
    """Whether a host's name is somebody's own."""
    low = host.lower().rstrip(".")
    if not low or low in _LOCAL or low.endswith(".invalid") or _PUBLIC_HOST.search(low):
        return False
    return re.fullmatch(r"[\d.]+", low) is None

"""Ansible filter: how the inventory's hosts are reached, for tools beside Ansible: ssh_config, sudo."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

# Variables by the option that they stand for; the first one that is set counts, as in Ansible.
VARIABLES = (
    ("HostName", ("ansible_ssh_host", "ansible_host")),
    ("Port", ("ansible_ssh_port", "ansible_port")),
    ("User", ("ansible_ssh_user", "ansible_user")),
    ("IdentityFile", ("ansible_ssh_private_key_file", "ansible_private_key_file")),
)
ARGUMENTS = ("ansible_ssh_args", "ansible_ssh_common_args", "ansible_ssh_extra_args")
CHECKING = ("ansible_ssh_host_key_checking", "ansible_host_key_checking")
BECOME = ("ansible_become_password", "ansible_become_pass", "ansible_sudo_password", "ansible_sudo_pass")
# ssh's own short options.
WITH_VALUE = {
    "-J": "ProxyJump",
    "-i": "IdentityFile",
    "-p": "Port",
    "-l": "User",
    "-F": "Include",
    "-b": "BindAddress",
    "-B": "BindInterface",
    "-c": "Ciphers",
    "-m": "MACs",
    "-S": "ControlPath",
    "-I": "PKCS11Provider",
}
ALONE = {
    "-4": ("AddressFamily", "inet"),
    "-6": ("AddressFamily", "inet6"),
    "-A": ("ForwardAgent", "yes"),
    "-a": ("ForwardAgent", "no"),
    "-C": ("Compression", "yes"),
    "-q": ("LogLevel", "QUIET"),
    "-T": ("RequestTTY", "no"),
}
# As ssh reads them: the rest of the line, spaces and quotes included.
WHOLE_LINE = {"proxycommand", "localcommand", "remotecommand", "knownhostscommand"}


def ssh_options(variables: Any, fallback: dict[str, Any] | None = None) -> list[str]:
    """Return the lines below a host's Host line; fallback has options for hosts that set none."""
    lines = []
    for option, names in VARIABLES:
        value = next((variables[name] for name in names if name in variables), None)
        value = value if value not in (None, "") else (fallback or {}).get(option)
        if value not in (None, ""):
            lines.append(line(option, value))
    for name in ARGUMENTS:
        # Ansible's own variables of a host are a mapping without get.
        given = variables[name] if name in variables else None  # noqa: SIM401
        if given:
            lines += arguments(str(given))
    for name in CHECKING:
        if name in variables and str(variables[name]).lower() in ("false", "no", "0"):
            lines.append("StrictHostKeyChecking no")
            break
    return lines


def line(option: str, value: Any) -> str:
    """Write one option; a value with spaces is quoted where ssh would cut it there."""
    text = " ".join(str(value).splitlines())
    cut = " " in text and not text.startswith('"') and option.lower() not in WHOLE_LINE
    return f'{option} "{text}"' if cut else f"{option} {text}"


def arguments(text: str) -> list[str]:
    """Turn command-line arguments of ssh into lines; what has no line is kept as a comment."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        return [f"# cannot be read ({error}): {' '.join(text.splitlines())}"]
    lines = []
    while words:
        word = words.pop(0)
        short, rest = word[:2], word[2:]
        if short == "-o" or short in WITH_VALUE:
            value = rest or (words.pop(0) if words else "")
            lines.append(assigned(value) if short == "-o" else line(WITH_VALUE[short], value))
        elif word in ALONE:
            lines.append(line(*ALONE[word]))
        elif not word.startswith("-v"):
            lines.append(f"# has no line in an ssh_config: {' '.join(word.splitlines())}")
    return lines


def assigned(text: str) -> str:
    """Turn -o's Key=Value or Key Value into a line."""
    option, _, value = text.strip().replace("=", " ", 1).partition(" ")
    value = value.strip()
    # Given as it would stand in the file: quoted by the user where that is needed.
    return f"{option} {' '.join(value.splitlines())}"


def ways(hostvars: Any, names: list[str], fallback: dict[str, Any]) -> dict[str, Any]:
    """Return hosts (as testinfra takes them), ssh (lines by host) and passwords (for sudo, by host)."""
    file = fallback.get("password_file")
    asked = Path(file).expanduser().read_text(encoding="utf-8").rstrip("\n") if file else None
    found: dict[str, Any] = {"hosts": [], "ssh": {}, "passwords": {}}
    for name in names:
        variables = hostvars[name]
        local = "ansible_connection" in variables and variables["ansible_connection"] == "local"
        # Root needs no sudo, and may have none.
        user = next(
            (str(variables[key]) for key in VARIABLES[2][1] if key in variables), fallback.get("User")
        )
        root = str(fallback.get("here_uid")) == "0" if local else user == "root"
        found["hosts"].append(f"{'here' if local else 'ssh'}://{name}" + ("" if root else "?sudo=true"))
        # Such a file of the user's has all that is needed, and is included whole.
        if not local and "gpu_verify_ssh_config" not in variables:
            found["ssh"][name] = ssh_options(variables, fallback)
        password = next((str(variables[key]) for key in BECOME if key in variables), asked)
        if password and not root:
            found["passwords"][name] = password
    return found


class FilterModule:
    """The filter, by name."""

    def filters(self) -> dict[str, Any]:
        """Return it."""
        return {"gpu_host_ways": ways}

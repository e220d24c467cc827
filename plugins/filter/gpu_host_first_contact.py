"""Ansible filter: why Ansible's modules do not run on a host, and how Python gets there. Pure."""

from __future__ import annotations

import re
from typing import Any

# Asked over the bare connection, in words that every shell knows. Nothing is changed by it.
QUESTION = """
echo uid=$(id -u); echo user=$(id -un)
for name in apt-get dnf microdnf yum sudo; do command -v $name > /dev/null 2>&1 && echo has=$name; done
python3 -c 'import sys; print("python=%d.%d" % sys.version_info[:2])' 2> /dev/null
if command -v sudo > /dev/null 2>&1; then
  said=$(LC_ALL=C sudo -n true 2>&1) && echo sudo=yes || echo "sudo=$said"
fi
true
"""
# python3-apt: Ansible's own apt module needs it, and in a dry run does not install it.
INSTALLS = {
    "apt-get": (
        "DEBIAN_FRONTEND=noninteractive; export DEBIAN_FRONTEND; apt-get -o DPkg::Lock::Timeout=300 -q "
        "install -y --no-install-recommends python3 python3-apt || { apt-get -q update && apt-get -o "
        "DPkg::Lock::Timeout=300 -q install -y --no-install-recommends python3 python3-apt; }"
    ),
    "dnf": "dnf -y install python3",
    "microdnf": "microdnf -y install python3",
    "yum": "yum -y install python3",
}
NOT_FOUND = re.compile(r"not found|no such file or directory|No such file or directory", re.IGNORECASE)
# Ansible's own words and sudo's, where a command could not be run as root.
NO_ROOT = re.compile(
    r"(Missing|Incorrect|Duplicate) \w+ password|a password is required|waiting for (become|privilege)|"
    r"incorrect password attempt|Sorry, try again|no password was provided|"
    r"sudo: (not found|command not found)|sudoers|sudo: sorry|is not allowed to (run sudo|execute)|"
    r"no new privileges|Timeout .*(become|privilege|escalation)",
    re.IGNORECASE,
)


def first_contact(answer: str, failure: dict[str, Any], interpreter: str | None = None) -> dict[str, str]:
    """Return reason (a sentence, or empty), install (a shell command, or empty) and its package manager."""
    lines = [line.strip().partition("=") for line in str(answer).splitlines() if "=" in line]
    said = {key: value for key, _, value in lines if key != "has"}
    has = [value for key, _, value in lines if key == "has"]
    words = " ".join(
        str(failure.get(key) or "") for key in ("msg", "module_stderr", "module_stdout", "stderr")
    )
    no_root = bool(NO_ROOT.search(words))
    result = {"reason": "", "install": "", "manager": "", "packages": ""}
    if not said.get("uid"):
        return {**result, "reason": one_line(words) or "The host gave no answer that can be read."}
    if said["uid"] != "0" and (no_root or not said.get("sudo")):
        return {**result, "reason": rootless(said, words)}
    if "python" in said:
        wrong = interpreter and interpreter.startswith("/") and NOT_FOUND.search(words)
        return {**result, "reason": wrong_interpreter(interpreter, said) if wrong else one_line(words)}
    manager = next((name for name in INSTALLS if name in has), "")
    if not manager:
        reason = (
            "There is no Python on this host, and no package manager that these roles know (apt-get or "
            "dnf). Needed is Python 3.9 or newer. Install it in the way of that system, or leave this "
            "host out of the inventory."
        )
        return {**result, "reason": reason}
    packages = "python3, python3-apt" if manager == "apt-get" else "python3"
    return {**result, "install": INSTALLS[manager], "manager": manager, "packages": packages}


def rootless(said: dict[str, str], words: str) -> str:
    """Say why nothing can be done as root."""
    user = said.get("user") or "the user"
    if "sudo" not in said:
        return (
            f"The user {user} is not root, and there is no sudo on this host. Needed is a way to root: "
            f"install sudo and give {user} leave, set ansible_become_method: su with its password, or "
            "connect as root (ansible_user: root)."
        )
    if re.search(r"Incorrect \w+ password|incorrect password attempt|Sorry, try again", words):
        return (
            f"sudo does not take the password that was given for {user}. Needed is the right one: correct "
            "ansible_become_password (Ansible Vault keeps it)."
        )
    if re.search(r"sudoers|not allowed|may not run", said["sudo"] + words):
        return (
            f"The user {user} may not use sudo on this host. Needed is a way to root: add {user} to the "
            "group sudo (or wheel), or connect as another user (ansible_user)."
        )
    return (
        f"sudo asks for {user}'s password, and none was given. Needed is one of: ansible_become_password "
        "for this host (Ansible Vault keeps it), ANSIBLE_BECOME_ASK_PASS=1 in front of the command, which "
        f"then asks for it, or a line in /etc/sudoers.d that lets {user} in without (NOPASSWD)."
    )


def wrong_interpreter(interpreter: str | None, said: dict[str, str]) -> str:
    return (
        f"ansible_python_interpreter is {interpreter}, which is not on this host; its python3 is "
        f"{said['python']}. Needed is a Python of the host's own: take that setting out of the inventory "
        "(and ANSIBLE_PYTHON_INTERPRETER out of the environment), and Ansible finds it."
    )


def one_line(words: str) -> str:
    """Return Ansible's own message on one line, without the words that it puts before every one."""
    return " ".join(words.replace("Task failed: ", "").split())[:600]


class FilterModule:
    """The filters, by name."""

    def filters(self) -> dict[str, Any]:
        """Return them."""
        return {"gpu_host_first_contact": first_contact, "gpu_host_first_question": lambda _: QUESTION}

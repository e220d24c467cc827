"""What a login changes on the host: a CA for Docker, an entry in config.json; noted before it is written."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pwd
from pathlib import Path

from .gpu_host_daemon_files import temporary
from .gpu_host_daemon_json import dump, indent_of
from .gpu_host_docker_config import entry as credentials
from .gpu_host_docker_config import mark, parse, put, refuse_helper, same
from .gpu_host_owned_file import load, save, write_file
from .gpu_host_ownership import claim, entry
from .gpu_host_refused import RefusedError
from .gpu_host_registry_names import basic, host_of, key_of

PRIVATE, PUBLIC = 0o600, 0o644


@contextlib.contextmanager
def acting(uid, gid):
    """Be the user while the user's files are read and written: their links lead only where they may go."""
    mine = (os.geteuid(), os.getegid())
    if mine[0] != 0 or uid == 0:
        yield
        return
    os.setegid(gid)
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(mine[0])
        os.setegid(mine[1])


def content(path):
    """Return a file's bytes, None where there is none."""
    if path.is_dir():
        raise RefusedError(
            "config", f"{path} is a directory; needed is a file, or nothing. Remove it, and run again."
        )
    return path.read_bytes() if path.exists() else None


def mode(path):
    return path.stat().st_mode & 0o777


def digest(data):
    return hashlib.sha256(data).hexdigest()


def lacking(folder):
    """Return the folders that have to be made, outermost first."""
    found = []
    while not folder.exists():
        found.insert(0, str(folder))
        folder = folder.parent
    return found


def put_file(path, data):
    """Write the user's file whole or not at all, readable by the user alone."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    Path(temporary(data, str(path.parent))).replace(path)  # a temporary file is 0600 from the start


class Login:
    """One login: what is there, what is to come, whether that differs."""

    def __init__(self, module):
        given = module.params
        self.module, self.registry, self.key = module, given["registry"], key_of(given["registry"])
        try:
            found = pwd.getpwnam(given["user"])
        except KeyError as error:
            raise RefusedError(
                "user",
                f"There is no user {given['user']} on this host; needed is the one whose Docker logs in. "
                "Correct registry_login_user, or make the user first. Nothing was changed.",
            ) from error
        self.uid, self.gid = found.pw_uid, found.pw_gid
        self.owned_path = Path(given["owned"])
        self.owned = load(module, self.owned_path)
        self.noted = entry(self.owned, given["role"])["settings"].get("registries", {}).get(self.registry, {})
        self.auth = basic(given["username"], given["password"])
        self.ca, self.notes = given["ca"].encode(), []
        self.ca_path = Path(given["certs"], host_of(self.registry), "ca.crt")
        with acting(self.uid, self.gid):
            # A link stays a link: what it leads to is changed.
            self.path = Path(os.path.realpath(Path(found.pw_dir, ".docker/config.json")))
            self.before = content(self.path)
            self.document = parse(self.before, str(self.path))
            self.open = self.before is not None and mode(self.path) != PRIVATE
        self.ca_before = content(self.ca_path) if self.ca else None
        self.new_auth = not same(self.document, self.key, self.auth)
        self.new_ca = bool(self.ca) and self.ca_before != self.ca
        self.ca_mode = bool(self.ca) and not self.new_ca and mode(self.ca_path) != PUBLIC

    @property
    def asks(self):
        """Whether the registry has to be asked: what it has taken once is not asked again."""
        return self.new_auth or self.new_ca

    @property
    def due(self):
        """Whether anything is to be changed."""
        return self.asks or self.open or self.ca_mode

    def refuse(self):
        """Refuse what nobody would read, and what somebody else put there."""
        refuse_helper(self.document, str(self.path), self.key)
        if self.new_ca and self.ca_before is not None and digest(self.ca_before) != self.noted.get("ca"):
            raise RefusedError(
                "ca_file",
                f"{self.ca_path} is there and is another certificate than that of registry_login_ca_file; "
                "needed is one of the two. Remove it, or leave registry_login_ca_file empty where it is the "
                "right one, and run again. Nothing was changed.",
            )
        if self.new_auth and credentials(self.document, self.key) is not None and not self.noted.get("mark"):
            self.notes.append(
                f"{self.path} had other credentials of {self.registry}: replaced, and kept in a copy beside "
                "it; registry_login_state: absent puts them back."
            )

    def write(self):
        """Note, then write; return the name of the copy of the file that was there."""
        # A file in which everything is ours needs no copy.
        ours = entry(self.owned, self.module.params["role"])["files"]
        backup = None
        if self.before is not None and self.new_auth and str(self.path) not in ours:
            with acting(self.uid, self.gid):
                backup = self.module.backup_local(str(self.path))
                Path(backup).chmod(PRIVATE)
        self.note(backup)
        if self.new_ca or self.ca_mode:
            self.ca_path.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
            write_file(self.module, self.ca_path, self.ca, PUBLIC)
        if self.new_auth:
            after = put(self.document, self.key, {"auth": self.auth})
            with acting(self.uid, self.gid):
                put_file(self.path, dump(after, indent_of(self.before) if self.before else "\t"))
        elif self.open:
            with acting(self.uid, self.gid):
                self.path.chmod(PRIVATE)
        return backup

    def note(self, backup):
        """Note what will be ours, before anything of it is written."""
        role, noted = self.module.params["role"], dict(self.noted)
        made = lacking(self.path.parent) if self.new_auth else []
        made += lacking(self.ca_path.parent) if self.new_ca else []
        files = [str(self.path)] if self.new_auth and self.before is None else []
        files += [str(self.ca_path)] if self.new_ca and self.ca_before is None else []
        if self.new_ca:
            noted |= {"ca": digest(self.ca), "ca_path": str(self.ca_path)}
        settings = entry(self.owned, role)["settings"]
        registries = settings.get("registries", {})
        if self.new_auth:
            first = not noted.get("mark")
            noted |= {"config": str(self.path), "key": self.key, "mark": mark(self.auth)}
            if first:
                # An earlier login of ours may have made the object that this one finds.
                ours = [other for other in registries.values() if other.get("config") == str(self.path)]
                made_it = "auths" not in self.document or any(other["made"] for other in ours)
                noted |= {"made": made_it, "before": backup}
        if not (self.new_auth or self.new_ca):
            return
        noted["copies"] = [*noted.get("copies", []), *([backup] if backup else [])]
        more = {
            "registries": {**registries, self.registry: noted},
            "folders": [*settings.get("folders", []), *made],
        }
        save(self.module, self.owned_path, claim(self.owned, role, {"files": files}, more))

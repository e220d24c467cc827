"""The files of one repository on this host: key, source, and other entries for the same, put aside."""

from __future__ import annotations

import hashlib
from pathlib import Path

from .gpu_host_aside import put_aside, put_back
from .gpu_host_keyring_file import Keyring
from .gpu_host_owned_file import load, save, write_file
from .gpu_host_ownership import claim, entry
from .gpu_host_rpm_keys import forget

ARGUMENTS = {
    "role": {"type": "str", "required": True},
    "name": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "url": {"type": "str", "default": ""},
    "suite": {"type": "str", "default": "/"},
    "components": {"type": "list", "elements": "str", "default": []},
    "key_url": {"type": "str", "default": "", "no_log": False},
    "fingerprint": {"type": "str", "default": "", "no_log": False},
    "key_sha256": {"type": "str", "default": "", "no_log": False},
    "same_as": {"type": "list", "elements": "str", "default": []},
    "options": {"type": "dict", "default": {}},
    "proxy": {"type": "str", "default": "", "no_log": True},
    "ca_file": {"type": "str", "default": ""},
    "path": {"type": "path", "default": "/var/lib/gpu-host/owned.json"},
    "root": {"type": "path", "default": "/"},
}


class Files:
    """What apt's and dnf's repositories have in common."""

    armour = False

    def __init__(self, module):
        self.module, self.given = module, module.params
        self.root = Path(self.given["root"])
        self.owned_path = Path(self.given["path"])
        self.owned = load(module, self.owned_path)
        self.mine = entry(self.owned, self.given["role"])
        self.names()

    def keyring(self):
        """Return the key that is needed; one that was taken by its sum before is known by its fingerprint."""
        noted = self.mine["settings"].get("keys", {}).get(str(self.key), {})
        same = noted.get("sha256") == self.given["key_sha256"].lower() != ""
        fingerprint = noted.get("fingerprint", "") if same else ""
        return Keyring(self.given, self.key, fingerprint, armour=self.armour)

    def current(self):
        """Return our source file as it is; empty where it is not there."""
        return self.file.read_text(encoding="utf-8", errors="replace") if self.file.is_file() else ""

    def differs(self):
        """Tell whether our source file is not as it should be."""
        return not self.file.is_file() or self.current() != self.text

    def same(self):
        """Return the addresses whose entries are duplicates of ours."""
        # Below a mirror's own address lies what else it mirrors, the user's system perhaps.
        return [*self.given["same_as"], f"={self.given['url']}"]

    def bring(self, found, ring):
        """Copy and note first; only then is anything taken away or written."""
        wanted = {self.file: self.text.encode()}
        if ring.fresh is not None:
            wanted[self.key] = ring.fresh
        after = {
            **{path: text and text.encode("utf-8", "surrogateescape") for path, text in found.items()},
            **wanted,
        }
        theirs = [path for path in wanted if path.is_file() and str(path) not in self.mine["files"]]
        settings = self.mine["settings"]
        known = settings.get("moved", {})
        moved = put_aside(
            self.module,
            self.owned_path.with_name("moved"),
            [path for path in [*found, *theirs] if str(path) not in known],
        )
        left = {str(path): hashlib.sha256(text).hexdigest() for path, text in after.items() if text}
        settings["moved"] = {**moved, **known}  # what was put aside first is what the user had
        settings["left"] = {
            path: digest
            for path, digest in {**settings.get("left", {}), **left}.items()
            if path in settings["moved"]
        }
        settings["keys"] = {
            **settings.get("keys", {}),
            str(self.key): {"fingerprint": ring.needed, "sha256": self.given["key_sha256"].lower()},
        }
        if not self.trusted(ring.needed):
            settings["rpm_keys"] = sorted({*settings.get("rpm_keys", []), ring.needed})
        settings = {key: value for key, value in settings.items() if value}
        new = [str(path) for path in wanted if not path.exists()]
        claimed = claim(self.owned, self.given["role"], {"packages": [], "files": new}, settings)
        if claimed != self.owned:
            save(self.module, self.owned_path, claimed)
        for path, text in after.items():
            if text is None:
                path.unlink()
            elif not path.is_file() or path.read_bytes() != text:
                write_file(
                    self.module, path, text, mode=0o644 if path in wanted else path.stat().st_mode & 0o777
                )
        self.trust(ring.needed)

    def absent(self):
        """Take back what was brought for this name; where the role has nothing else, its entry goes too."""
        ours = [path for path in (self.file, self.key) if str(path) in self.mine["files"]]
        settings = self.mine["settings"]
        moved = settings.get("moved", {})
        fingerprint = settings.get("keys", {}).get(str(self.key), {}).get("fingerprint", "")
        erase = [fingerprint] if fingerprint in settings.get("rpm_keys", []) else []
        there = [path for path in ours if path.exists()]
        changed = bool(ours or moved or erase)
        if changed and not self.module.check_mode:
            for path in there:
                path.unlink()
            forget(self.module, erase)
            put_back(self.module, moved, settings.get("left", {}))
            save(self.module, self.owned_path, self.without({str(path) for path in ours}, erase))
        return {"changed": changed, "moved": [], "reported": [], "put_back": sorted(moved)}

    def without(self, files, erased):
        """Return the ownership document without this repository."""
        settings = {
            key: value for key, value in self.mine["settings"].items() if key not in ("moved", "left")
        }
        settings["keys"] = {
            path: key for path, key in settings.get("keys", {}).items() if path != str(self.key)
        }
        settings["rpm_keys"] = [key for key in settings.get("rpm_keys", []) if key not in erased]
        left = {
            **self.mine,
            "files": [path for path in self.mine["files"] if path not in files],
            "settings": {key: value for key, value in settings.items() if value},
        }
        roles = {name: owned for name, owned in self.owned["roles"].items() if name != self.given["role"]}
        if any(left.values()):
            roles[self.given["role"]] = left
        return {**self.owned, "roles": roles}

    def trusted(self, _):
        """Tell whether the package manager itself has taken up the key."""
        return True

    def trust(self, _):
        """Let the package manager itself take up the key."""

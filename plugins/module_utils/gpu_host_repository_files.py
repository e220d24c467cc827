"""The files of one repository on this host: key, source, and other entries for the same, put aside."""

from __future__ import annotations

import hashlib
from pathlib import Path

from .gpu_host_aside import put_aside, put_back
from .gpu_host_keyring_file import Keyring
from .gpu_host_openpgp import primary_keys
from .gpu_host_owned_file import load, save, write_file
from .gpu_host_ownership import claim, entry
from .gpu_host_repos import repo, without_repo
from .gpu_host_rpm_keys import forget, imported
from .gpu_host_sources import begins, blocks, conflicts, reads, source, strange, without

# NVIDIA signs nothing with this one since April 2022 (field case B4); images that are older still trust it.
RETIRED = {"7FA2AF80": "developer.download.nvidia.com"}


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
        return [*self.given["same_as"], self.given["url"]]

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


class AptFiles(Files):
    """sources.list, sources.list.d, and a keyring that our entry alone is signed by."""

    def names(self):
        """Say where everything lies."""
        name = self.given["name"]
        self.key = self.root / f"usr/share/keyrings/{name}-keyring.gpg"
        self.folder = self.root / "etc/apt/sources.list.d"
        self.file = self.folder / f"{name}.sources"
        self.text = source(self.given, str(self.key))

    def look(self):
        """Return (files to put aside, each with what stays of it; what is strange and stays)."""
        arch = self.module.run_command(["dpkg", "--print-architecture"])[1].strip()
        found, reported, others = {}, [], {}
        for path in [self.root / "etc/apt/sources.list", *sorted(self.folder.glob("*"))]:
            if (
                not path.is_file()
                or path == self.file
                or (path.parent == self.folder and not reads(path.name))
            ):
                continue
            text = path.read_text(encoding="utf-8", errors="surrogateescape")
            taken, left = without(path.name, text, self.same(), arch)
            odd = strange(path.name, text)
            if taken:
                found[path] = left
            elif odd and blocks(path.name, text) and self.akin(path.name, text):
                found[path] = None
                reported.append(f"{path} is {odd}: apt reads no source at all with it, and it was put aside.")
            elif odd:
                reported.append(f"{path}: {odd}; it stays.")
            if left is not None:
                others[str(path)] = left
        reported += [
            f"{line}: apt reads no source at all until one of the entries goes."
            for line in conflicts(others, arch)
        ]
        return found, reported + self.retired()

    def akin(self, name, text):
        """Tell whether a file was meant for this repository, by its name or by what it speaks of."""
        words = {"nvidia", "cuda", "docker"} & set(self.given["name"].lower().replace("-", " ").split())
        spoken = (host.partition("/")[0] for host in self.given["same_as"])
        return any(word in name.lower() for word in words) or any(host in text for host in spoken)

    def retired(self):
        """Report keys that are trusted for everything and sign nothing any more."""
        wanted = {
            short for short, host in RETIRED.items() if any(begins(url, [host], "") for url in self.same())
        }
        folder = self.root / "etc/apt"
        rings = [folder / "trusted.gpg", *sorted((folder / "trusted.gpg.d").glob("*"))] if wanted else []
        return [
            f"{ring} holds the key {key}, which NVIDIA has retired; it stays, and nothing needs it."
            for ring in rings
            if ring.is_file()
            for key in primary_keys(ring.read_bytes())
            if key[-8:] in wanted
        ]


class DnfFiles(Files):
    """yum.repos.d, and a key that rpm takes up."""

    armour = True

    def names(self):
        """Say where everything lies."""
        name = self.given["name"]
        self.key = self.root / f"etc/pki/rpm-gpg/RPM-GPG-KEY-{name}"
        self.folder = self.root / "etc/yum.repos.d"
        self.file = self.folder / f"{name}.repo"
        self.text = repo(self.given, str(self.key))

    def look(self):
        """Return (files to put aside, each with what stays of it; what is strange and stays)."""
        found, reported = {}, []
        for path in sorted(self.folder.glob("*.repo")):
            if path == self.file:
                continue
            text = path.read_text(encoding="utf-8", errors="surrogateescape")
            taken, left = without_repo(text, self.same())
            if taken:
                found[path] = left
            elif text.lstrip()[:1] == "<":
                reported.append(f"{path}: a web page saved in the place of a repository file; it stays.")
        return found, reported

    def trusted(self, fingerprint):
        """Tell whether rpm has taken up the key."""
        return imported(self.module, fingerprint)

    def trust(self, fingerprint):
        """Let rpm take it up: it was checked before."""
        if not self.trusted(fingerprint):
            self.module.run_command(["rpm", "--import", str(self.key)], check_rc=True)

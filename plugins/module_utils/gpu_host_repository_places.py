"""Where apt and dnf keep a repository: its key, its source, and the other files that they read."""

from __future__ import annotations

from .gpu_host_openpgp import primary_keys
from .gpu_host_repos import repo, without_repo
from .gpu_host_repository_files import Files
from .gpu_host_rpm_keys import imported
from .gpu_host_sources import begins, blocks, conflicts, reads, source, strange, without

# NVIDIA signs nothing with this one since April 2022 (field case B4); images that are older still trust it.
RETIRED = {"7FA2AF80": "developer.download.nvidia.com"}


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
            short
            for short, host in RETIRED.items()
            if any(begins(url.lstrip("="), [host], "") for url in self.same())
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

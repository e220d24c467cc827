"""How a registry is called: by people, by what answers for it, by Docker's config.json. Pure."""

from __future__ import annotations

import base64

# Docker's own registry has three names.
HUB = ("docker.io", "index.docker.io", "registry-1.docker.io")
HUB_HOST, HUB_KEY = "registry-1.docker.io", "https://index.docker.io/v1/"


def host_of(registry):
    """Return the host, and port, that answers for a registry."""
    return HUB_HOST if registry in HUB else registry


def key_of(registry):
    """Return the registry's name in Docker's config.json."""
    return HUB_KEY if registry in HUB else registry


def basic(username, password):
    """Return name and password as config.json and HTTP have them."""
    return base64.b64encode(f"{username}:{password}".encode()).decode("ascii")

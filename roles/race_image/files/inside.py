# ruff: noqa: INP001
"""What the parts of a built race image weigh: the engine's word for the whole, the files' for the parts."""

from __future__ import annotations

import json
import subprocess
import sys

# Run inside an image: where each part lies. Whatever the base has is below /usr/local/cuda-* or NCCL's.
INSIDE = """
import glob, json, os
def weigh(*patterns):
    files = set()
    for path in (p for pattern in patterns for p in glob.glob(pattern)):
        files.update([path] if not os.path.isdir(path) or os.path.islink(path) else
                     [os.path.join(d, f) for d, _, names in os.walk(path) for f in names])
    return sum({(s.st_dev, s.st_ino): s.st_size for s in map(os.lstat, files)}.values())
site = "/opt/race/lib/python3*/site-packages/"
parts = {
    "cuda-base": weigh("/usr/local/cuda-*/targets/*/lib", "/usr/lib/*/libnccl*"),
    "cuda-wheels": weigh(site + "nvidia", site + "cuda"),
    "torch": weigh(site + "torch", site + "torchgen", site + "functorch", site + "triton"),
    "science": weigh(site + "numpy*", site + "scipy*", site + "scikit_learn*", site + "sklearn"),
}
known = parts["cuda-wheels"] + parts["torch"] + parts["science"]
parts["rest"] = weigh("/opt/race", "/opt/gpu-host") - known
print(json.dumps(parts))
"""


def docker(*words: str) -> str:
    """Ask the engine; its own words where it refuses."""
    done = subprocess.run(["docker", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"docker {' '.join(words[:2])}: {done.stderr.strip()[-500:] or 'no message'}")
    return done.stdout


def measured(image: str) -> dict[str, int]:
    """Return the parts of a built image; its base has to be here too."""
    found = json.loads(docker("image", "inspect", image))[0]
    base = (found["Config"].get("Labels") or {}).get("org.opencontainers.image.base.name", "")
    parts: dict[str, int] = json.loads(
        docker("run", "--rm", "--network=none", image, "python3", "-c", INSIDE)
    )
    below = json.loads(docker("image", "inspect", base))[0]["Size"]
    parts["base"] = below - parts["cuda-base"]
    parts["python"] = found["Size"] - sum(parts.values())
    return parts

#!/bin/sh
# What `make clean` leaves: .venv, the cache of built parts and their images, simulated evidence.
set -eu
cd "$(dirname "$0")/.."
. scripts/lib.sh
if docker info > /dev/null 2>&1; then
  docker image ls -q --filter label=gpu-host.simulated=true | sort -u | xargs -r docker image rm -f > /dev/null
fi
rm -rf .venv .cache .ansible "${XDG_CACHE_HOME:-$HOME/.cache}/gpu-host" evidence/sim-* evidence/here

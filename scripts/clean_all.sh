#!/bin/sh
# What `make clean` leaves: .venv, the cache of built parts, simulated evidence.
set -eu
cd "$(dirname "$0")/.."
rm -rf .venv .cache .ansible "${XDG_CACHE_HOME:-$HOME/.cache}/gpu-host" evidence/sim-* evidence/here

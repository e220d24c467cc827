#!/bin/sh
# The race's sampler with NVIDIA's own nvidia-ml-py on the stand-in NVML, which is compiled here.
set -eu
cd "$(dirname "$0")/.."
. scripts/lib.sh
use_venv

if ! command -v cc > /dev/null && can_apt; then
  apt_install gcc libc6-dev
fi
command -v cc > /dev/null || die "no C compiler (cc) here: install gcc and libc6-dev, then try again."
# Skipped is not passed.
python scripts/pytest_at_least.py 5 -q -p no:cacheprovider tests/unit/race/test_sampler_stand_in.py

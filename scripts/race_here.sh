#!/bin/sh
# The race on this machine as it is: PYTHON, or the first python3 on PATH that imports torch.
set -eu
cd "$(dirname "$0")/.."
. scripts/lib.sh
out=${OUT:-evidence/here}

python=$(torch_python) || {
  [ $? = 1 ] || exit 2
  say "note: no python3 on PATH imports torch; the network's lanes will be absent. PYTHON= names another."
  python=$(command -v python3) || die "no python3 on PATH: give PYTHON= the path of a Python interpreter." 2
}
say "Racing with $python"
exec "$python" -m verify.race --out "$out"

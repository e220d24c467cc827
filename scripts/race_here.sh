#!/bin/sh
# The race on this machine as it is: PYTHON, or the first python3 on PATH that imports torch.
set -eu
cd "$(dirname "$0")/.."
. scripts/lib.sh
out=${OUT:-evidence/here}

imports_torch() { "$1" -c 'import torch' > /dev/null 2>&1; }
find_python() {
  if [ -n "${PYTHON:-}" ]; then
    "$PYTHON" -c '' 2> /dev/null || die "PYTHON=$PYTHON does not run: give the path of a Python interpreter." 2
    printf '%s\n' "$PYTHON"
    return
  fi
  old_ifs=$IFS
  IFS=:
  for folder in $PATH; do
    if [ -x "$folder/python3" ] && imports_torch "$folder/python3"; then
      printf '%s\n' "$folder/python3"
      return
    fi
  done
  IFS=$old_ifs
  say "note: no python3 on PATH imports torch; the network's lanes will be absent. PYTHON= names another."
  command -v python3 || die "no python3 on PATH: give PYTHON= the path of a Python interpreter." 2
}
python=$(find_python)
say "Racing with $python"
exec "$python" -m verify.race --out "$out"

#!/bin/sh
# The race's tests with the real torch and scikit-learn, inside the race image, as unprivileged as the race itself.
set -eu
cd "$(dirname "$0")/.."
built=$(.venv/bin/python roles/race_image/files/build.py | tail -n 1)
field() { printf '%s' "$built" | .venv/bin/python -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }
image=$(field name)
docker image inspect "$image" > /dev/null 2>&1 || docker load --quiet --input "$(field tar)"
# No larger than budget.yml allows, part by part.
.venv/bin/python roles/race_image/files/sizes.py --check "$image"
said=$(mktemp)
docker run --rm --network=none --cap-drop=ALL --security-opt=no-new-privileges --read-only \
  -v "$PWD/tests/race:/tests:ro" "$image" python3 -m unittest discover -s /tests 2>&1 | tee "$said"
# unittest is green where it finds nothing, and a pipe hides an exit status.
ran=$(sed -n 's/^Ran \([0-9]*\) tests.*/\1/p' "$said")
result=$(tail -n 1 "$said")
rm -f "$said"
# Two are skipped in the image, which has neither pandas nor pyarrow to read tables with.
[ "${ran:-0}" -ge 90 ] && [ "$result" = "OK (skipped=2)" ]

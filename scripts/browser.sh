#!/bin/sh
# A headless browser for the pictures of the race's page: used if there is one, else installed from Debian where we
# are root. Without one the tests that look at the page are skipped by name; CI=true does not let them be skipped.
set -eu
cd "$(dirname "$0")/.."
. scripts/lib.sh

for browser in chromium chromium-browser google-chrome; do
  # A name on PATH proves nothing (Ubuntu's is a signpost to a snap): it must answer.
  if "$browser" --version > /dev/null 2>&1; then
    exit 0
  fi
done
if can_apt && (apt_install chromium fonts-dejavu-core); then
  exit 0
fi
say "  note: no browser here and none could be installed: the tests of how the race's page looks are skipped."

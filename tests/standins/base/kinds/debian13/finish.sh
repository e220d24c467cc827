# shellcheck shell=sh
# Nothing to add: the root is Debian 13.
:

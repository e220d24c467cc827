# shellcheck shell=sh
# The names of Ubuntu 24.04 on a Debian 13 root.
cp /kind/os-release /usr/lib/os-release

# The driver packages of these hosts build nothing (tests/standins/families).
systemctl enable gpu-host-simulated-headers.service

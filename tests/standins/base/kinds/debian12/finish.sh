# shellcheck shell=sh
# OpenSSH 9.2 does not know this option and would not start with it.
sed -i '/^PerSourcePenalties/d' /etc/ssh/sshd_config.d/gpu-host.conf

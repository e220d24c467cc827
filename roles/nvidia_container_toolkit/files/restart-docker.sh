# shellcheck shell=sh
# Restarts Docker if it runs and started before the toolkit's hook was installed; prints a line if it did.
systemctl is-active --quiet docker.service || exit 0
hook_path=$(command -v nvidia-container-runtime-hook) || exit 0
hook=$(stat -L -c %Z "$hook_path")
started=$(date -d "$(systemctl show --value -p ActiveEnterTimestamp docker.service)" +%s)
[ "$started" -le "$hook" ] || exit 0
systemctl restart docker.service
echo restarted

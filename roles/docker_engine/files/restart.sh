# shellcheck shell=sh
# Restarts a running Docker that started before its configuration or the toolkit's hook came; prints a line if it did.
systemctl is-active --quiet docker.service || exit 0
started=$(date -d "$(systemctl show --value -p ExecMainStartTimestamp docker.service)" +%s)
newest=0
for read in /etc/docker/daemon.json /etc/systemd/system/docker.service.d/*.conf "$(command -v nvidia-container-runtime-hook)"; do
  [ -e "$read" ] || continue
  changed=$(stat -L -c %Z "$read")
  [ "$changed" -le "$newest" ] || newest=$changed
done
# A unit file that changed too is read anew; within one second the restart is made once too often rather than not at all.
[ "$started" -le "$newest" ] || exit 0
systemctl daemon-reload
# Three starts within a minute, and systemd starts it no more.
systemctl reset-failed docker.service docker.socket
systemctl restart docker.service
echo restarted

# shellcheck shell=sh
# Makes the CDI specification anew, for every card that the driver lists.
# usage: sh -ec "$(cat refresh-cdi.sh)" refresh SPECIFICATION
spec=$1
# Toolkit 1.19.1 and 1.20.0 leave out /dev/nvidia-uvm where it does not exist yet, and CUDA then fails in containers.
# Only a toolkit that knows the command, on a kernel whose module is loaded.
if [ -e /sys/module/nvidia/initstate ] && nvidia-ctk system create-device-nodes --help > /dev/null 2>&1; then
  nvidia-ctk system create-device-nodes --control-devices
fi
# The unit is skipped with exit status 0 on a kernel without modules.dep, so its success proves nothing: look at the file.
if systemctl cat nvidia-cdi-refresh.service > /dev/null 2>&1; then
  before=$(stat -c %Y.%i "$spec" 2> /dev/null || echo none)
  systemctl restart nvidia-cdi-refresh.service || true
  [ "$(stat -c %Y.%i "$spec" 2> /dev/null || echo none)" = "$before" ] || exit 0
fi
mkdir -p "${spec%/*}"
nvidia-ctk cdi generate --output="$spec"

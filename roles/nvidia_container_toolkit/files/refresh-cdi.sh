# shellcheck shell=sh
# Makes NVIDIA's control nodes, their links in /dev/char, and the CDI specification of every card that the driver lists.
# usage: sh -ec "$(cat refresh-cdi.sh)" refresh SPECIFICATION FEATURE_FLAG [aside:FILE | again:FILE | write:FILE TEXT]…
spec=$1 flag=$2
shift 2

# Toolkit 1.19.1 and 1.20.0 leave out /dev/nvidia-uvm where it does not exist yet, and CUDA then fails in containers.
# Only a toolkit that knows the command, on a kernel whose module is loaded.
nodes="nvidia-ctk system create-device-nodes"
if [ -e /sys/module/nvidia/initstate ] && $nodes --help > /dev/null 2>&1; then
  $nodes --control-devices --load-kernel-modules || $nodes --control-devices || true
fi

number() { stat -L -c '%t %T' "$1" | { read -r major minor; echo "$((0x$major)):$((0x$minor))"; }; }
tried=
for node in /dev/nvidia*; do
  [ -c "$node" ] && [ -e /sys/module/nvidia/initstate ] || continue
  link=/dev/char/$(number "$node")
  [ ! -L "$link" ] || continue
  # Once, for all nodes that there can be. It fails with some drivers, so the ones that are there do not depend on it.
  [ -n "$tried" ] || nvidia-ctk system create-dev-char-symlinks --create-all > /dev/null 2>&1 || true
  tried=yes
  [ -L "$link" ] || { mkdir -p /dev/char && ln -s "$node" "$link"; }
done

generate() {
  mkdir -p "${1%/*}"
  if [ -n "$flag" ] && nvidia-ctk cdi generate --help 2>&1 | grep -q -e --feature-flag; then
    nvidia-ctk cdi generate --feature-flag "$flag" --output="$1"
  else
    nvidia-ctk cdi generate --output="$1"
  fi
  chmod 0644 "$1"  # toolkits before 1.16 made it readable for root alone
}
while [ $# -gt 0 ]; do
  file=${1#*:}
  case $1 in
    aside:*) mv "$file" "$file.gpu-host-aside" ;;
    again:*) generate "$file" ;;
    write:*)
      mkdir -p "${file%/*}"
      printf '%s\n' "$2" > "$file"
      chmod 0644 "$file"
      shift
      ;;
  esac
  shift
done

# The unit is skipped with exit status 0 on a kernel without modules.dep, so its success proves nothing: look at the file.
if systemctl cat nvidia-cdi-refresh.service > /dev/null 2>&1; then
  before=$(stat -c %Y.%i "$spec" 2> /dev/null || echo none)
  # The packages' own scripts and the path unit may have used up its starts, and a failed one stops its path unit too.
  systemctl reset-failed nvidia-cdi-refresh.service nvidia-cdi-refresh.path 2> /dev/null || true
  systemctl restart nvidia-cdi-refresh.service || true
  ! systemctl is-enabled --quiet nvidia-cdi-refresh.path || systemctl start nvidia-cdi-refresh.path || true
  # An engine that needs the flag gets it whether or not this unit reads its file of settings.
  [ -n "$flag" ] || [ "$(stat -c %Y.%i "$spec" 2> /dev/null || echo none)" = "$before" ] || exit 0
fi
generate "$spec"

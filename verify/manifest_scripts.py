"""The shell that the manifest's commands run: POSIX sh, read only, bounded by the command's own limit."""

from __future__ import annotations

# Each image's layers, from the bottom up, by the first 16 digits of their ids: a pull need not bring them.
LAYERS = (
    "ids=$(docker image ls -q --no-trunc | sort -u | head -n 200);"
    " [ -z \"$ids\" ] || docker image inspect --format '{{json .RootFS.Layers}}' $ids"
    " | sed 's/sha256:\\([0-9a-f]\\{16\\}\\)[0-9a-f]*/\\1/g' | sort -u"
)
# Lines of the kernel log: the driver's, and those that refuse a module without naming it.
KERNEL_LINES = "(?i)NVRM|Xid|nouveau|nvidia|module with un|unsigned module"
# Debian's module is called nvidia-current.
MODINFO = "modinfo nvidia 2>/dev/null || modinfo nvidia-current 2>/dev/null || modinfo nvidia"
NEWEST = (
    "k=$(ls -d /lib/modules/*/modules.dep | sort -V | tail -n 1); k=${k%/modules.dep}; k=${k##*/};"
    ' [ -n "$k" ] || exit 1; echo "kernel: $k";'
    ' modinfo -k "$k" nvidia 2>/dev/null || modinfo -k "$k" nvidia-current'
)
# A card that is gone reads as ff only; sysfs keeps the revision that it had, so the bus itself is asked.
PCI_CONFIG = (
    'for d in /sys/bus/pci/devices/*; do [ -r "$d/vendor" ] || continue; read -r v < "$d/vendor";'
    ' [ "$v" = 0x10de ] || continue; echo "${d##*/}$(od -An -tx1 -N16 "$d/config")"; done; true'
)
# Who holds the package manager's locks: the kernel lists them by inode; the open files tell whether it is so.
LOCKS = (
    "for f in /var/lib/dpkg/lock-frontend /var/lib/dpkg/lock /var/lib/apt/lists/lock"
    " /var/cache/apt/archives/lock /var/lib/rpm/.rpm.lock /usr/lib/sysimage/rpm/.rpm.lock; do"
    ' [ -e "$f" ] || continue; i=$(ls -di "$f"); i=${i%%/*}; i=$(echo $i);'
    " while read -r _ kind _ _ pid where _; do"
    ' [ "$kind" != "->" ] && [ "${where##*:}" = "$i" ] || continue;'
    ' ls -l "/proc/$pid/fd" >/dev/null 2>&1 && { ls -l "/proc/$pid/fd" | grep -q " -> $f" || continue; };'
    ' name=; [ -r "/proc/$pid/comm" ] && read -r name < "/proc/$pid/comm"; echo "$f $pid $name";'
    " done < /proc/locks; done; true"
)

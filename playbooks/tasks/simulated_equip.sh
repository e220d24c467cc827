# shellcheck shell=sh
# Puts the simulated cards into a host, and the controller's public key; prints the host's SSH key last.
# usage: sh -ec "$(cat simulated_equip.sh)" equip CONTAINER DEB PUBKEY
container=$1 deb=$2 pubkey=$3
in_host() { docker exec -i "$container" "$@"; }

waited=0
until in_host systemctl is-system-running 2>/dev/null | grep -Eq 'running|degraded'; do
  waited=$((waited + 1))
  [ "$waited" -lt 150 ] || { echo "$container did not finish booting within 30 s: docker logs $container" >&2; exit 1; }
  sleep 0.2
done
if ! in_host test -e /etc/gpu-host/simulated; then
  docker cp -q "$deb" "$container:/root/card.deb" 2>/dev/null || docker cp "$deb" "$container:/root/card.deb"
  # On a system that is not a Debian by name, Debian's own tools lie in a folder of their own.
  in_host sh -ec "PATH=\$PATH:/usr/lib/gpu-host-simulated-root dpkg -i /root/card.deb && rm /root/card.deb" >&2
  echo equipped
fi
in_host install -d -o admin -g admin -m 0700 /home/admin/.ssh
in_host sh -c 'cat > /home/admin/.ssh/authorized_keys && chown admin: /home/admin/.ssh/authorized_keys && chmod 0600 /home/admin/.ssh/authorized_keys' < "$pubkey"
in_host systemctl is-active --quiet ssh
in_host cut -d' ' -f1,2 /etc/ssh/ssh_host_ed25519_key.pub

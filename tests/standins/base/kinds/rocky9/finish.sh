# shellcheck shell=sh
# The names and the package manager of Rocky Linux 9 on a Debian 13 root.
# dnf and rpm; what a minimal Rocky has under its own names; the libraries that Debian's engine is linked with.
apt-get update -qq
apt-get install -y -qq --no-install-recommends \
  dnf python3-dnf dnf-plugins-core rpm createrepo-c curl iptables libseccomp2 libsystemd0 python3-yaml > /dev/null
apt-get purge -y -qq python3-apt > /dev/null
apt-get clean
rm -rf /var/lib/apt/lists/*

cp /kind/os-release /usr/lib/os-release
echo 'Rocky Linux release 9.6 (Blue Onyx)' > /etc/redhat-release
ln -sf redhat-release /etc/system-release
install -D -m 0644 /kind/dnf.conf /etc/dnf/dnf.conf
mkdir -p /etc/yum.repos.d /etc/pki/rpm-gpg
# Debian switches on two plugins that do not work here, and that Rocky has not.
rm -f /etc/dnf/plugins/local.conf /usr/lib/python3*/dist-packages/dnf-plugins/local.py /usr/lib/python3*/dist-packages/dnf-plugins/system_upgrade.py
rpm --initdb
rpmbuild -bb --quiet --define "_rpmdir /kind/rpms" --define "_topdir /kind/build" /kind/rocky-release.spec
rpm -i --nosignature /kind/rpms/noarch/*.rpm

# Debian's own tools step aside: a role that asks apt or dpkg on this system is to fail here as it would there.
# What simulates the hardware finds them in this folder.
aside=/usr/lib/gpu-host-simulated-root
mkdir -p "$aside"
for tool in apt apt-cache apt-get apt-mark dpkg dpkg-deb dpkg-divert dpkg-query dpkg-split dpkg-statoverride dpkg-trigger; do
  mv "/usr/bin/$tool" "$aside/"
done

# The driver packages of these hosts build nothing (tests/standins/families).
systemctl enable gpu-host-simulated-headers.service

#!/bin/sh
# The examples by the tools of those who read them: check-jsonschema (GitHub, GitLab), ansible-builder. Nothing is downloaded or built.
set -eu
cd "$(dirname "$0")/.."
. scripts/lib.sh
use_venv
for tool in check-jsonschema ansible-builder ansible-galaxy; do
  command -v "$tool" > /dev/null || die "$tool is not on PATH: \`make venv\` installs it, if it stands in pyproject.toml and constraints.txt." 2
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
set -x
check-jsonschema --builtin-schema vendor.github-workflows examples/github-actions/*.yml
check-jsonschema --builtin-schema vendor.gitlab-ci examples/gitlab-ci/*.yml

# As in the repository: the definition finds the archive by its place.
mkdir -p "$work/examples"
cp -R examples/execution-environment "$work/examples/"
python scripts/collection.py "$work/dist"
ansible-builder create -f "$work/examples/execution-environment/execution-environment.yml" -c "$work/context"
cd "$work/context/_build"
# What the image's build will run here; a server that would be asked does not exist.
ANSIBLE_GALAXY_SERVER_LIST='' ANSIBLE_GALAXY_SERVER=http://127.0.0.1:9 \
  ansible-galaxy collection install -r requirements.yml --collections-path "$work/installed/collections"
test -f "$work/installed/collections/ansible_collections/gpu_host/gpu_host/playbooks/site.yml"
python scripts/introspect.py introspect "$work/installed" --user-pip=requirements.txt --user-bindep=bindep.txt --write-pip="$work/pip.txt" --write-bindep="$work/bindep.txt"
set +x
wanted=$(grep -c '==' requirements.txt)
kept=$(grep -c '==' "$work/pip.txt")
[ "$wanted" = "$kept" ] || die "ansible-builder keeps $kept of $wanted requirements: $work/pip.txt"

# shellcheck shell=sh
# Removes containers, volumes and networks that carry a label; prints what it removed.
# usage: sh -ec "$(cat simulated_remove.sh)" remove LABEL
label=$1
docker ps -aq --filter "label=$label" | xargs -r docker rm -f -v
docker volume ls -q --filter "label=$label" | xargs -r docker volume rm
docker network ls -q --filter "label=$label" | xargs -r docker network rm

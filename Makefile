# gpu-host. Every target does its own set-up and can be run twice.
INVENTORY ?= inventory/simulated
LIMIT ?=
RACE ?= cached
OUT ?= evidence/here
SERIAL ?=
MAX_FAIL ?=
export INVENTORY LIMIT RACE OUT PYTHON SERIAL MAX_FAIL

.PHONY: help site plan verify remove clean clean-all race-here collection test test-long lint bench venv

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 12

site: venv ## provision and verify INVENTORY (default: one simulated host), then the table; SERIAL= and MAX_FAIL= for a shared cluster
	@scripts/site.sh site
plan: venv ## what site would change, without changing it
	@scripts/site.sh plan
verify: venv ## collect, judge and report only; RACE=always, cached or never (the image is needed for the proof, race or not)
	@scripts/site.sh verify
remove: venv ## undo on the hosts what site did
	@scripts/site.sh remove
clean: venv ## delete the simulated hosts of INVENTORY that were made here, and nothing else
	@scripts/site.sh clean
clean-all: clean ## clean, and .venv, the build cache and the simulated evidence too
	@scripts/clean_all.sh
race-here: ## the race on this machine, without Docker, .venv or network; PYTHON= and OUT=
	@scripts/race_here.sh
collection: venv ## the roles and the program as an Ansible collection, in dist/
	@.venv/bin/python scripts/collection.py
test: venv ## everything that CI runs
	@scripts/test.sh
test-long: test ## every kill point and both module builds too
	@scripts/harness.sh long
lint: venv ## the linters alone
	@scripts/lint.sh
bench: venv ## what the commands cost, from the doctor to a fleet, against their goals
	@scripts/bench.sh
venv: ## the set-up that all of them share
	@scripts/venv.sh

"""nvidia-ctk: runtime configure, cdi generate, cdi list, config, system."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from . import cdi, daemon_json, driver, go_json, log, nodes, nvml, settings
from .errors import ToolkitError

SPEC_FOLDERS = ("/etc/cdi", "/var/run/cdi")
# Without additionalGids, which came with CDI 0.7.0, the real one writes a schema that older engines read.
NO_GIDS = "no-additional-gids-for-device-nodes"


def _truth(text: str) -> bool:
    return text.lower() in {"true", "1", "t"}


def configure(given: argparse.Namespace) -> None:
    """Add the runtime to daemon.json; no backup, no validation, no restart, as the real one."""
    if given.runtime != "docker":
        raise ToolkitError(
            f"unrecognized runtime {given.runtime!r}: this stand-in (simulated) knows docker only"
        )
    path: Path = given.config
    if path.exists():
        log.say("info", f"Loading config from {path}")
    else:
        log.say("info", f"Config file {path} does not exist; using empty config")
    text = path.read_bytes().decode(errors="replace") if path.exists() else None
    config = daemon_json.configured(
        daemon_json.load(text),
        name=given.runtime_name,
        path=given.runtime_path,
        set_as_default=given.set_as_default,
        enable_cdi=given.enable_cdi,
    )
    output = go_json.dumps(config)
    if given.dry_run:
        print(output)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(output)
    log.say("info", f"Wrote updated config to {path}")
    log.say("info", "It is recommended that docker daemon be restarted.")


def specification(mode: str) -> dict[str, Any]:
    """Return this host's specification."""
    if mode == "management":
        nodes = sorted(str(path) for path in Path("/dev").glob("nvidia*") if path.is_char_device())
        return cdi.management(nodes, driver.look(with_cards=False))
    try:
        return cdi.document(driver.look())
    except nvml.NvmlError as error:
        raise ToolkitError(
            "failed to generate CDI spec: failed to create device CDI specs: "
            f"failed to initialize NVML: {error}"
        ) from error


def generate(given: argparse.Namespace) -> None:
    """Write the specification, whole or not at all: dockerd reads it whenever it likes."""
    import yaml  # noqa: PLC0415 - runs on the host, where only this command needs it

    document = specification(given.mode)
    if NO_GIDS in given.feature_flag:
        document["cdiVersion"] = "0.5.0"
    as_json = given.format == "json" or given.output.endswith(".json")
    text = go_json.dumps(document) + "\n" if as_json else "---\n" + yaml.safe_dump(document, sort_keys=False)
    if not given.output:
        print(text, end="")
        return
    path = Path(given.output)
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(text)
    fresh.chmod(0o644)
    fresh.replace(path)
    log.say("info", f"Generated CDI spec with version {document['cdiVersion']} (simulated)")


def listed(given: argparse.Namespace) -> None:
    """Print the devices that the specification files offer; a name twice in one folder is void."""
    import yaml  # noqa: PLC0415 - as above

    offered: set[str] = set()
    for folder in given.spec_dir or SPEC_FOLDERS:
        names: list[str] = []
        for path in sorted(Path(folder).glob("*")):
            if path.suffix not in {".yaml", ".json"} or path.name.startswith("."):
                continue
            try:
                names += cdi.device_names(yaml.safe_load(path.read_text()))
            except (yaml.YAMLError, UnicodeDecodeError) as error:
                log.say("warning", f"failed to load CDI spec {path}: {error}")
        offered |= {name for name in names if names.count(name) == 1}
    log.say("info", f"Found {len(offered)} CDI devices")
    print("".join(f"{name}\n" for name in sorted(offered)), end="")


def show_config(given: argparse.Namespace) -> None:
    """Print config.toml with settings changed, or rewrite it in place."""
    config = settings.load(given.config_file)
    for assignment in given.set:
        config = settings.changed(config, assignment)
    if given.in_place:
        given.config_file.write_text(settings.dumps(config))
    else:
        print(settings.dumps(config), end="")


def parser() -> argparse.ArgumentParser:
    """Return the part of nvidia-ctk's command line that is imitated."""
    top = argparse.ArgumentParser(prog="nvidia-ctk", description="Stand-in (simulated).", allow_abbrev=False)
    top.add_argument("--quiet", "-q", action="store_true")
    top.add_argument("--debug", "-d", action="store_true")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    runtime = commands.add_parser("runtime").add_subparsers(required=True, metavar="COMMAND")
    one = runtime.add_parser("configure", allow_abbrev=False)
    one.add_argument("--runtime", default="docker")
    one.add_argument("--config", type=Path, default=Path("/etc/docker/daemon.json"))
    one.add_argument("--dry-run", action="store_true")
    one.add_argument("--nvidia-runtime-name", "--runtime-name", dest="runtime_name", default="nvidia")
    one.add_argument(
        "--nvidia-runtime-path", "--runtime-path", dest="runtime_path", default="nvidia-container-runtime"
    )
    for names, target in (
        (("--nvidia-set-as-default", "--set-as-default"), "set_as_default"),
        (("--cdi.enabled", "--cdi.enable", "--enable-cdi"), "enable_cdi"),
    ):
        one.add_argument(*names, dest=target, type=_truth, nargs="?", const=True, default=False)
    one.set_defaults(run=configure)
    specs = commands.add_parser("cdi").add_subparsers(required=True, metavar="COMMAND")
    one = specs.add_parser("generate", allow_abbrev=False)
    one.add_argument("--output", default="")
    one.add_argument("--format", choices=("yaml", "json"), default="yaml")
    one.add_argument("--mode", "--discovery-mode", choices=("auto", "nvml", "management"), default="auto")
    one.add_argument(
        "--feature-flag", "--feature-flags", dest="feature_flag", action="append",
        default=os.environ.get("NVIDIA_CTK_CDI_GENERATE_FEATURE_FLAGS", "").split(","),
    )  # fmt: skip
    one.set_defaults(run=generate)
    one = specs.add_parser("list", allow_abbrev=False)
    one.add_argument("--spec-dir", action="append")
    one.set_defaults(run=listed)
    system = commands.add_parser("system").add_subparsers(required=True, metavar="COMMAND")
    one = system.add_parser("create-device-nodes", allow_abbrev=False)
    one.add_argument("--control-devices", action="store_true")
    one.add_argument("--load-kernel-modules", action="store_true")
    one.set_defaults(run=nodes.create)
    one = system.add_parser("create-dev-char-symlinks", allow_abbrev=False)
    one.add_argument("--create-all", action="store_true")
    one.set_defaults(run=nodes.link)
    one = commands.add_parser("config", allow_abbrev=False)
    one.add_argument("--config-file", type=Path, default=settings.PATH)
    one.add_argument("--in-place", "-i", action="store_true")
    one.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    one.set_defaults(run=show_config)
    return top


def main(arguments: list[str], version: str) -> int:
    """Exit status 0, 1 with a log line, or 2 where the real one panics."""
    if {"--version", "-v"} & set(arguments[:1]):
        print(f"NVIDIA Container Toolkit CLI version {version} (simulated)\ncommit: simulated")
        return 0
    given = parser().parse_args(arguments)
    try:
        given.run(given)
    except daemon_json.GoPanicError as error:
        print(f"panic: {error}\n\ngoroutine 1 [running]: (simulated)", file=sys.stderr)
        return 2
    except ToolkitError as error:
        log.say("error", str(error))
        return 1
    return 0

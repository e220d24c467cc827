#!/usr/bin/python3 -I
# ruff: noqa: T201, UP017, EXE001, PTH109, PTH110, PTH116, PTH119, PTH123, D102
# (one file on the host, for the distribution's Python 3.9 and newer; it talks to people)
"""gpu-run: a container on the caller's own card. gpu-who: the cards, whose they are and who holds them.

The lease is the running container itself, found by ``docker ps``: nothing is written that a crash could leave
behind. A lock per card guards only the moment of giving, from the last look until the container runs.
The pairs and their cards stand in /etc/gpu-host/sharing.json, by UUID, written by the role gpu_sharing.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import datetime as dt
import fcntl
import io
import json
import os
import pwd
import re
import secrets
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

CONFIG = "/etc/gpu-host/sharing.json"
SIMULATED = "/etc/gpu-host/simulated"
LOCKS = "/run/lock"
LOCK_OWNER = 0
PROC = "/proc"
SCHEMA = 1
# One look may take this long altogether, however many programs it asks; a login waits for less.
LOOK_S, LOGIN_S = 10.0, 1.5
LOCK_S, START_S = 120.0, 60.0
REFUSED, USAGE, DOCKER_FAILED = 1, 2, 125
UUID = re.compile(r"GPU-[0-9A-Za-z-]{1,64}")
CONTAINER_ID = re.compile(r"[0-9a-f]{64}")
FIELDS = (
    "index,uuid,pci.bus_id,name,memory.used,memory.total,utilization.gpu,temperature.gpu,mig.mode.current"
)
APPS = "gpu_uuid,pid,process_name"
CDI = "nvidia.com/gpu="
NO_MEMBER = "docker may not be asked by you; needed is membership of its group (log in again after joining)"
HOOK = "nvidia-container-runtime-hook"


class RefusedError(Exception):
    """Why not, in a sentence that says what to do; exit status 1."""


class UsageError(Exception):
    """What was typed cannot be meant; exit status 2."""


def clean(text: object, limit: int = 200) -> str:
    """Make a text of somebody else's fit for a terminal: one line, no control or direction characters."""
    return "".join(char if char.isprintable() else "?" for char in str(text)[:limit])


# What is known, as values.


@dataclass(frozen=True)
class Card:
    """A card as nvidia-smi tells it now; what it does not tell is None."""

    index: int
    uuid: str
    pci: str
    name: str
    used: int | None
    total: int | None
    load: int | None
    heat: int | None
    mig: bool

    @property
    def short(self) -> str:
        return clean(re.sub(r"^NVIDIA (GeForce )?", "", self.name), 24)


@dataclass(frozen=True)
class Pair:
    """A pair of users and the cards that it was dealt: UUID, with the PCI address that it had then."""

    name: str
    users: tuple[str, ...]
    cards: dict[str, str]


@dataclass(frozen=True)
class Holder:
    """Who holds a card: a running container, or a process outside of all of them."""

    uuid: str
    user: str | None
    since: float | None
    what: str
    container: str | None = None
    image: str | None = None
    pair: str | None = None
    pid: int | None = None

    def said(self, now: float) -> str:
        by = f"{clean(self.user)} " if self.user else ""
        return f"{by}since {moment(self.since, now)}, {self.what}"


@dataclass(frozen=True)
class Deal:
    """Who was dealt what, from sharing.json."""

    pairs: tuple[Pair, ...]
    way: str = "auto"
    memory_percent: int = 90
    cpu_percent: int = 100
    shm_percent: int = 50

    def pair_of(self, user: str) -> Pair | None:
        return next((pair for pair in self.pairs if user in pair.users), None)

    def owners(self, uuid: str) -> list[Pair]:
        return [pair for pair in self.pairs if uuid in pair.cards]

    def dealt(self) -> list[str]:
        return sorted({uuid for pair in self.pairs for uuid in pair.cards})


@dataclass(frozen=True)
class View:
    """One look at the machine. A problem is a sentence: then what it concerns is not known, not empty."""

    cards: tuple[Card, ...] = ()
    holders: tuple[Holder, ...] = ()
    smi_problem: str = ""
    docker_problem: str = ""
    gone: tuple[str, ...] = field(default=())

    def card(self, uuid: str) -> Card | None:
        return next((card for card in self.cards if card.uuid == uuid), None)

    def of(self, uuid: str) -> list[Holder]:
        return [holder for holder in self.holders if holder.uuid == uuid]


def load_deal(path: str) -> Deal:
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        if document["schema"] != SCHEMA:
            raise RefusedError(
                f"{path} is of schema {document['schema']}, this gpu-run reads {SCHEMA}: "
                "whoever keeps this machine should run the provisioning again."
            )
        pairs = tuple(
            Pair(name, tuple(pair["users"]), {card["uuid"]: card["pci"] for card in pair["cards"]})
            for name, pair in document["pairs"].items()
        )
        limits = document["limits"]
        deal = Deal(pairs, document["way"], limits["memory"], limits["cpu"], limits["shm"])
    except FileNotFoundError:
        raise RefusedError(
            f"No cards are dealt out on this machine: {path} is not there. Whoever keeps it sets "
            "gpu_sharing_pairs and runs the provisioning."
        ) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RefusedError(
            f"{path} cannot be read ({error!r}): whoever keeps this machine runs the provisioning again."
        ) from None
    wrong = [uuid for uuid in deal.dealt() if not UUID.fullmatch(uuid)]
    if wrong:
        raise RefusedError(f"{path} names {clean(wrong[0])}, which is no card's UUID: correct it.")
    return deal


# Asking, bounded: a program that hangs is left to itself, since even a killed one may never end.


class Asked:
    """A program that was started and is listened to until a deadline."""

    def __init__(self, *argv: str) -> None:
        self.name, self.status, self.out, self.problem = argv[0], -1, "", ""
        self.process: subprocess.Popen[str] | None = None
        try:
            self.process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                encoding="utf-8", errors="replace", start_new_session=True,
            )  # fmt: skip
        except OSError:
            self.problem = f"{self.name} is not there"

    def heard(self, deadline: float) -> Asked:
        if self.process is None:
            return self
        try:
            self.out, said = self.process.communicate(timeout=max(0.05, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.abandon(self.process)
            self.problem = f"{self.name} does not answer"
            return self
        self.status = self.process.returncode
        if self.status:
            self.problem = reason(self.name, self.status, said or self.out)
        return self

    def abandon(self, process: subprocess.Popen[str]) -> None:
        """Kill it, and do not wait for what hangs in the kernel."""
        process.kill()
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.1)


def reason(name: str, status: int, said: str) -> str:
    if "permission denied" in said.lower() and name == "docker":
        return NO_MEMBER
    line = next((line for line in said.splitlines() if line.strip()), "")
    return f"{name} says: {clean(line.strip(), 120)} (exit status {status})"


def number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"\d{1,9}", text.strip()) else None


def rows(text: str, width: int) -> Iterator[list[str]]:
    for row in csv.reader(io.StringIO(text), skipinitialspace=True):
        if len(row) == width:
            yield [cell.strip() for cell in row]


def parse_cards(text: str) -> tuple[Card, ...]:
    """Read nvidia-smi's rows; a card that has fallen off the bus has a row of errors, and is left out."""
    return tuple(
        Card(
            int(index),
            uuid,
            clean(pci),
            clean(name),
            number(used),
            number(total),
            number(load),
            number(heat),
            mig == "Enabled",
        )
        for index, uuid, pci, name, used, total, load, heat, mig in rows(text, 9)
        if number(index) is not None and UUID.fullmatch(uuid)
    )


def instant(text: str) -> float | None:
    """Return Docker's moment (UTC, nanoseconds) in seconds."""
    match = re.match(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)", text or "")
    if not match or text.startswith("0001"):
        return None
    moment = dt.datetime.strptime(match[1], "%Y-%m-%dT%H:%M:%S")  # noqa: DTZ007  # the next line says UTC
    return moment.replace(tzinfo=dt.timezone.utc).timestamp()


def words_of(container: dict[str, Any]) -> list[str]:
    """Return the cards that a container asked for, in the words in which it did."""
    host, config = container.get("HostConfig") or {}, container.get("Config") or {}
    words: list[str] = [word for word in (labels(container).get("gpu-host.card") or "").split(",") if word]
    requests = host.get("DeviceRequests") or []
    for request in requests:
        ids = [str(each) for each in request.get("DeviceIDs") or []]
        if request.get("Driver") == "cdi":
            words += ids
        elif any("gpu" in group for group in request.get("Capabilities") or []):
            count = request.get("Count") or 0
            words += ids or (["all"] if count < 0 else [str(n) for n in range(count)])
    if not requests and host.get("Runtime") == "nvidia":
        asked = [
            e.partition("=")[2] for e in config.get("Env") or [] if e.startswith("NVIDIA_VISIBLE_DEVICES=")
        ]
        words += [word.strip() for word in (asked or [""])[-1].split(",") if word not in ("", "void", "none")]
    return [word.removeprefix(CDI) for word in words]


def labels(container: dict[str, Any]) -> dict[str, str]:
    return (container.get("Config") or {}).get("Labels") or {}


def uuids_of(container: dict[str, Any], cards: Iterable[Card]) -> list[str]:
    words, known = words_of(container), list(cards)
    found = {card.uuid for card in known if "all" in words or card.uuid in words or str(card.index) in words}
    return sorted(found | {word for word in words if UUID.fullmatch(word)})


def as_holder(uuid: str, container: dict[str, Any]) -> Holder:
    name = clean(str(container.get("Name", "")).lstrip("/"), 64)
    config, own = container.get("Config") or {}, labels(container)
    return Holder(
        uuid=uuid,
        user=clean(own["gpu-host.user"], 32) if own.get("gpu-host.user") else None,
        since=instant((container.get("State") or {}).get("StartedAt", "")),
        what=f"container {name}",
        container=name,
        image=clean(config.get("Image", ""), 120),
        pair=clean(own["gpu-host.pair"], 32) if own.get("gpu-host.pair") else None,
    )


def container_of(pid: int) -> str | None:
    """Return the container that a process runs in, as its control group tells."""
    try:
        with open(f"{PROC}/{pid}/cgroup", encoding="utf-8", errors="replace") as file:
            found = CONTAINER_ID.search(file.read())
    except OSError:
        return None
    return found[0] if found else None


def owner_of(pid: int) -> str | None:
    try:
        uid = os.stat(f"{PROC}/{pid}").st_uid
    except OSError:
        return None
    return user_name(uid)


def user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def started(pid: int) -> float | None:
    """Return when a process was started, from its clock ticks since the boot."""
    try:
        with open(f"{PROC}/{pid}/stat", encoding="utf-8", errors="replace") as file:
            ticks = int(file.read().rpartition(")")[2].split()[19])
        with open(f"{PROC}/stat", encoding="utf-8") as file:
            boot = int(next(line.split()[1] for line in file if line.startswith("btime")))
    except (OSError, ValueError, IndexError, StopIteration):
        return None
    return boot + ticks / os.sysconf("SC_CLK_TCK")


def parse_holders(containers: list[dict[str, Any]], apps: str, cards: Iterable[Card]) -> tuple[Holder, ...]:
    """Return the running containers with a card, and the processes on cards that none of them explains."""
    known = list(cards)
    holders = [as_holder(uuid, one) for one in containers for uuid in uuids_of(one, known)]
    explained = {(uuid, one.get("Id")) for one in containers for uuid in uuids_of(one, known)}
    by_id = {one.get("Id"): one for one in containers}
    for uuid, pid_text, name in rows(apps, 3):
        pid = number(pid_text)
        if pid is None or not UUID.fullmatch(uuid):
            continue
        inside = container_of(pid)
        if (uuid, inside) in explained:
            continue
        if inside in by_id:
            explained.add((uuid, inside))
            holders.append(as_holder(uuid, by_id[inside]))
        else:
            what = f"process {pid} ({clean(os.path.basename(name), 40)}) in no container of this Docker"
            holders.append(Holder(uuid, owner_of(pid), started(pid), what, pid=pid))
    return tuple(holders)


def look(deal: Deal, limit: float = LOOK_S) -> View:
    """Ask nvidia-smi and docker at the same time, and put together what they say in time."""
    deadline = time.monotonic() + limit
    asked_cards = Asked("nvidia-smi", f"--query-gpu={FIELDS}", "--format=csv,noheader,nounits")
    asked_apps = Asked("nvidia-smi", f"--query-compute-apps={APPS}", "--format=csv,noheader")
    asked_ids = Asked("docker", "ps", "--quiet", "--no-trunc")
    containers, docker_problem = inspected(asked_ids.heard(deadline), deadline)
    smi = asked_cards.heard(deadline)
    apps = asked_apps.heard(deadline)
    cards = parse_cards(smi.out)
    # One card that is lost makes nvidia-smi fail, and its rows for the others are still good.
    smi_problem = "" if cards and not apps.problem else smi.problem or apps.problem
    known = {card.uuid for card in cards}
    return View(
        cards=cards,
        holders=parse_holders(containers, apps.out, cards),
        smi_problem=smi_problem,
        docker_problem=docker_problem,
        gone=tuple(uuid for uuid in deal.dealt() if cards and uuid not in known),
    )


def inspected(asked: Asked, deadline: float) -> tuple[list[dict[str, Any]], str]:
    ids = asked.out.split()
    if asked.problem or not ids:
        return [], asked.problem
    told = Asked("docker", "inspect", "--type=container", *ids).heard(deadline)
    try:
        containers = json.loads(told.out)
    except ValueError:
        return [], told.problem or "docker inspect's answer cannot be read"
    # One that ended between the two questions is missing, and the exit status says so.
    return containers, ""


# Words for people.


def moment(since: float | None, now: float) -> str:
    if since is None:
        return "an unknown time"
    then = dt.datetime.fromtimestamp(since)  # noqa: DTZ006  # the clock of the machine that people sit at
    today = dt.datetime.fromtimestamp(now).date() == then.date()  # noqa: DTZ006
    return f"{then:%H:%M}" if today else f"{then:%Y-%m-%d %H:%M}"


def spell(since: float | None, now: float) -> str:
    if since is None:
        return "-"
    minutes = max(0, int(now - since)) // 60
    if minutes < 60:  # noqa: PLR2004
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 48 * 60 else f"{minutes // 1440} d"


def and_list(names: Iterable[str]) -> str:
    *rest, last = list(names) or ["nobody"]
    return f"{', '.join(rest)} and {last}" if rest else last


def upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def pair_said(pair: Pair) -> str:
    return f"{clean(pair.name)} ({and_list(clean(user) for user in pair.users)})"


def card_said(uuid: str, view: View) -> str:
    card = view.card(uuid)
    return f"card {card.index}, {card.short}," if card else f"card {uuid}"


def dealt_said(deal: Deal, view: View) -> str:
    def one(pair: Pair) -> str:
        found = [(uuid, view.card(uuid)) for uuid in pair.cards]
        return f"{pair_said(pair)}: " + ", ".join(
            f"card {card.index if card else uuid}" for uuid, card in found
        )

    return "; ".join(one(pair) for pair in deal.pairs)


# gpu-who.


def cell(value: int | None, unit: str = "") -> str:
    return "-" if value is None else f"{value}{unit}"


def who_lines(deal: Deal, view: View, now: float) -> list[str]:
    """Return the table, 80 columns wide at most; what is not known is a dash."""
    lines = [f"{'':2} {'card':20} {'pair':11} {'load':>5} {'memory MiB':>13} {'temp':>5}  held by"]
    for card in view.cards:
        memory = f"{cell(card.used)}/{cell(card.total)}"
        pairs = fit(",".join(clean(pair.name) for pair in deal.owners(card.uuid)) or "-", 11)
        start = f"{card.index:2} {fit(card.short, 20):20} {pairs:11} {cell(card.load, '%'):>5} "
        start += f"{memory:>13} {cell(card.heat, 'C'):>5}  "
        holders = view.of(card.uuid)
        unsure = view.docker_problem or view.smi_problem
        lines.append(
            start + fit(brief(holders, now) if holders else "?" if unsure else "free", 80 - len(start))
        )
        lines += [fit(f"   > {detail(holder, now)}", 80) for holder in holders]
    for uuid in view.gone:
        owners = deal.owners(uuid)
        lines.append(f"   {uuid} of {and_list(clean(pair.name) for pair in owners)} is not there any more")
        lines.append(
            f"   (it was at {clean(owners[0].cards[uuid])}); whoever keeps this machine should look."
        )
    for problem in (each for each in (view.docker_problem, view.smi_problem) if each):
        lines += textwrap.wrap(f"not known: {problem}", 80, initial_indent="   ", subsequent_indent="   ")
    return lines


def fit(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "~"


def brief(holders: list[Holder], now: float) -> str:
    first = f"{holders[0].user or '?'} {spell(holders[0].since, now)}"
    return f"{first} +{len(holders) - 1}" if len(holders) > 1 else first


def detail(holder: Holder, now: float) -> str:
    image = f", {holder.image}" if holder.image else ""
    return f"{holder.said(now)}{image}"


def who_document(deal: Deal, view: View) -> dict[str, Any]:
    def held(holder: Holder) -> dict[str, Any]:
        return {
            "kind": "process" if holder.pid else "container",
            "user": holder.user,
            "pair": holder.pair,
            "container": holder.container,
            "image": holder.image,
            "pid": holder.pid,
            "since": holder.since,
        }

    unsure = view.docker_problem or view.smi_problem
    return {
        "schema": SCHEMA,
        "simulated": os.path.exists(SIMULATED),
        "cards": [
            {
                "index": card.index,
                "uuid": card.uuid,
                "pci": card.pci,
                "name": card.name,
                "pairs": [pair.name for pair in deal.owners(card.uuid)],
                "utilization_percent": card.load,
                "memory_used_mib": card.used,
                "memory_total_mib": card.total,
                "temperature_c": card.heat,
                # Where one of the two could not be asked, an empty list would say "free".
                "held_by": [held(h) for h in view.of(card.uuid)] or (None if unsure else []),
            }
            for card in view.cards
        ],
        "gone": [{"uuid": uuid, "pairs": [pair.name for pair in deal.owners(uuid)]} for uuid in view.gone],
        "problems": [problem for problem in (view.docker_problem, view.smi_problem) if problem],
    }


def who(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="gpu-who",
        allow_abbrev=False,
        description="The cards: whose they are, who holds them, since when.",
    )
    parser.add_argument("--json", action="store_true", help="a versioned document instead of the table")
    parser.add_argument(
        "--login", action="store_true", help="for the login message: quick, and never an error"
    )
    asked = parser.parse_args(arguments)
    deal = load_deal(CONFIG)
    view = look(deal, LOGIN_S if asked.login else LOOK_S)
    if asked.json:
        print(json.dumps(who_document(deal, view), indent=2))
        return 0
    print("\n".join(who_lines(deal, view, time.time())))
    pair = deal.pair_of(caller())
    if asked.login and pair:
        print(f"   yours, with {pair_said(pair)}. gpu-run IMAGE starts a container on your card.")
    return 0 if asked.login or not (view.docker_problem or view.smi_problem) else REFUSED


# gpu-run: which card, or why none.


def caller() -> str:
    """Return who calls: behind sudo the person, not root."""
    uid = os.getuid()
    behind = os.environ.get("SUDO_USER")
    return behind if uid == 0 and behind else user_name(uid)


def ids() -> tuple[int, int]:
    if os.getuid() == 0 and os.environ.get("SUDO_UID", "").isdigit():
        return int(os.environ["SUDO_UID"]), int(os.environ.get("SUDO_GID") or 0)
    return os.getuid(), os.getgid()


def candidates(deal: Deal, view: View, user: str, wanted: list[str], *, force: bool) -> list[str]:
    """Return the UUIDs that are meant; refuse cards that are not the caller's."""
    pair = deal.pair_of(user)
    if pair is None and not (force and wanted):
        raise RefusedError(
            f"You, {clean(user)}, are in no pair here ({dealt_said(deal, view)}). Ask whoever keeps it "
            "to add you to gpu_sharing_pairs, or one of them for the card: then --force with --card takes it."
        )
    own = list(pair.cards) if pair else []
    there = [uuid for uuid in own if uuid in {card.uuid for card in view.cards}]
    if not wanted or wanted == ["all"]:
        if not there:
            was = "; ".join(f"{uuid}, at {clean(pci)}" for uuid, pci in (pair.cards if pair else {}).items())
            raise RefusedError(
                f"The card of {clean(pair.name) if pair else user} has gone ({was}). Another one is not "
                "taken in its place: ask whoever keeps this machine to look at `nvidia-smi -L`."
            )
        return there
    chosen = []
    for word in wanted:
        card = next((card for card in view.cards if word in (str(card.index), card.uuid)), None)
        if card is None:
            have = and_list(str(card.index) for card in view.cards)
            raise RefusedError(f"There is no card {clean(word)} here; there are {have}. gpu-who lists them.")
        if card.uuid not in own and not force:
            owners = and_list(pair_said(each) for each in deal.owners(card.uuid))
            yours = and_list(card_said(uuid, view).rstrip(",") for uuid in own) if own else "none"
            raise RefusedError(
                f"{upper(card_said(card.uuid, view))} is not yours: it was dealt to {owners}; yours is "
                f"{yours}. Ask them; --force takes it all the same."
            )
        chosen.append(card.uuid)
    return list(dict.fromkeys(chosen))


def in_the_way(view: View, uuid: str, user: str) -> list[Holder]:
    """Return who holds a card, but for the caller's own processes outside of containers."""
    return [holder for holder in view.of(uuid) if holder.container or holder.user != user]


def choose(deal: Deal, view: View, user: str, wanted: list[str], *, force: bool) -> list[str]:
    """Return the UUIDs to start on; refuse what is busy, and say who to ask."""
    problems = [problem for problem in (view.smi_problem, view.docker_problem) if problem]
    if view.docker_problem == NO_MEMBER:
        raise RefusedError(f"{upper(view.docker_problem)}. Ask whoever keeps this machine.")
    if view.docker_problem or (problems and not (force and view.cards)):
        raise RefusedError(
            f"Whether a card is free is not known: {'; '.join(problems)}. Needed are answers of "
            "nvidia-smi and docker: ask whoever keeps this machine."
        )
    meant = candidates(deal, view, user, wanted, force=force)
    slices = [uuid for uuid in meant if (card := view.card(uuid)) and card.mig]
    if slices:
        raise RefusedError(
            f"{upper(card_said(slices[0], view))} is cut into MIG slices, which gpu-run does not give: "
            "ask whoever keeps this machine."
        )
    if force:
        return meant if wanted else meant[:1]
    free = [uuid for uuid in meant if not in_the_way(view, uuid, user)]
    if wanted and len(free) == len(meant):
        return meant
    if not wanted and free:
        return free[:1]
    raise RefusedError(busy(deal, view, [uuid for uuid in meant if uuid not in free], user))


def busy(deal: Deal, view: View, uuids: list[str], user: str) -> str:
    now = time.time()
    by = {uuid: ", and by ".join(h.said(now) for h in in_the_way(view, uuid, user)) for uuid in uuids}
    held = upper("; ".join(f"{card_said(uuid, view)} is held by {by[uuid]}" for uuid in uuids))
    people = {holder.user for uuid in uuids for holder in in_the_way(view, uuid, user)}
    ask = sorted(clean(name) for name in people if name and name != user)
    if not ask:
        owners = {name for uuid in uuids for pair in deal.owners(uuid) for name in pair.users}
        ask = sorted(clean(name) for name in owners if name != user)
    stop = "stop yours (`docker stop NAME`)" if user in people else "wait"
    whom = and_list(ask) if ask else "whoever keeps this machine"
    return f"{held}. Ask {whom}, or {stop}; --force starts beside it."


# gpu-run: the container.


@dataclass(frozen=True)
class Wish:
    """What was typed."""

    options: argparse.Namespace
    docker: list[str]
    image: str
    command: list[str]


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="gpu-run",
        allow_abbrev=False,
        usage="gpu-run [options] [-- DOCKER-OPTIONS... --] IMAGE [COMMAND...]",
        description="Starts a container on your own card. What stands between two -- goes to `docker run`.",
        epilog="Exit status: 1 refused, 2 usage, 125 to 127 docker's own, else the container's. "
        "What gpu-run itself says begins with gpu-run: on standard error.",
    )
    made.add_argument(
        "--card", action="append", default=[], metavar="N", help="index, UUID or all; may be repeated"
    )
    made.add_argument("--name", help="the container's name (default: pair, user and four letters)")
    made.add_argument("-d", "--detach", action="store_true", help="leave it running and come back at once")
    made.add_argument("--memory", help="instead of the card's share of the RAM (docker's notation, or none)")
    made.add_argument("--cpus", help="instead of the card's share of the cores (a number, or none)")
    made.add_argument("--shm-size", help="instead of half of the memory (docker's notation, or none)")
    made.add_argument("--root", action="store_true", help="as the image's own user, not as you")
    made.add_argument("--no-mount", action="store_true", help="without this folder at /work")
    made.add_argument("--force", action="store_true", help="though the card is busy, or not yours: ask first")
    made.add_argument("--dry-run", action="store_true", help="print the command and start nothing")
    made.add_argument("--compose", action="store_true", help="print a Compose file for your card instead")
    return made


VALUED = {"--card", "--name", "--memory", "--cpus", "--shm-size"}


def parse(arguments: list[str]) -> Wish:
    """Split into own options, docker's between two ``--``, image and command."""
    at = 0
    while at < len(arguments) and arguments[at].startswith("-") and arguments[at] != "--":
        at += 2 if arguments[at] in VALUED else 1
    own, rest, docker = arguments[:at], arguments[at:], []
    if rest[:1] == ["--"]:
        if "--" not in rest[1:]:
            raise UsageError("-- begins docker's options; needed is a second -- after them, before the image")
        end = rest.index("--", 1)
        docker, rest = rest[1:end], rest[end + 1 :]
    options = parser().parse_args(own)
    if not rest and not options.compose:
        raise UsageError("no image named: gpu-run [options] [-- DOCKER-OPTIONS... --] IMAGE [COMMAND...]")
    image = rest[0] if rest else "IMAGE"
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]*", image):
        raise UsageError(f"{clean(image)!r} is no image's name; docker's options go between two --")
    if options.name and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", options.name):
        raise UsageError(f"{clean(options.name)!r} is no container's name: letters, digits, _ . - only")
    refuse_by_hand(docker)
    return Wish(options, docker, image, rest[1:])


BY_HAND = (
    (r"--gpus(=.*)?|--runtime(=.*)?|--privileged(=.*)?", "--card chooses a card"),
    (r".*(nvidia\.com/gpu=|/dev/nvidia|NVIDIA_VISIBLE_DEVICES).*", "--card chooses a card"),
    (r".*gpu-host\.(pair|card|user|by)\b.*|--label-file(=.*)?", "by these labels others see who holds it"),
    (r"--name(=.*)?", "gpu-run has its own --name, before the --"),
    (r"-[a-z]*d[a-z]*|--detach(=.*)?", "gpu-run has its own --detach, before the --"),
)  # fmt: skip


def refuse_by_hand(docker: list[str]) -> None:
    """Refuse docker options by which a container would get another card, or not be seen to have one."""
    for word in docker:
        for pattern, why in BY_HAND:
            if re.fullmatch(pattern, word, re.DOTALL):
                raise UsageError(f"{clean(word)!r} cannot be passed to docker: {why}")


def shares(deal: Deal, taken: int) -> tuple[int | None, float | None, int | None]:
    """Return the memory in MiB, the cores and the shared memory in MiB for so many of the dealt cards."""
    part = taken / max(1, len(deal.dealt()))
    memory = None
    with (
        contextlib.suppress(OSError, StopIteration, ValueError),
        open(f"{PROC}/meminfo", encoding="utf-8") as file,
    ):
        total = int(next(line.split()[1] for line in file if line.startswith("MemTotal:"))) // 1024
        memory = int(total * deal.memory_percent / 100 * min(1.0, part)) or None
    cores = os.cpu_count()
    cpus = round(cores * deal.cpu_percent / 100 * min(1.0, part), 2) or None if cores else None
    return memory, cpus, int(memory * deal.shm_percent / 100) or None if memory else None


def way_of(deal: Deal) -> str:
    """Return how this engine is asked for a card: the toolkit's hook is what makes --gpus work."""
    if deal.way != "auto":
        return deal.way
    return "gpus" if shutil.which(HOOK) or os.path.exists(f"/usr/bin/{HOOK}") else "cdi"


def card_options(way: str, uuids: list[str]) -> list[str]:
    if way == "cdi":
        # Where nvidia is the default runtime an image's own variable would add every card.
        devices = [option for uuid in uuids for option in ("--device", f"{CDI}{uuid}")]
        return [*devices, "--env", "NVIDIA_VISIBLE_DEVICES=void"]
    # The value is a comma-separated record: these quotes are docker's, not the shell's.
    return ["--gpus", f'"device={",".join(uuids)}"']


def mount(folder: str) -> list[str]:
    """Write --mount's record, in which commas and quotes are quoted."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(["type=bind", f"source={folder}", "target=/work"])
    return ["--mount", text.getvalue(), "--workdir", "/work"]


def limit_options(deal: Deal, options: argparse.Namespace, taken: int) -> list[str]:
    memory, cpus, shm = shares(deal, taken)
    asked = {
        "--memory": (options.memory, f"{memory}m" if memory else None),
        "--cpus": (options.cpus, f"{cpus:g}" if cpus else None),
        "--shm-size": (options.shm_size, f"{shm}m" if shm else None),
    }
    values = {option: given or share for option, (given, share) in asked.items()}
    return [word for option, value in values.items() if value and value != "none" for word in (option, value)]


def lease_labels(pair: str, uuids: list[str], user: str) -> dict[str, str]:
    return {
        "gpu-host.by": "gpu-run",
        "gpu-host.pair": pair,
        "gpu-host.card": ",".join(uuids),
        "gpu-host.user": user,
    }


def container_name(wish: Wish, pair: str, user: str) -> str:
    made = re.sub(r"[^A-Za-z0-9_.-]", "-", f"{pair}-{user}-{secrets.token_hex(2)}")
    return wish.options.name or (made if made[0].isalnum() else f"x{made}")


def docker_run(deal: Deal, wish: Wish, uuids: list[str], user: str) -> list[str]:
    """Build the whole command."""
    options, pair = wish.options, deal.pair_of(user)
    name = pair.name if pair else "none"
    argv = ["docker", "run", "--rm", "--pull=never", "--name", container_name(wish, name, user)]
    if options.detach:
        argv.append("--detach")
    else:
        argv.append("-it" if sys.stdin.isatty() and sys.stdout.isatty() else "-i")
    argv += card_options(way_of(deal), uuids)
    argv += limit_options(deal, options, len(uuids))
    if not options.root:
        uid, gid = ids()
        argv += ["--user", f"{uid}:{gid}", "--env", "HOME=/work" if not options.no_mount else "HOME=/tmp"]
    if not options.no_mount:
        argv += mount(os.getcwd())
    for key, value in lease_labels(name, uuids, user).items():
        argv += ["--label", f"{key}={value}"]
    return [*argv, *wish.docker, wish.image, *wish.command]


def compose(deal: Deal, wish: Wish, uuids: list[str], user: str) -> str:
    """Write a Compose file with the caller's card in it; JSON's strings are YAML's."""
    pair = deal.pair_of(user)
    memory, cpus, shm = shares(deal, len(uuids))
    cdi = way_of(deal) == "cdi"
    devices = [f"{CDI}{uuid}" for uuid in uuids] if cdi else uuids
    uid, gid = ids()
    name = pair.name if pair else "none"
    lines = [
        f"# Pair {clean(name)}, by gpu-run --compose. The card is named by UUID: no renumbering changes it.",
        "# Compose does not ask whether the card is free; gpu-who does, and shows this container too.",
        "services:",
        "  work:",
        f"    image: {json.dumps(wish.image)}",
        f"    user: {json.dumps(f'{uid}:{gid}')}",
        f"    command: {json.dumps(wish.command)}" if wish.command else "",
        f"    shm_size: {shm}m" if shm else "",
        "    labels:",
    ]
    lines += [f"      {key}: {json.dumps(value)}" for key, value in lease_labels(name, uuids, user).items()
              if key != "gpu-host.by"]  # fmt: skip
    lines += ["    deploy:", "      resources:"]
    if memory or cpus:
        lines += ["        limits:", f"          memory: {memory}m" if memory else ""]
        lines += [f'          cpus: "{cpus:g}"' if cpus else ""]
    lines += [
        "        reservations:",
        "          devices:",
        f"            - driver: {'cdi' if cdi else 'nvidia'}",
    ]
    lines += [f"              device_ids: {json.dumps(devices)}", "              capabilities: [gpu]"]
    return "\n".join(line for line in lines if line)


# gpu-run: the moment of giving.


@contextlib.contextmanager
def locked(uuids: Iterable[str]) -> Iterator[list[int]]:
    """Hold the cards' locks, in one order for all callers; the files are made by tmpfiles.d, never here."""
    handles: list[int] = []
    try:
        for uuid in sorted(uuids):
            handles.append(opened(f"{LOCKS}/gpu-host-{uuid}.lock"))
            waited(handles[-1], uuid)
        yield handles
    finally:
        for handle in handles:
            # For the copy in docker's client too: closing alone would leave that one locked.
            fcntl.flock(handle, fcntl.LOCK_UN)
            os.close(handle)


def opened(path: str) -> int:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except PermissionError:
        raise RefusedError(
            f"{path} may not be opened by you: needed is docker's group (log in again after joining)."
        ) from None
    except OSError as error:
        raise RefusedError(
            f"{path} cannot be opened ({error.strerror}); needed is the file that systemd-tmpfiles makes: "
            "ask whoever keeps this machine for `systemd-tmpfiles --create`, or to remove what stands there."
        ) from None
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != LOCK_OWNER:
        os.close(handle)
        raise RefusedError(
            f"{path} is not the file that systemd-tmpfiles makes: whoever keeps this machine removes it."
        )
    return handle


def waited(handle: int, uuid: str) -> None:
    deadline = time.monotonic() + LOCK_S
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise RefusedError(
                    f"Somebody has been starting a container on card {uuid} for {LOCK_S:.0f} s: look at "
                    "gpu-who, and try again."
                ) from None
            time.sleep(0.05)
        else:
            return


def sweep(uuids: list[str], deal_cards: Iterable[Card]) -> None:
    """Remove containers of gpu-run's that were made and never started: whoever made one held this lock."""
    deadline = time.monotonic() + LOOK_S
    filters = ("--filter", "status=created", "--filter", "label=gpu-host.by=gpu-run")
    asked = Asked("docker", "ps", "--all", "--quiet", "--no-trunc", *filters).heard(deadline)
    left, _ = inspected(asked, deadline)
    for one in left:
        if set(uuids_of(one, deal_cards)) & set(uuids):
            Asked("docker", "rm", str(one.get("Id"))).heard(deadline)


def until_seen(child: subprocess.Popen[bytes], name: str) -> None:
    """Wait until the container runs, or is over, or will not come."""
    deadline = time.monotonic() + START_S
    while child.poll() is None and time.monotonic() < deadline:
        asked = Asked("docker", "inspect", "--type=container", "--format={{.State.Status}}", name)
        if asked.heard(deadline).out.strip() not in ("", "created"):
            return
        time.sleep(0.05)


def pulled(image: str) -> int:
    """Have the image here before the lock is taken: a pull takes minutes."""
    there = subprocess.run(["docker", "image", "inspect", image], capture_output=True, check=False)
    if there.returncode == 0:
        return 0
    say(f"the image {image} is not here: docker pull {image}")
    return subprocess.run(["docker", "pull", image], stdout=sys.stderr.fileno(), check=False).returncode


def say(text: str) -> None:
    print(f"gpu-run: {text}", file=sys.stderr, flush=True)


def give(deal: Deal, wish: Wish, user: str) -> int:
    """Look again under the lock, start, and keep the lock until the container is seen."""
    wanted, force = wish.options.card, wish.options.force
    lockable = candidates(deal, look(deal), user, wanted, force=force)
    with locked(lockable) as handles:
        view = look(deal)
        uuids = choose(deal, view, user, wanted, force=force)
        sweep(uuids, view.cards)
        now = time.time()
        for holder in (holder for uuid in uuids for holder in view.of(uuid)):
            say(f"{card_said(holder.uuid, view)} is also used by {holder.said(now)}")
        argv = docker_run(deal, wish, uuids, user)
        say(f"{and_list(card_said(uuid, view).rstrip(',') for uuid in uuids)}:\n{shlex.join(argv)}")
        # Docker's client shares the lock: were this killed now, it stays locked as long as that lives.
        child = subprocess.Popen(argv, pass_fds=handles)
        for number_ in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number_, lambda got, _: pass_on(child, got))
        until_seen(child, argv[argv.index("--name") + 1])
    return ended(child.wait())


def pass_on(child: subprocess.Popen[bytes], got: int) -> None:
    # From the keyboard it reaches docker's client as well.
    if got != signal.SIGINT:
        child.send_signal(got)


def ended(status: int) -> int:
    return 128 - status if status < 0 else status


def run(arguments: list[str]) -> int:
    wish, user = parse(arguments), caller()
    deal = load_deal(CONFIG)
    view = look(deal)
    if wish.options.compose:
        print(
            compose(
                deal, wish, candidates(deal, view, user, wish.options.card, force=wish.options.force), user
            )
        )
        return 0
    uuids = choose(deal, view, user, wish.options.card, force=wish.options.force)
    if wish.options.dry_run:
        print(shlex.join(docker_run(deal, wish, uuids, user)))
        return 0
    if pulled(wish.image):
        return DOCKER_FAILED
    return give(deal, wish, user)


def main(program: str, arguments: list[str]) -> int:
    name = "gpu-who" if os.path.basename(program).startswith("gpu-who") else "gpu-run"
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        return who(arguments) if name == "gpu-who" else run(arguments)
    except RefusedError as refused:
        print(f"{name}: {refused}", file=sys.stderr)
        return 0 if name == "gpu-who" and "--login" in arguments else REFUSED
    except UsageError as usage:
        print(f"{name}: {usage}. {name} --help says more.", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def entry() -> NoReturn:
    # Not sys.exit: the interpreter would wait for a program that hangs in the kernel.
    status = main(sys.argv[0], sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    entry()

"""What gpu_verify refuses before a host is asked: a budget that is none or too long, a price of nothing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jinja2 import StrictUndefined
from jinja2.nativetypes import NativeEnvironment

ROLE = Path(__file__).resolve().parents[3] / "roles/gpu_verify"


def read(name: str) -> Any:
    return yaml.safe_load((ROLE / name).read_text(encoding="utf-8"))


def refusals(**changes: Any) -> list[str]:
    """Return the messages of the assertions that do not hold, templated as Ansible would."""
    values = {**read("defaults/main.yml"), **changes}
    environment = NativeEnvironment(undefined=StrictUndefined)
    environment.tests["match"] = lambda text, pattern: re.match(pattern, text) is not None
    asked = (ROLE / "tasks/assert.yml").read_text(encoding="utf-8")
    for name, template in read("vars/main.yml").items():
        if name not in asked:
            continue  # as Ansible: what no assertion names is not templated
        text = template if isinstance(template, str) else f"{{{{ {template} }}}}"
        values[name] = environment.from_string(text).render(**values)
    said = []
    for task in read("tasks/assert.yml"):
        check = task["ansible.builtin.assert"]
        conditions = check["that"] if isinstance(check["that"], list) else [check["that"]]
        if not all(environment.from_string(f"{{{{ {one} }}}}").render(**values) for one in conditions):
            said.append(str(environment.from_string(check["fail_msg"]).render(**values)))
    return said


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"gpu_verify_race_budget": 60},
        {"gpu_verify_race_budget": "90"},
        {"gpu_verify_race_budget": "2m"},
        {"gpu_verify_race_budget": "14m"},
        {"gpu_verify_race_budget": "20m", "gpu_verify_race_deadline": "1260"},
        {"gpu_verify_price_cpu": 0.1},
        {"gpu_verify_price_cpu": "0.1", "gpu_verify_price_card": 2},
    ],
    ids=str,
)
def test_what_can_be_done_is_not_refused(changes: dict[str, Any]) -> None:
    assert refusals(**changes) == []


@pytest.mark.parametrize("budget", ["", "soon", "0", "0s", "60sm", "-60", "1h", "15m", "841"])
def test_no_budget_or_one_that_the_deadline_cuts_off(budget: str) -> None:
    [said] = refusals(gpu_verify_race_budget=budget)
    assert f"gpu_verify_race_budget is {budget}" in said
    assert "gpu_verify_race_deadline 900" in said
    assert "Lower gpu_verify_race_budget, or raise gpu_verify_race_deadline" in said


@pytest.mark.parametrize("price", [0, -1, "gratis", ""])
def test_a_price_that_is_none(price: Any) -> None:
    [said] = refusals(gpu_verify_price_card=price)
    assert f"gpu_verify_price_card {price}." in " ".join(said.split())
    assert "gpu_verify_price_cpu is not set" in said
    assert "leave them out" in said

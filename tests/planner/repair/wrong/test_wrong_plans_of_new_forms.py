"""Wrong plans of each form, as planners write them, with all that the check says of each.

A line of FORM.jsonl is a plan and its problems. `INFOSPACE_TELL=1 pytest tests/planner/repair/wrong` writes anew what
the check says: read the difference as a planner would before it is kept.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "corpus"))
from running import furnish

from infospace import Space
from planner import check_plan

HERE = Path(__file__).parent
FORMS = ("lists", "expressions", "query", "pages", "until", "tables")
SAID = ("code", "severity", "pointer", "message", "hint", "fix")


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Space]:
    with furnish(tmp_path_factory.mktemp("wrong")) as space:
        yield space


def lines(form: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / f"{form}.jsonl").read_text(encoding="utf-8").splitlines()]


def told(space: Space, plan: Any) -> list[dict[str, Any]]:
    return [{key: getattr(problem, key) for key in SAID} for problem in check_plan(space, plan)[1].found]


@pytest.mark.parametrize("form", FORMS)
def test_each_mistake_is_told_in_these_words(furnished: Space, form: str) -> None:
    """At its place, with what would have fitted."""
    if os.environ.get("INFOSPACE_TELL"):
        written = [{**line, "problems": told(furnished, line["plan"])} for line in lines(form)]
        text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in written)
        if text != (HERE / f"{form}.jsonl").read_text(encoding="utf-8"):
            (HERE / f"{form}.jsonl").write_text(text, encoding="utf-8")
            pytest.fail("written anew: look at it, then run again without INFOSPACE_TELL")
    for line in lines(form):
        assert told(furnished, line["plan"]) == line["problems"], line["plan"]


@pytest.mark.parametrize("form", FORMS)
def test_a_mistake_is_one_problem(form: str) -> None:
    """Fifty mistakes of a form at least; of few is more than one thing wrong, and each says where."""
    found = lines(form)
    assert len(found) >= 50
    assert all(line["problems"] for line in found)
    assert sum(len(line["problems"]) > 1 for line in found) <= len(found) // 10
    assert all(problem["pointer"] or problem["code"] == "not-a-plan" for line in found for problem in line["problems"])

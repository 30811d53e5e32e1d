"""The language at the small door: in short, whole, and what both pages say of it holds."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Space
from planner.parse.control_flow import FORMS
from planner.parse.page import (
    LONGEST_SHORT,
    MAX_PAGE_CHARACTERS,
    language_page,
    page_verbs,
    short_page,
    short_page_verbs,
    verbs_by_sql,
)

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
from serving import text_of
from smalldoor import Door, play


def test_the_language_comes_in_one_call_on_one_page(space: Space) -> None:
    page = play(space, lambda door: door.text("find"))
    assert page == short_page(space.catalogue)
    assert len(page) <= LONGEST_SHORT == 1_850


def test_the_whole_language_comes_by_its_name(space: Space) -> None:
    page = play(space, lambda door: door.text("find", names=["language"]))
    assert page == language_page(space.catalogue)
    assert len(page) <= MAX_PAGE_CHARACTERS == 4_000


def test_the_prompt_for_a_plan_has_the_language_and_names_the_tools_of_this_door(space: Space) -> None:
    async def scene(door: Door) -> str:
        [message] = (await door.client.get_prompt("plan", {"goal": "count the notes"})).messages
        return text_of(message.content)

    text = play(space, scene)
    assert text.startswith(language_page(space.catalogue))
    assert text.endswith("this goal, `find` the tools that it needs, and `run` it.\n\nGoal: count the notes")


def test_the_short_page_names_what_it_does_not_explain(space: Space) -> None:
    """Each verb and form of the whole page stands there, and each name that it sends to `find` is described."""
    short = short_page(space.catalogue)
    [more] = [line for line in short.splitlines() if line.startswith("More by name")]
    names = re.findall(r"[a-z-]+", more.partition(":")[2].partition(";")[0])
    assert {*names} | {*short_page_verbs()} | verbs_by_sql() == {*page_verbs()} | {"coerce"}
    assert not {*names} & {*short_page_verbs()}
    assert not verbs_by_sql() & {*names, *short_page_verbs()}

    async def scene(door: Door) -> str:
        return await door.text("find", names=names[:30])

    assert "there is no primitive" not in play(space, scene)


@pytest.mark.parametrize("page", [page_verbs, short_page_verbs])
def test_the_page_names_verbs_with_arguments_that_they_have(space: Space, page: Any) -> None:
    """Each that has to be given but the target of a group, and none that is not there."""
    for name, takes in page().items():
        words = set(re.findall(r"[a-z_]+", re.sub(r"\"[^\"]*\"|[(\[{→].*", " ", takes)))
        if name in FORMS:
            known, needed = {*FORMS[name].required, *FORMS[name].optional, "out"}, {*FORMS[name].required}
        else:
            entry = space.catalogue.get(name)
            known = {*entry.arguments}
            needed = {one.name for one in entry.arguments.values() if one.required} - {"target"}
        told = {*re.findall(r"[a-z_]+", takes)}
        assert needed <= told, (name, needed - told)
        assert words & known or not known - {"target"}, (name, words, known)
    for name in FORMS:
        assert name in page_verbs()


def test_what_the_page_says_of_values_and_expressions_holds(space: Space) -> None:
    """Each sentence that left a model in doubt, run."""
    plan = [
        {"type": "create-collection", "value": [3, 1, 2], "out": "$c"},
        {"type": "sort", "target": "$c", "by": ["content desc"], "out": "$sorted"},
        {"type": "create-note", "value": {"rows": [{"a": 1, "tags": ["x", "y"]}, {"a": None}]}, "out": "$n"},
        {"type": "query", "sql": "SELECT r.a AS a FROM $n.rows r WHERE r.a > 0", "out": "$q"},
        {"type": "query", "sql": "SELECT t AS tag FROM $n.rows r, UNNEST(r.tags) AS t", "out": "$tags"},
        {
            "type": "if",
            "condition": "$n.rows[0].a = 1",
            "then": [{"type": "create-note", "value": "in", "out": "$inner"}],
            "else": [{"type": "create-note", "value": "out", "out": "$inner"}],
        },
        {
            "type": "for-each",
            "target": "$c",
            "as": "$i",
            "collect": "$d",
            "out": "$round",
            "until": "$d > 1",
            "do": [{"type": "compute", "expression": "$i * 1", "out": "$d"}],
        },
        {"type": "create-note", "value": "a\nb", "out": "$text"},
        {"type": "split", "target": "$text", "delimiter": "line", "out": "$lines"},
        {
            "type": "create-note",
            "out": "$all",
            "value": {
                "sorted": "$sorted[-1]",
                "q": "$q[0].a",
                "tags": "$tags[1].tag",
                "inner": "$inner",
                "lines": "$lines[1]",
            },
        },
        {
            "type": "compute",
            "out": "$f",
            "expression": "format(1234.5, 2) || ' ' || length($n.rows) || weekday('2026-11-23') || substr('abc', 1, 2)",
        },
        {"type": "create-note", "value": {"all": "$all", "f": "$f", "round": "$round"}, "out": "$end"},
    ]
    told = play(space, lambda door: door.call("run", plan=plan))
    assert told.get("result") == {
        "all": {"sorted": 1, "q": 1, "tags": "y", "inner": "in", "lines": "b"},
        "f": "1,234.50 21ab",
        "round": [3],
    }, told

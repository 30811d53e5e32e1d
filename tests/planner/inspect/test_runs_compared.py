"""Two runs compared: by step and by set, and the same either way round."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infospace import Invalid, Space, open_space
from infospace.core.errors import NotFound
from infospace.editing.edit import edit
from infospace.tools.local import LocalTools
from planner.execute.start import run_sync
from planner.inspect.diff import ContentDiff, Difference, SetDiff, diff, duration_ms
from planner.sessions.session import Session

NOTES = [
    {"type": "create-note", "value": text, "metadata": {"n": n}, "name": text} for n, text in enumerate(("a", "b", "c"))
]

LISTED = [
    {"type": "create-collection", "value": ["Note_1", "Note_2", "Note_3"], "out": "$all"},
    {"type": "filter-structured", "target": "$all", "where": "@metadata.n >= 1", "out": "$some"},
    {"type": "pluck", "target": "$some", "field": "content", "out": "$texts"},
    {"type": "flatten", "target": "$texts", "separator": "\n", "out": "$text"},
]


@pytest.fixture
def based(space: Space) -> Space:
    """Three kept Notes, whose texts are their names."""
    ran(space, *NOTES)
    return space


def ran(space: Space, *steps: Any, given: Any = None, status: str = "success", **head: Any) -> str:
    """Run steps; return the run."""
    found = run_sync(space, {"steps": list(steps), **head}, given or {})
    assert found.status == status, (found.reason, found.problems)
    assert found.run is not None
    return found.run


def compared(space: Space, before: str, after: str) -> Difference:
    """Compare two runs."""
    with space.store.reading() as snapshot:
        return diff(snapshot, before, after)


def changes(found: Difference) -> dict[str, tuple[str, ...]]:
    """Return what changed, by position."""
    return {step.position: step.changes for step in found.steps}


def test_a_run_is_the_same_as_itself_and_as_its_repetition(based: Space) -> None:
    """What a run makes has other ids, and the same contents."""
    first, second = ran(based, *LISTED), ran(based, *LISTED)
    assert compared(based, first, first).same
    found = compared(based, first, second)
    assert (found.same, found.alike, found.replanned) == (True, 4, False)
    assert duration_ms(found.before) is not None


def test_notes_that_came_and_went_are_named_by_identity(based: Space) -> None:
    """In the step that found others, and in what was made of them."""
    first = ran(based, *LISTED)
    ran(based, {"type": "set-metadata", "target": "a", "value": {"n": 1}})
    ran(based, {"type": "set-metadata", "target": "c", "value": {"n": 0}})
    found = compared(based, first, ran(based, *LISTED))
    assert changes(found) == {
        "1": ("inputs",),
        "2": ("inputs", "outcome"),
        "3": ("inputs", "outcome"),
        "4": ("inputs", "outcome"),
    }
    some = found.steps[1].outcome
    assert isinstance(some, SetDiff)
    assert [(item.id, item.title) for item in some.came] == [("Note_1", "a")]
    assert [(item.id, item.title) for item in some.went] == [("Note_3", "c")]
    assert not some.reordered
    assert found.result == ContentDiff("b\nc", "a\nb")


def test_another_order_alone_is_told(based: Space) -> None:
    """Nothing came, nothing went."""
    sort = {"type": "sort", "target": "$all", "by": "@metadata.n", "out": "$s"}
    found = compared(based, ran(based, LISTED[0], sort), ran(based, LISTED[0], {**sort, "order": "desc"}))
    assert changes(found) == {"2": ("arguments", "outcome")}
    assert found.steps[0].outcome == SetDiff((), (), True)


def test_the_same_place_once_more_is_one_that_came(based: Space) -> None:
    """Collections may have a thing twice."""
    one = {"type": "create-collection", "value": ["Note_1"], "out": "$c"}
    found = compared(based, ran(based, one), ran(based, {**one, "value": ["Note_1", "Note_1"]}))
    outcome = found.steps[0].outcome
    assert isinstance(outcome, SetDiff)
    assert [item.id for item in outcome.came] == ["Note_1"]


def test_what_is_written_otherwise_and_comes_to_the_same_is_told_apart(based: Space) -> None:
    """Arguments of a step with transient inputs, whose ids are always others."""
    flat = {"type": "flatten", "target": "$c", "out": "$t"}
    make = {"type": "create-collection", "value": ["x"], "out": "$c"}
    found = compared(based, ran(based, make, flat), ran(based, make, {**flat, "separator": "-"}))
    assert changes(found) == {"2": ("arguments",)}
    assert found.replanned


def test_steps_of_one_alone_other_types_and_other_names_are_told(based: Space) -> None:
    first = ran(based, {"type": "create-note", "value": 1, "out": "$x"}, {"type": "say", "value": "hello"})
    second = ran(
        based, {"type": "think", "value": "1"}, {"type": "say", "value": "hello"}, {"type": "say", "value": "!"}
    )
    found = compared(based, first, second)
    assert changes(found) == {"1": ("type", "out", "arguments", "outcome"), "3": ()}
    assert found.steps[0].outcome == ContentDiff("Note", None, "kind")
    assert (found.steps[1].before, found.steps[1].after is None) == (None, False)


def test_a_step_that_fails_and_why_are_told(based: Space) -> None:
    """A reason that names other ids of what the run made is the same reason."""
    steps = [
        {"type": "create-collection", "value": ["x"], "out": "$c"},
        {"type": "pluck", "target": "$c", "field": "content", "out": "$d"},
        {"type": "bind", "target": "$d[4]", "out": "$e"},
    ]
    first, second = ran(based, *steps, status="failed"), ran(based, *steps, status="failed")
    assert compared(based, first, second).same
    found = compared(based, first, ran(based, *steps[:2], {**steps[2], "target": "$d[0]"}))
    assert found.ended
    assert changes(found) == {"3": ("arguments", "inputs", "status", "outcome")}


def test_another_reason_alone_is_told(based: Space) -> None:
    """The step failed in both, and in other words."""
    server, words = LocalTools("s"), iter(["the disk is full", "the disk is gone"])

    @server.tool()
    def fails() -> None:
        """Fail."""
        raise Invalid(next(words))

    based.tools.add(server)
    first, second = (ran(based, {"type": "s/fails"}, status="failed") for _ in range(2))
    found = compared(based, first, second)
    assert (changes(found), found.ended, found.same) == ({"1": ("reason",)}, True, False)


def test_a_run_takes_no_less_than_nothing(based: Space) -> None:
    """Though the clock was set while it went on; of one that goes on it is not known."""
    with based.store.reading() as snapshot:
        run = replace(snapshot.runs(limit=1)[0], started="2026-04-01T09:30:01.500Z")
    ends = ("2026-04-01T09:30:03.750Z", "2026-04-01T09:30:01.000Z", None)
    assert [duration_ms(replace(run, ended=end)) for end in ends] == [2250.0, 0.0, None]


def test_positions_inside_of_forms_are_compared(based: Space) -> None:
    """Each item of a loop on its own; ten comes after nine."""

    def plan(last: int) -> list[dict[str, Any]]:
        return [
            {"type": "create-collection", "value": list(range(last)), "out": "$c"},
            {
                "type": "for-each",
                "target": "$c",
                "as": "$i",
                "do": [{"type": "coerce", "target": "$i", "coercion": "string", "out": "$s"}],
                "out": "$all",
            },
        ]

    found = compared(based, ran(based, *plan(8)), ran(based, *plan(11)))
    only = [step.position for step in found.steps if step.before is None]
    assert only == ["2.do[9].1", "2.do[10].1", "2.do[11].1"]
    assert found.alike == 8


def test_inputs_that_a_run_was_given_are_compared_by_content(based: Space) -> None:
    head = {"inputs": {"x": {"type": "string"}}}
    steps = [{"type": "flatten", "target": "$all", "separator": "${x}", "out": "$t"}]
    first, same, other = (ran(based, LISTED[0], *steps, given={"x": x}, **head) for x in (", ", ", ", "; "))
    assert compared(based, first, same).same
    found = compared(based, first, other)
    assert found.inputs == (("x", ContentDiff(", ", "; ")),)
    assert changes(found) == {"2": ("inputs", "outcome")}


def test_metadata_are_compared_where_contents_are_the_same(based: Space) -> None:
    one = {"type": "create-note", "value": 1, "metadata": {"k": 1}, "out": "$x"}
    found = compared(based, ran(based, one), ran(based, {**one, "metadata": {"k": 2}}))
    assert found.steps[0].outcome == ContentDiff({"k": 1}, {"k": 2}, "metadata")


def test_a_note_that_was_changed_between_is_another_input(based: Space) -> None:
    """By its version, though it is the same Note."""
    steps = [{"type": "load", "target": "a", "out": "$a"}, {"type": "flatten", "target": "$all", "out": "$t"}]
    first = ran(based, LISTED[0], *steps)
    edit(based.store, based.context().get("a"), "other", {}, "edit")
    found = compared(based, first, ran(based, LISTED[0], *steps))
    assert changes(found) == {"1": ("inputs",), "2": ("inputs", "outcome"), "3": ("inputs", "outcome")}


@pytest.mark.parametrize("text", ["x", "y"])
def test_sessions_are_compared_by_their_lines(based: Space, text: str) -> None:
    """A literal that is another one, and what was read of it."""

    async def session(value: str) -> str:
        opened = Session(based)
        for line in ({"type": "create-note", "value": value, "out": "$a"}, {"type": "say", "value": "${a}"}):
            assert (await opened.play([line])).status == "success"
        return (await opened.end()).run or ""

    import asyncio

    found = compared(based, asyncio.run(session("x")), asyncio.run(session(text)))
    assert found.same == (text == "x")
    assert changes(found) == ({} if text == "x" else {"1": ("arguments", "outcome"), "2": ("inputs",)})


def test_what_was_removed_for_good_is_said_to_be_beyond_comparison(based: Space) -> None:
    """It is no difference, and no sameness either."""
    first, second = (ran(based, {"type": "update-note", "target": "a", "value": value}) for value in ("x", "y"))
    assert (changes(compared(based, first, second)), compared(based, first, second).lost) == (
        {"1": ("arguments", "inputs", "outcome")},
        (),
    )
    ran(based, {"type": "update-note", "target": "a", "value": "z"})
    based.store.purge(really=True)
    found = compared(based, first, second)
    assert (changes(found), found.lost) == ({"1": ("arguments", "inputs")}, ("1",))


def test_what_was_pruned_is_no_difference_that_can_be_told(based: Space) -> None:
    """A run that is not there cannot be compared."""
    first, second = ran(based, *LISTED), ran(based, *LISTED)
    based.store.forget([first], really=True)
    with pytest.raises(NotFound, match=first):
        compared(based, first, second)


STEPS = st.one_of(
    st.builds(lambda v: {"type": "create-note", "value": v}, st.integers(0, 1)),
    st.builds(
        lambda v: {"type": "create-collection", "value": v}, st.lists(st.sampled_from(["Note_1", "Note_2", "z"]))
    ),
    st.builds(lambda s: {"type": "flatten", "target": "$c", "separator": s}, st.sampled_from("-+")),
    st.builds(lambda n: {"type": "head", "target": "$c", "count": n}, st.integers(0, 3)),
    st.builds(lambda f: {"type": "pluck", "target": "$c", "field": f}, st.sampled_from(("content", "@id"))),
    st.builds(lambda i: {"type": "bind", "target": f"$c[{i}]", "on_fail": "continue"}, st.integers(0, 3)),
)


@settings(max_examples=40, deadline=None)
@given(plans=st.lists(st.lists(STEPS, max_size=4), min_size=2, max_size=2), first=st.integers(0, 3))
def test_a_comparison_the_other_way_round_is_its_mirror_image(
    tmp_path_factory: pytest.TempPathFactory, plans: list[list[dict[str, Any]]], first: int
) -> None:
    """And one of a run with itself, or with its repetition, has nothing in it."""
    with open_space(tmp_path_factory.mktemp("diff") / "space.db") as space:
        ran(space, *NOTES)
        base = {"type": "create-collection", "value": ["Note_1", "Note_2", "x"][:first], "out": "$c"}
        one, other = (ran(space, base, *steps) for steps in plans)
        again = ran(space, base, *plans[0])
        there, back = compared(space, one, other), compared(space, other, one)
        assert there.mirrored() == back
        assert back.mirrored() == there
        assert there.mirrored().mirrored() == there
        assert compared(space, one, one).same
        assert compared(space, one, again).same
        assert there.same or plans[0] != plans[1]

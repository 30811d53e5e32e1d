"""Reading in pieces gives the whole, exactly; and the journal gives back what a run had bound."""

from __future__ import annotations

import asyncio
import json
import sys
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infospace import Invalid, NotFound, PathNotFound, Space, open_space
from infospace.core.listener import NullListener
from infospace.data.json_text import dump, same
from infospace.data.paths import Path as PathInside
from infospace.files.import_files import import_paths
from planner.execute.start import check_plan, run_sync
from planner.server.read import ReadRequest, read_piece
from planner.server.run_json import find_run, recorded_run_json
from planner.sessions.bindings import bindings_of
from planner.sessions.session import Session

sys.path.insert(0, str(Path(__file__).parents[1]))
from furnished import furnish_whole
from rightplans import FOLDER

NAMES = sorted(path.stem for path in FOLDER.glob("*.json") if not path.stem.endswith(".outcome"))
WHOLE = slice(None)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | texts,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)


def made(space: Space, value: Any) -> str:
    """Make a Note and return its id."""
    [row] = run_sync(space, {"inputs": {"it": {"default": value}}, "steps": [{"type": "bind", "target": "$it"}]}).steps
    assert row.resource is not None
    return row.resource


def part_of(text: str) -> slice:
    """Return the slice that `next` says."""
    start, stop = text.split(":")
    return slice(int(start), int(stop))


def pieces(space: Space, ref: str, most: int, part: slice = WHOLE) -> list[Any]:
    """Read in pieces to the end; what is told to be too long alone is read by its own reference."""
    found: list[Any] = []
    following: slice | None = part
    while following is not None:
        piece = read_piece(space, ReadRequest(ref, following, (), most))
        start, _ = piece["slice"].split(":")
        for told in piece.get("too_long", ()):
            piece["data"][told["at"] - int(start)] = joined(space, told["ref"], most)
        found.append(piece)
        following = None if piece["next"] is None else part_of(piece["next"])
    return found


def joined(space: Space, ref: str, most: int) -> Any:
    """Read all of something in pieces, and put it together."""
    parts = pieces(space, ref, most)
    if parts[0]["of"] == "elements":
        return [element for piece in parts for element in piece["data"]]
    if len(parts) == 1 and not isinstance(parts[0]["data"], str):
        return parts[0]["data"]
    text = "".join(piece["data"] for piece in parts)
    whole = read_piece(space, ReadRequest(ref, WHOLE, (), 10**9))["data"]
    return whole if text in (whole, dump(whole)) else text


def test_a_note_is_read_by_its_path_its_title_or_an_alias(space: Space, tmp_path: Path) -> None:
    """Where one alone has it; a plan is told its id where it is written otherwise."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.md").write_text("# Same\n", encoding="utf-8")
    (tmp_path / "a" / "alpha.md").write_text("---\naliases: [Al]\n---\n# Alpha plan\n", encoding="utf-8")
    import_paths(space, [tmp_path], NullListener())
    alpha = read_piece(space, ReadRequest("a/alpha.md", WHOLE, (), 100))
    for ref in ("alpha.md", "Alpha plan", "alpha PLAN", "al"):
        assert read_piece(space, ReadRequest(ref, WHOLE, (), 100)) == alpha
        [problem] = check_plan(space, [{"type": "load", "target": ref}])[1].found
        if ref in ("alpha.md", "Alpha plan"):
            assert (problem.code, problem.severity) == ("maybe-unnamed", "warning")
            continue
        assert problem.message == f"nothing has the name {ref!r}, which is a note's path or title"
        assert problem.fix == [{"op": "replace", "path": "/0/target", "value": alpha["ref"]}]
    with pytest.raises(NotFound, match="'same' is the path or title of 2 notes: Note_"):
        read_piece(space, ReadRequest("same", WHOLE, (), 100))
    with pytest.raises(NotFound, match="nothing here has the name 'nowhere'"):
        read_piece(space, ReadRequest("nowhere", WHOLE, (), 100))
    assert check_plan(space, [{"type": "load", "target": "same.md"}])[1].found[0].fix is None


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(value=values, most=st.integers(1, 80))
def test_pieces_make_up_the_whole_whatever_their_size(space: Space, value: Any, most: int) -> None:
    """Of texts, lists and other JSON; what alone is too long has a reference of its own."""
    assert same(joined(space, made(space, value), most), value)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(text=texts, most=st.integers(1, 50), start=st.integers(-250, 250), stop=st.integers(-250, 250))
def test_a_part_is_read_as_python_cuts_it(space: Space, text: str, most: int, start: int, stop: int) -> None:
    """In pieces of no more than was asked for."""
    found = pieces(space, made(space, text), most, slice(start, stop))
    assert "".join(piece["data"] for piece in found) == text[start:stop]
    assert all(len(piece["data"]) <= most for piece in found)


def test_items_come_with_ids_and_just_the_fields_asked_for(space: Space) -> None:
    """An item that misses one of them has no content."""
    steps = [{"type": "create-collection", "value": [{"a": 1, "b": 2}, {"a": 3}, "text"], "out": "$c"}]
    collection = str(run_sync(space, steps).bindings["c"].id)
    piece = read_piece(space, ReadRequest(collection, WHOLE, (PathInside.parse("a"),), 4_000))
    assert [item.get("content") for item in piece["data"]] == [{"a": 1}, {"a": 3}, None]
    assert "content" not in piece["data"][2]
    one = piece["data"][0]["id"]
    assert read_piece(space, ReadRequest(one, WHOLE, (PathInside.parse("b"),), 4_000))["data"] == {"b": 2}
    with pytest.raises(Invalid, match="has no `c`"):
        read_piece(space, ReadRequest(one, WHOLE, (PathInside.parse("c"),), 4_000))


def test_fields_are_taken_of_places_and_runs_too(space: Space) -> None:
    """Of an object, of each element of a list, of a record; what has none says so."""
    note = made(space, {"list": [{"a": 1, "b": 2}, {"b": 3}, 4], "one": {"a": {"c": 5}, "b": 6}, "text": "x"})
    run = run_sync(space, [{"type": "create-note", "value": 1, "out": "$x"}]).run

    def read(ref: str, *fields: str) -> Any:
        return read_piece(space, ReadRequest(ref, WHOLE, [PathInside.parse(one) for one in fields], 4_000))["data"]

    assert read(f"{note}.list", "a") == [{"a": 1}, None, None]
    assert read(f"{note}.one", "a.c") == {"a": {"c": 5}}
    assert read(f"{note}.list[0]", "b") == {"b": 2}
    assert read(str(run), "status", "bindings.x.kind") == {"status": "success", "bindings": {"x": {"kind": "Note"}}}
    some = read_piece(space, ReadRequest(str(run), WHOLE, [PathInside.parse("status")], 4_000))
    assert (some["ref"], some["of"]) == (run, "characters")
    for ref, name in ((f"{note}.one", "z"), (f"{note}.text", "a"), (str(run), "z")):
        with pytest.raises(Invalid, match=f"has no `{name}`"):
            read(ref, name)


def test_pieces_tell_where_they_are_and_what_is_too_long(space: Space) -> None:
    """To the character: what has just room is in the piece; what has none is null, with a reference of its own."""
    note = made(space, ["abc", "x" * 30, 1, "defg", "y" * 40])

    def read(most: int, part: slice = WHOLE) -> dict[str, Any]:
        return read_piece(space, ReadRequest(note, part, (), most))

    long = {"at": 1, "ref": f"{note}[1]", "characters": 32}
    first = read(24)
    assert (first["of"], first["total"], first["slice"], first["next"]) == ("elements", 5, "0:1", "1:5")
    assert (first["data"], "too_long" in first) == (["abc"], False)
    second = read(24, slice(1, 5))
    assert (second["slice"], second["next"], second["data"], second["too_long"]) == ("1:2", "2:5", [None], [long])
    assert read(7, slice(2, 4))["data"] == [1, "defg"]
    assert (read(6, slice(2, 4))["data"], read(6, slice(2, 4))["next"]) == ([1], "3:4")
    last = read(40, slice(3, None))
    assert (last["slice"], last["next"], last["data"]) == ("3:4", "4:5", ["defg"])
    assert read(42, slice(4, None))["data"] == ["y" * 40]
    assert read(41, slice(4, None))["too_long"] == [{"at": 4, "ref": f"{note}[4]", "characters": 42}]
    nothing = read(40, slice(4, 2))
    assert (nothing["slice"], nothing["next"], nothing["data"]) == ("4:4", None, [])


def test_what_is_too_long_takes_the_room_of_what_stands_in_its_place(space: Space) -> None:
    """So that no piece is longer than was asked for by much."""
    note = made(space, ["x" * 100] * 9)
    told = read_piece(space, ReadRequest(note, WHOLE, (), 99))
    size = len(dump({"at": 0, "ref": f"{note}[0]", "characters": 102}))
    assert (told["data"], told["next"]) == ([None] * (99 // size), f"{99 // size}:9")
    assert [one["at"] for one in told["too_long"]] == list(range(99 // size))


def test_an_object_is_whole_where_it_has_room_and_text_else(space: Space) -> None:
    """Also where a part of it is asked for."""
    note = made(space, {"a": 1})
    whole = {"of": "characters", "total": 7, "slice": "0:7", "next": None, "data": {"a": 1}}
    assert read_piece(space, ReadRequest(note, WHOLE, (), 7)).items() >= whole.items()
    cut = {**whole, "slice": "0:6", "next": "6:7", "data": '{"a":1'}
    assert read_piece(space, ReadRequest(note, WHOLE, (), 6)).items() >= cut.items()
    assert read_piece(space, ReadRequest(note, slice(0, 7), (), 7))["data"] == '{"a":1}'
    last = read_piece(space, ReadRequest(note, slice(-2, None), (), 7))
    assert (last["slice"], last["data"], last["total"]) == ("5:7", "1}", 7)


def test_a_piece_says_what_it_is_of(space: Space) -> None:
    """Of a resource its kind, name and version; a place, and a run, by what was asked for."""
    steps = [{"type": "create-note", "value": "text", "name": "hello", "out": "$x"}]
    result = run_sync(space, steps)
    note = str(result.bindings["x"].id)
    piece = read_piece(space, ReadRequest("hello", WHOLE, (), 9))
    assert (piece["ref"], piece["kind"], piece["name"], piece["version"]) == (note, "Note", "hello", 1)
    assert read_piece(space, ReadRequest(f"{note}.@id", WHOLE, (), 99))["ref"] == f"{note}.@id"
    run = read_piece(space, ReadRequest(str(result.run), WHOLE, (), 9))
    assert (run["ref"], run["of"], run["data"]) == (result.run, "characters", '{"run":"r')
    with pytest.raises(Invalid, match="is not a place in Note_1"):
        read_piece(space, ReadRequest(f"{note}.[", WHOLE, (), 9))
    with pytest.raises(Invalid, match="a slice here has no step, and this has 2"):
        read_piece(space, ReadRequest(note, slice(0, 4, 2), (), 9))
    assert read_piece(space, ReadRequest(note, slice(1, 3, 1), (), 9))["data"] == "ex"
    nothing = read_piece(space, ReadRequest(note, slice(3, 1), (), 9))
    assert (nothing["slice"], nothing["next"], nothing["data"]) == ("3:3", None, "")


def test_more_items_than_are_fetched_at_once_are_read(space: Space) -> None:
    """In their order, each once, from where one asks to where one asks."""
    steps = [{"type": "create-collection", "value": list(range(120)), "out": "$c"}]
    collection = str(run_sync(space, steps).bindings["c"].id)
    for part in (slice(None), slice(7, 107), slice(49, 51), slice(-50, None)):
        piece = read_piece(space, ReadRequest(collection, part, (), 100_000))
        assert [item["content"] for item in piece["data"]] == list(range(120))[part]
        assert (piece["of"], piece["total"], piece["next"]) == ("items", 120, None)


def test_places_are_read_by_their_path(space: Space) -> None:
    """In content, and through a Collection's items."""
    note = made(space, {"list": [{"deep": "down"}], "odd key": 1})
    steps = [{"type": "create-collection", "value": [note], "out": "$c"}]
    collection = str(run_sync(space, steps).bindings["c"].id)
    for ref, value in (
        (f"{note}.list[0].deep", "down"),
        (f'{note}["odd key"]', 1),
        (f"{collection}[-1].list", [{"deep": "down"}]),
    ):
        assert read_piece(space, ReadRequest(ref, WHOLE, (), 4_000))["data"] == value
    with pytest.raises(PathNotFound, match="has no key 'nothing'"):
        read_piece(space, ReadRequest(f"{note}.nothing", WHOLE, (), 4_000))
    with pytest.raises(Invalid, match="is not a path: found"):
        read_piece(space, ReadRequest(f"{note}.list[", WHOLE, (), 4_000))


def test_what_a_branch_bound_is_lost_where_the_branches_failed(space: Space) -> None:
    """Though its step ended well, as the run itself had it."""
    branches = [
        [{"type": "create-note", "value": [1], "out": "$a"}],
        [{"type": "load", "target": "$list[5]", "out": "$b"}],
    ]
    plan = [
        {"type": "create-collection", "value": [1], "out": "$list"},
        {"type": "parallel", "branches": branches, "on_fail": "continue"},
    ]
    result = run_sync(space, plan)
    row, steps = find_run(space, str(result.run))
    assert ("2.branches[1].1", "success") in [(step.position, step.status) for step in steps]
    assert bindings_of(row.inputs, steps).keys() == result.bindings.keys() == {"list"}


def test_the_journal_tells_the_time_of_a_result_that_no_step_gave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the time at which it was kept, also where that is another one than that at which it was made."""
    ticks = count()
    monkeypatch.setattr("infospace.core.clock._written", lambda _moment: f"2026-04-01T09:30:{next(ticks):06.3f}Z")
    plan = json.loads((FOLDER / "result_place.json").read_text(encoding="utf-8"))
    with open_space(tmp_path / "space.db") as space:
        result = run_sync(space, plan)
        row, steps = find_run(space, str(result.run))
        assert recorded_run_json(space, row, steps, live=False)["result"] == result.to_json()["result"]


@pytest.mark.parametrize("live", [False, True])
def test_a_run_that_somebody_goes_on_with_already_waits_for_nothing(space: Space, live: bool) -> None:
    """The journal says so a little later: nobody is asked meanwhile what was answered."""
    result = run_sync(space, [{"type": "ask", "value": "How many?", "out": "$said"}])
    shown = recorded_run_json(space, *find_run(space, str(result.run)), live=live)
    asked = [(one["step"], one["question"]) for one in shown["pending"]]
    assert (shown["status"], asked) == (("running", []) if live else ("suspended", [("1", "How many?")]))


def test_a_session_between_two_calls_is_as_its_last_call_ended(space: Space) -> None:
    """Its journal has it as suspended, whatever came of the call."""
    good, bad = {"type": "create-note", "value": [], "out": "$x"}, {"type": "load", "target": "$x[4]"}

    async def scene() -> list[str]:
        session = Session(space, "s")
        shown = []
        for step in (good, bad, good):
            result = await session.play([step])
            row, steps = find_run(space, str(result.run))
            assert row.status == "suspended"
            shown.append(recorded_run_json(space, row, steps, live=False)["status"])
        return shown

    assert asyncio.run(scene()) == ["success", "failed", "success"]


@pytest.mark.parametrize("name", NAMES)
def test_the_journal_gives_back_what_a_plan_had_bound(name: str, tmp_path: Path) -> None:
    """For every sample plan: loops, branches, failures that were handled, saved plans; the same answer besides."""
    plan = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    with open_space(tmp_path / "space.db") as space:
        furnish_whole(space)
        result = run_sync(space, plan)
        row, steps = find_run(space, str(result.run))
        shown = recorded_run_json(space, row, steps, live=False)
        assert shown == {**result.to_json(), "problems": []}
        bound = bindings_of(row.inputs, steps)
        assert {variable: bound[variable] for variable in result.bindings} == {
            variable: resource.id for variable, resource in result.bindings.items()
        }

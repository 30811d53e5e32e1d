"""`$hits.@extra`: what a step found out besides its result, such as the proof of a search, in the plan itself."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from infospace import Invalid, Space, open_space
from planner.check.space_facts import SnapshotFacts
from planner.editor import complete
from planner.execute.start import Prepared, check_plan, prepare, run_sync
from planner.language.references import whole_reference
from planner.lifecycle.dry_run import dry_run
from planner.lifecycle.fork import fork
from planner.lifecycle.replay import replay
from planner.lifecycle.resume import answer, resume
from planner.parse.saved_plans import save_plan
from planner.sessions.jsonl import LineRunner

HITS = {"type": "discover-notes", "query": "zebra", "mode": "keyword", "limit": "all", "out": "$hits"}
KEPT = [{"type": "create-note", "value": f"a zebra number {number}", "name": f"zebra {number}"} for number in range(3)]


def say(text: str) -> dict[str, Any]:
    """A step that makes a Note of a text."""
    return {"type": "create-note", "value": text, "out": "$report"}


def problems(space: Space, *steps: dict[str, Any]) -> list[Any]:
    """What is wrong with steps."""
    found = check_plan(space, {"steps": list(steps)})[1].found
    return [problem for problem in found if problem.severity == "error"]


def report(space: Space, *steps: dict[str, Any]) -> Any:
    """The result of a plan whose last step is the report."""
    result = run_sync(space, {"steps": list(steps)})
    assert result.status == "success", (result.reason, result.problems)
    assert result.result is not None
    return result.result.data


@pytest.fixture
def kept(space: Space) -> Space:
    """A space with three Notes."""
    assert run_sync(space, {"steps": KEPT}).status == "success"
    return space


def test_a_report_quotes_its_proof(kept: Space) -> None:
    """In a text, with its type as a value, and of an item too."""
    text = say("${hits.@extra.certificate.matched} of ${hits.@extra.certificate.notes}, ${hits[0].@extra.item_count}")
    assert report(kept, HITS, text) == "3 of 3, 3"
    value = {"type": "create-note", "value": {"proof": "$hits.@extra.certificate"}, "out": "$report"}
    proof = report(kept, HITS, value)["proof"]
    assert (proof["exhaustive"], proof["matched"], proof["words"]) == (True, 3, ["zebra"])


QUOTE = say("all: ${hits.@extra.certificate.exhaustive}")


def test_conditions_ask_for_the_proof(kept: Space) -> None:
    """As for any place: by its type, and by whether it is there."""

    def chosen(condition: dict[str, Any]) -> Any:
        branch = {"type": "if", "condition": condition, "then": [say("yes")], "else": [say("no")]}
        return report(kept, HITS, branch)

    assert chosen({"type": "equals", "target": "$hits.@extra.certificate.exhaustive", "value": True}) == "yes"
    assert chosen({"type": "greater_than", "target": "$hits.@extra.certificate.matched", "value": 3}) == "no"
    assert chosen({"type": "bound", "target": "$hits.@extra.certificate.words_left_out"}) == "no"


def test_an_operation_of_map_quotes_the_proof(kept: Space) -> None:
    """For each item, as a step does."""
    operation = {"type": "create-note", "value": "${item} of ${hits.@extra.certificate.matched}"}
    items = {"type": "create-collection", "value": ["one", "two"], "out": "$items"}
    steps = [HITS, items, {"type": "map", "target": "$items", "operation": operation, "out": "$told"}]
    assert report(kept, *steps) == ["one of 3", "two of 3"]


def test_a_where_compares_with_the_proof(kept: Space) -> None:
    """As a typed parameter."""
    few = {"type": "filter-structured", "target": "$numbers", "where": "n < $hits.@extra.certificate.matched"}
    numbers = {"type": "create-collection", "value": [{"n": 2}, {"n": 3}], "out": "$numbers"}
    assert report(kept, HITS, numbers, {**few, "out": "$few"}) == [{"n": 2}]


@pytest.mark.parametrize(
    ("written", "message", "hint"),
    [
        ("$hits.@extra.certificate.exhaustiv", "there is no `certificate.exhaustiv`", "`certificate.exhaustive`"),
        ("$hits.@extra.certficate", "there is no `certficate`", "`certificate`"),
        ("$hits.@extra.certificate.max_blow", "there is no `certificate.max_blow`", "`certificate.max_below`"),
        ("$hits.certificate.matched", "which its step has in `extra`", "`$hits.@extra.certificate.matched`"),
        ("$hits[0].item_count", "which its step has in `extra`", "`$hits[0].@extra.item_count`"),
    ],
)
def test_a_place_that_the_proof_has_not_is_refused_with_a_fix(
    kept: Space, written: str, message: str, hint: str
) -> None:
    """The check knows what a search proves, by its mode."""
    step = {"type": "create-note", "value": {"proof": written}, "out": "$report"}
    [found] = problems(kept, HITS, step)
    assert (found.code, message in found.message, hint in (found.hint or "")) == ("unknown-field", True, True), found
    assert problems(kept, HITS, {**step, "value": {"proof": found.fix[0]["value"]}}) == []
    [in_text] = problems(kept, HITS, say(f"say ${{{written[1:]}}}"))
    assert (in_text.code, in_text.fix is not None) == ("unknown-field", message.startswith("there is no "))
    for operation in in_text.fix or ():
        assert problems(kept, HITS, say(operation["value"])) == []


def test_the_proof_has_types(kept: Space) -> None:
    """A list of words is no number, and by meaning there are no words."""
    head = {"type": "head", "target": "$hits", "count": "$hits.@extra.certificate.exhaustive", "out": "$few"}
    assert [found.code for found in problems(kept, HITS, head)] == ["bad-argument"]
    by_meaning = {**HITS, "mode": "semantic"}
    assert [found.code for found in problems(kept, by_meaning, say("${hits.@extra.certificate.words}"))]
    assert not problems(kept, by_meaning, say("${hits.@extra.certificate.notes}"))


def test_what_was_changed_since_has_the_extra_of_that(kept: Space) -> None:
    """`add` makes the next version: the proof is not one of what is in it now, and the check does not say so."""
    add = {"type": "add", "target": "$hits", "value": "$one"}
    one = {"type": "create-note", "value": "another", "out": "$one"}
    assert report(kept, HITS, one, add, say("${hits.@extra.added}")) == "1"
    failed = run_sync(kept, {"steps": [HITS, one, add, QUOTE]})
    assert failed.status == "failed"
    assert "`certificate` does not exist: the `extra` of step 3 has no key 'certificate'" in str(failed.reason)


def test_an_item_that_was_changed_leaves_the_proof_of_the_search(kept: Space) -> None:
    """The Collection has no next version, so the check goes on knowing what its step has in `extra`."""
    update = {"type": "update-note", "target": "zebra 1", "value": {"stripes": 3}}
    assert report(kept, HITS, update, say("${hits.@extra.certificate.matched}")) == "3"
    [found] = problems(kept, HITS, update, say("${hits.@extra.certificate.nonsense}"))
    assert (found.code, found.pointer) == ("unknown-field", "/steps/2/value")


def test_the_check_claims_nothing_of_what_may_have_been_changed(kept: Space) -> None:
    """Through another variable, in a later round of a loop, or by its name."""
    wrong = say("${hits.@extra.certificate.nonsense}")
    one, named = {"type": "create-note", "value": 1, "out": "$one"}, {**HITS, "name": "h"}
    again = {"type": "create-collection", "value": ["$one"], "name": "h", "replace": True}
    add = {"type": "add", "target": "$hits", "value": "$one"}
    many = {"type": "create-collection", "value": [1, 2], "out": "$many"}
    size = {"type": "size", "target": "$hits", "out": "$n"}
    less = {"type": "less_than", "target": "$n", "value": 9}
    for steps in (
        [HITS, one, {"type": "bind", "target": "$hits", "out": "$other"}, {**add, "target": "$other"}, wrong],
        [named, one, again, wrong],
        [HITS, one, many, {"type": "for-each", "target": "$many", "as": "$i", "do": [wrong, add]}],
        [named, one, many, {"type": "for-each", "target": "$many", "as": "$i", "do": [wrong, again]}],
        [HITS, one, size, {"type": "while", "condition": less, "body": [wrong, add, size]}],
    ):
        assert problems(kept, *steps) == []
    kept_as_it_was = {"type": "for-each", "target": "$many", "as": "$i", "do": [wrong]}
    assert [found.code for found in problems(kept, HITS, one, many, kept_as_it_was)] == ["unknown-field"]


def test_it_is_there_after_a_resume(kept: Space) -> None:
    """From the journal, in another process as in this."""
    ask = {"type": "ask", "value": "Go on?", "out": "$yes"}
    result = run_sync(kept, {"steps": [HITS, ask, QUOTE]})
    assert (result.status, result.run is not None) == ("suspended", True)
    answer(kept, str(result.run), "2", "yes")
    with open_space(Path(kept.store.address)) as other:
        ended = asyncio.run(resume(other, str(result.run)))
    assert ended.result is not None
    assert ended.result.data == "all: true"


def test_it_is_there_in_a_fork_and_a_replay(kept: Space) -> None:
    """Of a step that is not run again, too."""
    result = run_sync(kept, {"steps": [HITS, QUOTE]})
    change = {"op": "replace", "path": "/steps/1/value", "value": "${hits.@extra.certificate.matched}!"}
    forked = asyncio.run(fork(kept, str(result.run), "2", [change]))
    assert forked.result is not None
    assert forked.result.data == "3!"
    for recorded in (True, False):
        replayed = asyncio.run(replay(kept, str(result.run), recorded=recorded))
        assert replayed.result.result is not None
        assert replayed.result.result.data == "all: true"


def test_it_is_there_through_a_name_and_in_a_later_run(kept: Space) -> None:
    """What is kept leads to the run that made it."""
    assert run_sync(kept, {"steps": [{**HITS, "name": "the hits"}]}).status == "success"
    load = {"type": "load", "target": "the hits", "out": "$hits"}
    assert report(kept, load, QUOTE) == "all: true"


def test_it_is_there_in_a_saved_plan_and_from_one(kept: Space) -> None:
    """A saved plan has its own steps."""
    save_plan(kept, "hits", {"steps": [HITS, QUOTE], "result": "$report"})
    save_plan(kept, "only hits", {"steps": [HITS], "result": "$hits"})
    assert report(kept, {"type": "plan:hits", "out": "$report"}) == "all: true"
    assert report(kept, {"type": "plan:only hits", "out": "$hits"}, QUOTE) == "all: true"


def test_branches_side_by_side_have_theirs(kept: Space) -> None:
    """Though the rows of the second are written when the first has ended."""
    one = {**HITS, "query": "nothing", "out": "$none"}
    branches = [[one], [HITS, {**QUOTE, "out": "$said"}]]
    assert report(kept, {"type": "parallel", "branches": branches}, say("${said}")) == "all: true"


def test_a_loop_has_that_of_each_round(kept: Space) -> None:
    """By the position of the execution."""
    queries = {"type": "create-collection", "value": ["zebra", "lion"], "out": "$words"}
    body = [{**HITS, "query": "${word}"}, say("${hits.@extra.certificate.matched}")]
    loop = {"type": "for-each", "target": "$words", "as": "$word", "do": body, "collect": "$report", "out": "$all"}
    assert report(kept, queries, loop) == ["3", "0"]


def test_what_no_step_made_has_none(kept: Space) -> None:
    """Nor does what a run made that the journal has no more; a condition can ask."""
    made = run_sync(kept, {"steps": [{"type": "create-note", "value": "x", "name": "x"}]})
    kept.store.forget([str(made.run)], really=True)
    load = {"type": "load", "target": "x", "out": "$hits"}
    failed = run_sync(kept, {"steps": [load, QUOTE]})
    assert "no step that the journal has made Note_" in str(failed.reason)
    bound = {"type": "bound", "target": "$hits.@extra.certificate"}
    assert report(kept, load, {"type": "if", "condition": bound, "then": [say("y")], "else": [say("n")]}) == "n"


def test_a_step_that_tells_nothing_has_an_empty_one(kept: Space) -> None:
    """It is there, without keys."""
    made = {"type": "create-note", "value": "x", "out": "$x"}
    assert report(kept, made, {"type": "create-note", "value": {"e": "$x.@extra"}, "out": "$r"}) == {"e": {}}


def test_it_is_offered_while_a_plan_is_written(kept: Space) -> None:
    """`@extra`, and what is in it."""

    def labels(written: str) -> list[str]:
        hits = '{"type": "discover-notes", "query": "x", "mode": "keyword", "out": "$hits"}'
        text = '{"steps": [' + hits + ', {"type": "create-note", "value": "' + written
        with kept.store.reading() as snapshot:
            found = complete(text, len(text), kept.catalogue, SnapshotFacts(snapshot))
        return [] if found is None else [offer.label for offer in found.offers]

    assert ".@extra" in labels("$hits.")
    assert ".certificate" in labels("$hits.@extra.")
    assert {".matched", ".exhaustive", ".words"} <= set(labels("$hits.@extra.certificate."))


@pytest.mark.parametrize("written", ["$x.@extra", "$x[0][-1].@id", '$x.@extra.a["b c"][0]', "$x[2].@metadata.tags[0]"])
def test_such_a_reference_is_written_as_it_is_read(written: str) -> None:
    """What always means the resource stands without quotes."""
    assert str(whole_reference(written)) == written


def test_a_content_key_of_that_name_does_not_stand_first() -> None:
    """It would be read as the step's `extra`."""
    with pytest.raises(Invalid, match="has @extra as a content key in first place"):
        whole_reference('$x["@extra"]')


def test_it_is_there_in_the_lines_of_a_session(kept: Space) -> None:
    """Each line is checked and run by itself."""

    async def go() -> Any:
        script = LineRunner(kept, lambda _event: None, None, None)
        for line in ({"goal": "lines"}, HITS, QUOTE):
            assert await script.line(line) is None
        return await script.end()

    ended = asyncio.run(go())
    assert (ended.status, ended.result.data) == ("success", "all: true")


def test_it_is_there_in_a_dry_run(kept: Space) -> None:
    """A search is made there, too."""
    prepared = prepare(kept, {"steps": [HITS, QUOTE]})
    assert isinstance(prepared, Prepared)
    dried = asyncio.run(dry_run(kept, prepared)).result
    assert (dried.status, dried.result.data if dried.result else None) == ("success", "all: true")

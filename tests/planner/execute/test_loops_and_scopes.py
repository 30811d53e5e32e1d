"""`for-each` and `map`: what their items give; and who sees which variable."""

from __future__ import annotations

from typing import Any

import pytest

from infospace import InfospaceError, Space
from infospace.tools.local import LocalTools

MIXED = {"type": "create-collection", "value": [[1], 7, [3]], "out": "$c"}
CUT: dict[str, Any] = {"type": "load", "target": "$item", "slice": "0:1", "out": "$s"}
EACH: dict[str, Any] = {"type": "for-each", "target": "$c", "do": [CUT], "out": "$r"}
MAP: dict[str, Any] = {"type": "map", "target": "$c", "operation": {"type": "load", "slice": "0:1"}, "out": "$r"}
BOTH = pytest.mark.parametrize("loop", [EACH, MAP], ids=["for-each", "map"])


def note(value: Any, out: str) -> dict[str, Any]:
    return {"type": "create-note", "value": value, "out": out}


def infos(space: Space, result: Any) -> list[Any]:
    with space.store.reading() as snapshot:
        found: Any = snapshot.get(result.bindings["r"].id)
    return [None if member.info is None else dict(member.info) for member in found.members]


@BOTH
def test_stop_fails_the_step_at_the_first_failing_item_and_names_it(run: Any, loop: Any) -> None:
    """Index from 1 and id."""
    result = run(MIXED, loop)
    assert result.status == "failed"
    assert "item 2 (Note_" in result.reason


@BOTH
def test_items_after_one_that_fails_do_not_run(run: Any, space: Space, loop: Any) -> None:
    """Unless the step goes on."""
    taken: list[int] = []
    server = LocalTools("shelf")

    @server.tool()
    async def take(number: int) -> int:
        """Take a book."""
        taken.append(number)
        if number == 2:
            raise InfospaceError("there is no second book")
        return number

    space.tools.add(server)
    call = {"type": "shelf/take", "arguments": {"number": "$item"}}
    form = {**loop, "do": [{**call, "out": "$s"}]} if loop is EACH else {**loop, "operation": call}
    numbers = {"type": "create-collection", "value": [1, 2, 3], "out": "$c"}
    assert (run(numbers, form).status, taken) == ("failed", [1, 2])
    taken.clear()
    assert (run(numbers, {**form, "on_fail": "continue"}).status, taken) == ("success", [1, 2, 3])


@BOTH
def test_continue_records_the_failing_item_and_goes_on(run: Any, space: Space, loop: Any) -> None:
    """`extra.failed` has index (from 0), item, status and reason; the membership of the others their own."""
    result = run(MIXED, {**loop, "on_fail": "continue"})
    assert result.result.data == [[1], [3]]
    row = next(row for row in result.steps if row.position == "2")
    [failed] = row.extra["failed"]
    assert (failed["index"], failed["status"]) == (1, "failed")
    assert failed["item"].startswith("Note_")
    assert "slice" in failed["reason"]
    assert [info["index"] for info in infos(space, result)] == [0, 2]
    assert {info["status"] for info in infos(space, result)} == {"success"}


@BOTH
def test_without_filter_null_positions_match(run: Any, space: Space, loop: Any) -> None:
    """A null Note stands where an item failed, with the reason in its membership."""
    result = run(MIXED, {**loop, "on_fail": "continue", "filter_null": False})
    assert result.result.data == [[1], None, [3]]
    info = infos(space, result)[1]
    assert (info["index"], info["status"]) == (1, "failed")
    assert "slice" in info["reason"]


@BOTH
def test_the_step_succeeds_even_with_every_item_failed(run: Any, loop: Any) -> None:
    """Its result is empty, and all are recorded."""
    result = run({"type": "create-collection", "value": [1, 2], "out": "$c"}, {**loop, "on_fail": "continue"})
    assert (result.status, result.result.data) == ("success", [])
    assert len(next(row for row in result.steps if row.position == "2").extra["failed"]) == 2


@BOTH
def test_a_list_that_binds_the_name_supplies_the_items_result(run: Any, loop: Any) -> None:
    """The list sees the item and the error."""
    name = "$s" if loop is EACH else "$r"
    result = run(MIXED, {**loop, "on_fail": [note("${item}: ${error.kind}", name)]})
    assert result.result.data == [[1], "7: invalid", [3]]
    assert "2[2].on_fail.1" in [row.position for row in result.steps]
    assert next(row for row in result.steps if row.position == "2").extra["failed"] == []


@BOTH
@pytest.mark.parametrize(
    "handler", [[{"type": "say", "value": "oh"}], [{**CUT, "out": "$r"}]], ids=["silent", "failing"]
)
def test_a_list_that_fails_or_binds_nothing_records_the_item(run: Any, loop: Any, handler: Any) -> None:
    """The step goes on all the same."""
    result = run(MIXED, {**loop, "on_fail": handler})
    assert (result.status, result.result.data) == ("success", [[1], [3]])
    assert [entry["index"] for entry in next(r for r in result.steps if r.position == "2").extra["failed"]] == [1]


def test_what_the_failing_body_bound_is_no_result_of_the_item(run: Any) -> None:
    """Only what the list binds counts; for the item's own name, only what it binds anew."""
    made = {"type": "create-collection", "value": [1], "out": "$c"}
    fails = {"type": "load", "target": "$item", "slice": ":1", "out": "$t"}
    loop = {"type": "for-each", "target": "$c", "do": [note("half", "$s"), fails], "out": "$r"}
    oh = [{"type": "say", "value": "oh"}]
    assert run(made, {**loop, "collect": "$s", "on_fail": oh}).result.data == []
    assert run(made, {**loop, "collect": "$item", "on_fail": oh}).result.data == []
    again = [note("again ${item}", "$item")]
    assert run(made, {**loop, "collect": "$item", "on_fail": again}).result.data == ["again 1"]


def test_null_results_are_left_out_unless_positions_are_to_match(run: Any) -> None:
    """A null content, or a branch that gave nothing."""
    made = {"type": "create-collection", "value": [1, 2], "out": "$c"}
    one = {"type": "if", "condition": {"type": "equals", "target": "$item", "value": 1}, "then": [note("one", "$s")]}
    loop = {"type": "for-each", "target": "$c", "do": [one], "out": "$r"}
    assert run(made, loop).result.data == ["one"]
    assert run(made, {**loop, "filter_null": False}).result.data == ["one", None]
    mapped = {"type": "map", "target": "$c", "operation": {"type": "create-note", "value": None}, "out": "$r"}
    assert run(made, mapped).result.data == []
    assert run(made, {**mapped, "filter_null": False}).result.data == [None, None]


def test_collect_is_the_bodys_last_out_in_document_order(run: Any) -> None:
    """Also one inside an `if`, which writes to the body's scope."""
    made = {"type": "create-collection", "value": [1], "out": "$c"}
    inner = {"type": "if", "condition": {"type": "has_value", "target": "$item"}, "then": [note("b", "$b")]}
    loop = {
        "type": "for-each",
        "target": "$c",
        "do": [note("a", "$a"), inner, {"type": "say", "value": "x"}],
        "out": "$r",
    }
    assert run(made, loop).result.data == ["b"]


def test_collecting_the_item_itself_keeps_the_very_resources(run: Any) -> None:
    """`collect` may name the item."""
    made = {"type": "create-collection", "value": [1, 2], "out": "$c"}
    loop = {
        "type": "for-each",
        "target": "$c",
        "do": [{"type": "say", "value": "$item"}],
        "collect": "$item",
        "out": "$r",
    }
    same = {"type": "and", "of": [{"type": "contains", "target": "$r", "value": "$c[1]"}]}
    check = {"type": "if", "condition": same, "then": [note(True, "$y")], "else": [note(False, "$y")]}
    assert run(made, loop, check).result.data is True


def test_full_contents_are_kept(run: Any) -> None:
    """Never a preview."""
    long = "x" * 5_000
    made = {"type": "create-collection", "value": [long], "out": "$c"}
    assert run(made, {**MAP, "operation": "bind"}).result.data == [long]


# The item of `map`


def test_the_item_is_the_operations_first_resource_argument(run: Any) -> None:
    """Elsewhere, `$item` is written."""
    made = {"type": "create-collection", "value": [[1, 2], [3]], "out": "$c"}
    assert run(made, {**MAP, "operation": {"type": "load", "slice": ":1"}}).result.data == [[1], [3]]
    mapped = {**MAP, "operation": {"type": "create-note", "value": {"was": "$item", "text": "<${item[0]}>"}}}
    assert run(made, mapped).result.data == [{"was": [1, 2], "text": "<1>"}, {"was": [3], "text": "<3>"}]


def test_an_argument_that_may_be_left_out_takes_only_items_of_its_kind(run: Any) -> None:
    """A search for each Note writes `$item` as its query; the Note is no Collection to search within."""
    assert run({**note("Cats purr.", "$n"), "name": "cats"}).status == "success"
    made = {"type": "create-collection", "value": ["purring cats"], "out": "$c"}
    result = run(made, {**MAP, "operation": {"type": "discover-notes", "query": "$item"}})
    assert result.result.data[0][0]["text"] == "Cats purr."


def test_an_operation_that_needs_an_unbound_variable_skips_the_whole_map(run: Any) -> None:
    """As any step that needs one."""
    lost = {"type": "load", "target": "$n", "slice": ":1", "out": "$x", "on_fail": "continue"}
    mapped = {**MAP, "operation": {"type": "create-note", "value": "${item} ${x}"}}
    result = run(note(1, "$n"), lost, {**MIXED}, mapped)
    assert (result.status, result.steps[-1].status) == ("success", "skipped")
    assert result.steps[-1].extra["cause"] == "2"


# Scopes


def test_a_body_reads_outer_variables_and_never_rebinds_them(run: Any) -> None:
    """Its own binding of the same name ends with the item."""
    made = {"type": "create-collection", "value": [1, 2], "out": "$c"}
    loop = {
        "type": "for-each",
        "target": "$c",
        "do": [note("${x}+${item}", "$y"), note("inner", "$x")],
        "collect": "$y",
    }
    result = run({"steps": [note("outer", "$x"), made, {**loop, "out": "$r"}, note(["$x", "$r"], "$end")]})
    assert result.result.data == ["outer", ["outer+1", "outer+2"]]


def test_each_item_begins_with_a_fresh_scope(run: Any) -> None:
    """What one item bound, the next does not see."""
    made = {"type": "create-collection", "value": [1, 2], "out": "$c"}
    seen = {
        "type": "if",
        "condition": {"type": "bound", "target": "$x"},
        "then": [note("seen", "$s")],
        "else": [note("fresh", "$s")],
    }
    loop = {"type": "for-each", "target": "$c", "do": [seen, note(1, "$x")], "collect": "$s", "out": "$r"}
    assert run(made, loop).result.data == ["fresh", "fresh"]


def test_only_collect_leaves_a_body(errors: Any) -> None:
    """A variable of the body is unbound after it."""
    [problem] = errors([MIXED, EACH, {"type": "say", "value": "$s"}])
    assert (problem.code, problem.pointer) == ("unbound-variable", "/2/value")


def test_if_and_on_fail_write_to_the_scope_they_stand_in(run: Any) -> None:
    """A read sees the latest earlier binding in document order."""
    yes = {"type": "if", "condition": {"type": "has_value", "target": "$n"}, "then": [note("then", "$x")]}
    fails = {"type": "load", "target": "$n", "slice": ":1", "on_fail": [note("handled", "$x")]}
    result = run(note(7, "$n"), note("first", "$x"), yes, note("${x}", "$a"), fails, note(["$a", "$x"], "$end"))
    assert result.result.data == ["then", "handled"]


def test_the_default_result_is_the_last_value_at_any_depth(run: Any) -> None:
    """A loop counts after its body; a step that gives nothing does not count."""
    inside = {"type": "if", "condition": {"type": "notbound", "target": "$q"}, "then": [note("deep", "$d")]}
    assert run(note("first", "$a"), inside, {"type": "say", "value": "bye"}).result.data == "deep"
    assert run(
        {"type": "create-collection", "value": [1], "out": "$c"}, {**EACH, "do": [note(2, "$s")]}
    ).result.data == [2]
    assert run({"type": "think", "value": "nothing"}).result is None


def test_an_item_of_which_the_last_step_was_skipped_says_so(run: Any, space: Space) -> None:
    """`skipped`, with the cause, in the place that is kept for it."""
    lost = {**CUT, "out": "$a", "on_fail": "continue"}
    last = {"type": "create-note", "value": "${a}", "out": "$s"}
    result = run(MIXED, {**EACH, "do": [lost, last], "filter_null": False})
    assert result.status == "success", result.reason
    infos_ = infos(space, result)
    assert [info["status"] for info in infos_] == ["success", "skipped", "success"]
    assert "step 2.do[2].1 failed and was passed over" in infos_[1]["reason"]


def test_an_item_whose_result_was_deleted_again_says_so(run: Any, space: Space) -> None:
    """`skipped`, and which resource is gone."""
    drop = {"type": "if", "condition": "$item = 7", "then": [{"type": "remove", "target": "$s"}]}
    made = {"type": "create-note", "value": "<${item}>", "out": "$s"}
    kept = {"type": "create-collection", "value": [1, 7], "out": "$c"}
    result = run(kept, {**EACH, "do": [made, drop], "filter_null": False})
    assert result.result.data == ["<1>", None]
    first, second = infos(space, result)
    assert (first["status"], first["reason"]) == ("success", None)
    assert second["status"] == "skipped"
    assert "was deleted" in second["reason"]


def test_a_null_is_kept_with_the_item_that_gave_it(run: Any, space: Space) -> None:
    """As a Note of another value is: which item it was of stands in its membership."""
    rows = {"type": "create-collection", "value": [1, 2], "out": "$rows"}
    each = {"type": "for-each", "target": "$rows", "do": [note(None, "$x")], "filter_null": False, "out": "$r"}
    result = run(rows, each)
    with space.store.reading() as snapshot:
        items: Any = snapshot.get(result.bindings["rows"].id)
    assert [info["item"] for info in infos(space, result)] == [member.id for member in items.members]
    assert [(info["index"], info["status"], info["reason"]) for info in infos(space, result)] == [
        (0, "success", None),
        (1, "success", None),
    ]

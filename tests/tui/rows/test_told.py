"""A step told in words: how it ended, what it was called with, what a search proved, what was asked outside."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from rich.text import Text

from infospace.core.resources import Note
from infospace.journal.rows import CallRow, StepRow
from planner.inspect.step_arguments import Argument, ResolvedReference
from planner.inspect.variable_history import Binding
from planner.language.problems import Problems
from planner.parse.document import parse_plan
from tui.text.step_text import (
    certificate_lines,
    format_raw,
    format_result_size,
    render_arguments,
    render_calls,
    render_result,
    render_step,
    size_of,
)

COLOURS = {name: name for name in ("success", "error", "warning", "accent", "primary")}
AT = "2026-03-31T23:33:20.000Z"
STEP = parse_plan([{"type": "size", "target": "$x", "out": "$n"}], Problems()).steps[0]


def row(status: Any = "success", **fields: Any) -> StepRow:
    return StepRow("run_1", 1, "1", fields.pop("type", "create-note"), status, AT, 1500.0, **fields)


def note(resource: str = "Note_1", value: str = "abc", **fields: Any) -> StepRow:
    return row(resource=resource, value=value, **fields)


def told(found: StepRow | None) -> str:
    return str(render_step(found, STEP, "1", COLOURS))


def test_a_step_that_was_not_begun_says_what_it_would_do() -> None:
    assert told(None) == "1  size → $n\n○ not begun"
    assert str(render_step(None, None, "7", COLOURS)) == "7  \n○ not begun"


def styled(text: Text) -> dict[str, str]:
    """The stretches of a text that have a style, each with it."""
    return {text.plain[span.start : span.end].strip(): str(span.style) for span in text.spans}


def test_what_counts_stands_out_and_what_is_beside_stands_back() -> None:
    """By their styles: the step is bold, why it failed has the colour of faults, the kind of it is dim."""
    found = styled(render_step(row("failed", reason="no such note", error="not-found", out="n"), STEP, "1", COLOURS))
    assert (found["1  create-note"], found["→ $n"]) == ("bold", "primary")
    assert (found["why"], found["[not-found]"], found["no such note"]) == ("underline", "dim", "error")
    argument = Argument("target", "$x", [ResolvedReference("$x", None)], value="abc")
    found = styled(render_arguments([argument], COLOURS))
    assert (found["target"], found["was not bound"]) == ("bold", "dim")
    assert [str(span.style) for span in render_arguments([argument], COLOURS).spans] == [
        "bold",
        "primary",
        "dim",
        "dim",
    ]


def test_a_step_says_when_it_ran_and_what_it_gave() -> None:
    """The version where it is not the first."""
    assert told(note(out="n", version=1)).startswith("1  create-note → $n\n✓ success in 1.5 s, begun ")
    assert told(note(version=1)).endswith("\ngave Note_1, 3 characters")
    assert told(note(version=2)).endswith("\ngave Note_1 version 2, 3 characters")
    assert told(note(version=None)).endswith("\ngave Note_1, 3 characters")
    assert "gave" not in told(row())


def test_a_failure_says_why_with_its_kind_and_what_was_expected() -> None:
    found = told(row("failed", reason="no such note", error="not-found", expect="a note", trace="line 1"))
    assert found.endswith("\nexpected: a note\n\nwhy [not-found]\nno such note\nline 1")
    assert told(row("skipped", reason="as was said")).endswith("\n\nwhy\nas was said")
    assert told(row(reason="as was said")).endswith("\n\nreason\nas was said")


def test_what_cannot_be_told_any_more_has_the_colour_of_warnings() -> None:
    text = render_arguments([Argument("at", "$i", [], fault="it is gone")], COLOURS)
    assert [str(span.style) for span in text.spans] == ["bold", "warning"]


def test_a_certificate_stands_with_its_step() -> None:
    proof = {"notes": 5, "matched": 2, "returned": 2, "threshold": 0.3, "exhaustive": True}
    assert "\n\nwhat the search proved\nAll 2 of 5 notes at or above 0.30." in told(row(extra={"certificate": proof}))
    assert "proved" not in told(row(extra={"certificate": None}))


def test_what_a_step_gave_is_told_with_what_its_answer_has_besides() -> None:
    """Not what is told in sentences elsewhere, nor what is empty; a failed step gave nothing."""
    extra = {
        "certificate": {"x": 1},
        "pending": {"y": 2},
        "item_count": 3,
        "of": 4,
        "left_out": ["a"],
        "none": [],
        "no": None,
    }
    assert str(render_result(None)) == ""
    assert str(render_result(note())) == "\nresult\nabc\n"
    assert str(render_result(note(extra=extra))) == "\nresult\nabc\n\nbesides\nitems to go through: 4\nleft out: a"
    assert str(render_result(row(extra=extra))) == "\nbesides\nitem count: 3\nitems to go through: 4\nleft out: a"
    assert str(render_result(note(extra={"zero": 0, "empty": {}}))) == "\nresult\nabc\n\nbesides\nzero: 0"
    assert str(render_result(replace(note(), status="failed"))) == ""


CERTIFICATE = {
    "notes": 5,
    "matched": 4,
    "returned": 2,
    "threshold": 0.3,
    "exhaustive": False,
    "method": "exact",
    "scored": 5,
}
EVERY = "Every one of 5 notes was compared, each by its best passage."
MORE = "2 more fit, and were beyond the limit."


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, [EVERY, MORE]),
        (
            {"scored": 4},
            ["4 of 5 notes were compared, each by its best passage; the others wait to be embedded.", MORE],
        ),
        ({"scored": None}, [MORE]),
        ({"scored": 0, "notes": 0}, [MORE]),
        ({"matched": 2}, [EVERY]),
        ({"matched": None}, [EVERY]),
        ({"exhaustive": True}, [EVERY, "Nothing that fits is left out."]),
        ({"method": "hnsw"}, ["An index found the nearest: one that it passed over would not be here.", MORE]),
        ({"threshold": None}, ["Every one of 5 notes was searched.", MORE]),
        ({"words": ["a", "b"]}, [EVERY, MORE, "Words looked for: a, b."]),
        ({"words": []}, [EVERY, MORE]),
        ({"matched_by": {"meaning": 3, "words": 1200}}, [EVERY, MORE, "By meaning 3 fit, by words 1,200."]),
        (
            {"model": "m", "generation": 1200},
            [EVERY, MORE, "Compared by m, in generation 1,200 of the space."],
        ),
    ],
)
def test_a_certificate_is_told_in_sentences(change: dict[str, Any], message: list[str]) -> None:
    """Each only where it is so."""
    first, *rest = certificate_lines({**CERTIFICATE, **change})
    assert first[0].isupper() or first[0].isdigit()
    assert first.endswith(".")
    assert rest == message


def test_arguments_are_told_with_what_they_referred_to() -> None:
    binding = Binding("x", "Note_7", 2, "3", "")
    first = Argument("target", "$x", [ResolvedReference("$x", binding), ResolvedReference("$y", None)], value={"a": 1})
    second = Argument("goal", "plain", [], value="plain")
    third = Argument(
        "at", "$i", [ResolvedReference("$i", replace(binding, version=1, step="item"))], fault="it is gone"
    )
    fourth = Argument("in", "$j", [ResolvedReference("$j", replace(binding, version=None, step="input"))])
    assert str(render_arguments([first, second, third, fourth], COLOURS)) == (
        'target  $x\n  $x was Note_7 version 2, of step 3\n  $y was not bound\n{\n  "a": 1\n}'
        "\n\ngoal\nplain"
        "\n\nat  $i\n  $i was Note_7, the item of the loop\nit is gone"
        "\n\nin  $j\n  $j was Note_7, an input\nnull"
    )


def call(status: Any = "success", **fields: Any) -> CallRow:
    kind = fields.pop("kind", "tool")
    return CallRow("run_1", 1, "2", kind, "post/send", b"", status, AT, 12.0, **fields)


def test_calls_are_told_with_what_was_asked_and_answered() -> None:
    assert str(render_calls([call(), call("failed", tokens=1200, reason="no post")], COLOURS)) == (
        "✓ tool post/send in 12 ms, step 2\n\n✗ tool post/send in 12 ms, 1,200 tokens, step 2\nno post"
    )
    assert "and never heard of again, step 2" in str(render_calls([call("started")], COLOURS))


def test_a_model_is_told_with_its_messages_and_a_tool_with_its_blocks() -> None:
    messages = [{"role": "system", "content": "be brief"}, {"content": "hello"}]
    asked = str(
        render_calls([call(request={"messages": messages, "schema": {"type": "string"}}, answer="hi")], COLOURS)
    )
    assert asked.endswith(
        '\nsystem says\nbe brief\n? says\nhello\nthe answer was to fit\n{\n  "type": "string"\n}\nanswer\nhi'
    )
    blocks = [{"type": "text", "text": "one"}, {"type": "image", "data": "x" * 2001}, {"data": "x" * 2000}]
    answer = {"blocks": blocks, "structured": {"a": 1}, "is_error": True}
    answered = str(render_calls([call(request={"to": "me"}, answer=answer)], COLOURS))
    assert '\nrequest\n{\n  "to": "me"\n}\nblock 1: text\none\nblock 2: image\n' in answered
    assert "2,001 characters of base64" in answered
    assert "block 3: ?\n" in answered
    assert "x" * 2000 in answered
    assert answered.endswith('structured\n{\n  "a": 1\n}\nit said that this is an error\n')
    assert str(render_calls([call(answer=[1])], COLOURS)).endswith("\nanswer\n[\n  1\n]")


@pytest.mark.parametrize(
    ("found", "size", "gave"),
    [
        (note(), "3 characters", "Note, 3 characters"),
        (note(value="a"), "1 character", "Note, 1 character"),
        (note("Collection_1", "2 notes: a; b"), "2 items", "Collection, 2 items"),
        (note("Collection_1", "x", extra={"item_count": 1}), "1 item", "Collection, 1 item"),
        (note("Collection_1", "x"), "Collection", "Collection"),
        (note("Relation_1", "x"), "Relation", "Relation"),
        (row(), "", ""),
    ],
)
def test_what_a_step_gave_has_a_kind_and_a_size(found: StepRow, size: str, gave: str) -> None:
    assert (size_of(found), format_result_size(found)) == (size, gave)


def test_the_raw_step_has_both_how_it_was_written_and_how_it_is_kept() -> None:
    found = format_raw(row(digest=b"\x01\xff"), {"type": "size"})
    assert found.startswith('// as written\n{\n  "type": "size"\n}\n\n// in the journal\n{')
    assert '"digest": "01ff"' in found
    assert format_raw(None, {"type": "size"}) == '// as written\n{\n  "type": "size"\n}'
    assert format_raw(row(), None).startswith("// in the journal\n")
    assert '"digest": null' in format_raw(row(), None)


def test_an_argument_that_was_a_note_is_told_by_its_text() -> None:
    found = Argument("target", "$x", [], resource=Note(id="Note_1", content={"a": [1]}))
    assert str(render_arguments([found], COLOURS)) == 'target\nNote_1: {"a":[1]}'


def test_a_condition_that_compared_other_types_says_so_at_its_step() -> None:
    """Before the items, and beside the size, which is that of the Collection."""
    value = "0 items (23 of 23 compare text with number)"
    found = row(resource="Collection_7", value=value, type="filter-structured", extra={"mismatches": 23})
    assert "0 items (23 of 23 compare text with number)" in str(render_result(found))
    assert size_of(found) == "0 items"

"""A step told in words: what it was called with, how it ended, what a search proved, what was asked outside."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.text import Text

from infospace.core.json_types import JSON
from infospace.core.plural import pluralize
from infospace.core.resources import Collection, Resource, text_of
from infospace.data.result import truncate
from infospace.journal.rows import CallRow, StepRow
from planner.inspect.step_arguments import Argument
from planner.inspect.summaries import format_size
from planner.language.plan import Step
from tui.text.format import Colours, format_duration, format_time, json_as_prose, sign
from tui.text.output import escape_controls
from tui.text.render import content_text, format_certificate, noun_of

TOLD = ("certificate", "pending", "attempts")
"""What an answer has besides that is told in sentences."""
BESIDES = {"of": "items to go through", "ended": "`until` came true"}
"""How some of that is called."""
SHORT = 2_000
"""Characters of a value that are shown among others."""


def render_step(row: StepRow | None, step: Step | None, position: str, colours: Colours) -> Text:
    """Return what became of a step, and why."""
    text = Text()
    type_ = row.type if row is not None else step.type if step is not None else ""
    state = "" if row is None else row.status
    text.append(f"{position}  {type_}", "bold")
    out = row.out if row is not None else step.out if step is not None else None
    if out:
        text.append(f" → ${out}", colours.get("primary", ""))
    text.append("\n").append_text(sign(state, colours)).append(f" {state or 'not begun'}")
    if row is None:
        return text
    text.append(f" in {format_duration(row.duration_ms)}, begun {format_time(row.started)}", "dim")
    if row.resource is not None:
        version = f" version {row.version}" if (row.version or 1) > 1 else ""
        text.append(f"\ngave {row.resource}{version}, {size_of(row)}", "dim")
    if row.expect:
        text.append(f"\nexpected: {escape_controls(row.expect)}", "dim")
    if row.reason:
        kind = f" [{row.error}]" if row.error else ""
        text.append("\n\n").append(_heading("why" if row.status != "success" else "reason")).append(kind, "dim")
        text.append(f"\n{escape_controls(row.reason)}", colours.get("error", ""))
    if row.trace:
        text.append(f"\n{escape_controls(row.trace)}", "dim")
    certificate = row.extra.get("certificate")
    if isinstance(certificate, Mapping):
        text.append("\n\n").append(_heading("what the search proved")).append("\n")
        text.append("\n".join(certificate_lines(certificate)))
    return text


def render_result(row: StepRow | None) -> Text:
    """Return what a step gave in short, and what its answer has besides."""
    text = Text()
    if row is None:
        return text
    if row.value and row.status != "failed":
        text.append("\n").append(_heading("result")).append(f"\n{escape_controls(row.value)}\n")
    keys = (*TOLD, "item_count") if row.value else TOLD
    rest = {key: value for key, value in row.extra.items() if key not in keys and value not in ([], {}, None)}
    if rest:
        text.append("\n").append(_heading("besides"))
        for key, value in rest.items():
            text.append(f"\n{BESIDES.get(key, key.replace('_', ' '))}: ", "dim").append(
                truncate(json_as_prose(value), SHORT)
            )
    return text


def certificate_lines(certificate: Mapping[str, Any]) -> Iterator[str]:
    """Say in sentences what a search proved."""
    message = format_certificate(certificate)
    yield f"{message[:1].upper()}{message[1:]}."
    scored, noun = certificate.get("scored"), noun_of(certificate)
    if certificate.get("method") == "hnsw":
        yield "An index found the nearest: one that it passed over would not be here."
    elif scored is not None and certificate.get(noun) and certificate.get("method") != "filter":
        yield _compared(scored, certificate[noun], noun, by_words=certificate.get("threshold") is None)
    if certificate.get("exhaustive"):
        yield "Nothing that fits is left out."
    elif certificate.get("matched") is not None:
        left = certificate["matched"] - certificate["returned"]
        if left > 0:
            yield f"{left:,} more fit, and were beyond the limit."
    if certificate.get("words"):
        yield f"Words looked for: {', '.join(certificate['words'])}."
    value = certificate.get("matched_by")
    if isinstance(value, Mapping):
        yield f"By meaning {value.get('meaning', 0):,} fit, by words {value.get('words', 0):,}."
    if certificate.get("model"):
        yield f"Compared by {certificate['model']}, in generation {certificate.get('generation', 0):,} of the space."


def _compared(scored: int, searched: int, noun: str, *, by_words: bool) -> str:
    """Say what of all that was to be searched was compared with the query."""
    each = ", each by its best passage" if noun == "notes" and not by_words else ""
    if scored == searched:
        return f"Every one of {searched:,} {noun} was {'searched' if by_words else 'compared'}{each}."
    return f"{scored:,} of {searched:,} {noun} were compared{each}; the others wait to be embedded."


def render_arguments(arguments: Sequence[Argument], colours: Colours) -> Text:
    """Return what a step was called with, each argument with what it referred to."""
    text = Text()
    for number, argument in enumerate(arguments):
        text.append("\n\n" if number else "").append(argument.name, "bold")
        if argument.referred:
            text.append(f"  {escape_controls(truncate(_written(argument.written), SHORT))}", colours.get("primary", ""))
        for referred in argument.referred:
            text.append(f"\n  {referred.written} ", "dim").append(_bound(referred.binding), "dim")
        if argument.fault is not None:
            text.append(f"\n{escape_controls(argument.fault)}", colours.get("warning", ""))
        elif argument.resource is not None:
            text.append(f"\n{_resource(argument.resource)}")
        else:
            text.append(f"\n{escape_controls(truncate(content_text(argument.value), SHORT))}")
    return text


def render_calls(calls: Sequence[CallRow], colours: Colours) -> Text:
    """Return what a step asked of what is outside, and what it answered."""
    text = Text()
    for number, call in enumerate(calls):
        text.append("\n\n" if number else "")
        text.append_text(sign(call.status, colours)).append(f" {call.kind} ", "dim").append(call.target, "bold")
        tokens = f", {pluralize(call.tokens, 'token')}" if call.tokens else ""
        doubt = (
            ", and never heard of again"
            if call.status == "started"
            else f" in {format_duration(call.duration_ms)}{tokens}"
        )
        text.append(f"{doubt}, step {call.position}", "dim")
        for heading, body in _request(call.request):
            text.append("\n").append(_heading(heading)).append(f"\n{escape_controls(body)}")
        if call.reason:
            text.append(f"\n{escape_controls(call.reason)}", colours.get("error", ""))
        for heading, body in _answer(call.answer):
            text.append("\n").append(_heading(heading)).append(f"\n{escape_controls(body)}")
    return text


def _request(request: JSON) -> Iterator[tuple[str, str]]:
    """What was asked: a model's messages and what was wished of its answer, or a tool's arguments."""
    if not isinstance(request, Mapping):
        return
    messages: Any = request.get("messages")
    if not isinstance(messages, list):
        yield "request", content_text(request)
        return
    for message in messages:
        yield f"{message.get('role', '?')} says", str(message.get("content", ""))
    if request.get("schema") is not None:
        yield "the answer was to fit", content_text(request["schema"])


def _answer(answer: JSON) -> Iterator[tuple[str, str]]:
    if isinstance(answer, str):
        yield "answer", answer
    elif isinstance(answer, Mapping) and "blocks" in answer:
        blocks: Any = answer.get("blocks") or ()
        for number, block in enumerate(blocks, start=1):
            yield f"block {number}: {block.get('type', '?')}", _block(block)
        if answer.get("structured") is not None:
            yield "structured", content_text(answer["structured"])
        if answer.get("is_error"):
            yield "it said that this is an error", ""
    elif answer is not None:
        yield "answer", content_text(answer)


def _block(block: Mapping[str, Any]) -> str:
    if block.get("type") == "text":
        return str(block.get("text", ""))
    data = block.get("data")
    if isinstance(data, str) and len(data) > SHORT:
        block = {**block, "data": f"{len(data):,} characters of base64"}
    return content_text(block)


def format_raw(row: StepRow | None, value: Mapping[str, Any] | None) -> str:
    """Return a step as it was written, and as the journal has it, as JSON."""
    from dataclasses import asdict

    parts = []
    if value is not None:
        parts.append(f"// as written\n{content_text(dict(value))}")
    if row is not None:
        stored = {**asdict(row), "digest": row.digest.hex() if row.digest else None}
        parts.append(f"// in the journal\n{json.dumps(stored, ensure_ascii=False, indent=2, default=dict)}")
    return "\n\n".join(parts)


def size_of(row: StepRow) -> str:
    """Return the size of what a step gave: `3 items`, `1 character`; where none is known, its kind."""
    kind, _, size = format_size(row).partition(" ")
    number = size.strip("()")
    noun = "item" if kind == "Collection" else "character"
    return f"{number} {noun}{'' if number == '1' else 's'}" if number else kind


def format_result_size(row: StepRow) -> str:
    """Return the kind and the size of what a step gave: `Collection, 3 items`."""
    kind, size = format_size(row).partition(" ")[0], size_of(row)
    return f"{kind}, {size}" if size != kind else kind


def _heading(words: str) -> Text:
    return Text(words, "underline")


def _written(raw: JSON) -> str:
    return raw if isinstance(raw, str) else _compact(raw)


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=dict)


def _bound(binding: Any) -> str:
    if binding is None:
        return "was not bound"
    version = f" version {binding.version}" if (binding.version or 1) > 1 else ""
    by = {"input": "an input", "item": "the item of the loop"}.get(binding.step, f"of step {binding.step}")
    return f"was {binding.id}{version}, {by}"


def _resource(resource: Resource) -> str:
    if isinstance(resource, Collection):
        return f"{resource.id}: {pluralize(len(resource), 'item')}"
    return f"{resource.id}: {escape_controls(truncate(text_of(resource.content), SHORT))}"

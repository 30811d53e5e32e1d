"""`synthesize`: one text out of many, which says where everything in it comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import Field
from typing_extensions import TypedDict

from infospace import Args, Collection, Context, Note, Ref, Text, primitive
from infospace.authoring.prompts import task
from infospace.authoring.shapes import NO_METADATA, NoteShape, Shape, schema_of

_CITED = re.compile(r"\[((?:(?:Note|Collection|Relation)_[1-9][0-9]*(?:,\s*)?)+)\]")


class Synthesis(TypedDict):
    """A text in which ids stand in brackets behind what was taken from them, and those ids."""

    text: str
    citations: list[str]


SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "minLength": 1},
        "citations": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["text", "citations"],
    "additionalProperties": False,
}


class Synthesize(Args):
    """Arguments of `synthesize`."""

    target: Ref[Collection] = Field(description="The Collection, whose items are read whole.")
    focus: Text | None = Field(None, description="What the text is to be about, in plain words.")
    format: Text | None = Field(None, description="How it is to look, in plain words: a list, a table, a paragraph.")
    max_tokens: int | None = Field(None, ge=1, description="The most tokens that the answer may have.")
    model: Text | None = Field(None, description="Another model at the same endpoint than the usual one.")


def _result_shape(_arguments: Mapping[str, Any], _shapes: Mapping[str, Shape]) -> Shape:
    return NoteShape(schema_of(Synthesis), NO_METADATA)


@primitive(
    effect="calls",
    asks=True,
    result_shape=_result_shape,
    failures=[
        "No language model is configured, or it cannot be reached.",
        "The answer cites what is not in the Collection, or nothing, and did after the model was told.",
        "The items together are too long for the model, or the answer for `max_tokens`: nothing is cut.",
    ],
    examples=[
        {"type": "synthesize", "target": "$hits", "focus": "What is still undecided?", "out": "$report"},
        {
            "type": "synthesize",
            "target": "$notes",
            "format": "At most five bullet points.",
            "max_tokens": 600,
            "out": "$points",
        },
    ],
    avoid=[
        "`${report}` for the text alone: that is `${report.text}`.",
        "Giving it hundreds of long items: choose first, or sum up parts with `for-each`, and then the sums.",
    ],
)
async def synthesize(args: Synthesize, context: Context) -> Note[Synthesis]:
    """Let the language model write one text from the items of a Collection, citing them by id.

    The content is `{text, citations}`: in `text`, ids stand in brackets behind what they support; `citations` lists
    them, each once, in the order in which they are cited. A search result is cited by its source's id. Each cited id is
    one of the Collection; an answer that cites others is sent back once. An empty Collection gives an empty text, and
    no call is made.
    """
    items = context.material(args.target)
    if not items:
        return context.note({"text": "", "citations": []})
    known = dict.fromkeys(label for label, _ in items)

    def check(answer: Synthesis) -> list[str]:
        cited = _citations(answer)
        wrong = [
            f"{identifier!r:.60} is cited, and no material has that id"
            for identifier in cited
            if identifier not in known
        ]
        return wrong or ([] if cited else ["nothing is cited; the ids are the labels of the material"])

    messages = task(_instruction(args, next(iter(known))), items)
    answer: Any = await context.ask_model(
        messages, schema=SCHEMA, max_tokens=args.max_tokens, check=check, model=args.model
    )
    context.extra["item_count"] = len(items)
    return context.note({"text": answer["text"], "citations": _citations(answer)})


def _citations(answer: Synthesis) -> list[str]:
    """Return the ids that stand in brackets in the text, then those that are only listed, each once."""
    inside = [identifier for value in _CITED.findall(answer["text"]) for identifier in re.split(r",\s*", value)]
    return list(dict.fromkeys([*(identifier for identifier in inside if identifier), *answer["citations"]]))


def _instruction(args: Synthesize, label: str) -> str:
    task_ = (
        "Write one text from the material, using nothing else. Behind each statement put the label of the material it"
        f" comes from in brackets, such as [{label}], and list those labels in `citations`."
    )
    parts = [task_]
    if args.focus is not None:
        parts.append(f"Focus: {args.focus}")
    if args.format is not None:
        parts.append(f"Format of the text: {args.format}")
    return "\n\n".join(parts)

"""`call-tool`: a tool by its name, which may be one just discovered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from infospace import Args, Collection, Context, Invalid, Note, ToolArguments, ToolName, primitive
from infospace.authoring.shapes import (
    NO_METADATA,
    UNKNOWN,
    CollectionShape,
    NoteShape,
    Shape,
    Unknown,
    are_known,
    schema_of,
)
from infospace.authoring.tools import ForeignResult, ResultMapping, Tool, find_by_tool, result_schema
from infospace.authoring.tools import call_tool as call


class CallTool(Args):
    """Arguments of `call-tool`."""

    tool: ToolName = Field(description="The tool's full name, `server/tool`; `$hit.metadata.tool` of one found.")
    arguments: ToolArguments = Field(default_factory=dict, description="The tool's own arguments, by its schema.")
    as_: Literal["search-results"] | None = Field(
        None, description="`search-results` makes a Collection of search results of a list; it needs `fields`."
    )
    fields: ResultMapping | None = Field(None, description="Where in the answer the list is, and in its items what.")

    @model_validator(mode="after")
    def _mapped(self) -> CallTool:
        if are_known(self.as_, self.fields) and (self.as_ is None) != (self.fields is None):
            message = "`as` and `fields` go together: a list becomes search results by a mapping of its fields"
            raise Invalid(message, hint='"as": "search-results", "fields": {"items": "results", "text": "snippet"}')
        return self


def _result_shape(arguments: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Shape:
    del shapes
    if arguments.get("as") is UNKNOWN:
        return Unknown()
    if arguments.get("as") is not None:
        return CollectionShape(NoteShape(schema_of(ForeignResult), NO_METADATA))
    tool = arguments.get("tool")
    return NoteShape(result_schema(tool) if isinstance(tool, Tool) else None, NO_METADATA)


@primitive(
    effect="calls",
    result_shape=_result_shape,
    failures=[
        "There is no tool of that name in this space.",
        "The arguments do not fit the tool's schema: all that is wrong is said, and nothing is called.",
        "The tool is blocked; or somebody was asked first, since it may take something away, and said no.",
        "The tool answers that it failed, or cannot be reached.",
        "With `as`, there is no list where `fields.items` says.",
    ],
    examples=[
        {"type": "call-tool", "tool": "$hit.metadata.tool", "arguments": {"path": "README.md"}, "out": "$text"},
        {
            "type": "call-tool",
            "tool": "$finder.metadata.tool",
            "arguments": {"query": "tea"},
            "as": "search-results",
            "fields": {"items": "results", "text": "snippet", "title": "title", "uri": "url"},
            "out": "$hits",
        },
    ],
    avoid=["Calling a tool known by name this way: a step may have the tool's full name as its `type`."],
)
async def call_tool(args: CallTool, context: Context) -> Note[Any] | Collection[Any]:
    """Call a tool and make one Note of what it answers.

    Its content is the structured content, the value alone where a server wraps it as `{"result": …}`; else the text of
    a single text block, read as JSON where it is an object or a list; else the list of blocks. `extra.unwrapped` and
    `extra.read_as` say so. All blocks stay in the answer's `extra.content`. `split` makes a Collection of a list.

    With `as: "search-results"` each element of a list in the answer becomes a search result: `fields` says where the
    list is (`items`), and where in each element its `text`, `title`, `uri` and `score` are. Elements without text are
    left out and counted in `extra.excluded`; the whole element is `metadata.source.item`. A result is known by its
    `uri`, else by what it says.
    """
    if args.fields is not None:
        return await find_by_tool(context, args.tool, args.arguments, args.fields)
    return await call(context, args.tool, args.arguments)

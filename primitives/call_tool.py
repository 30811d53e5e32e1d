"""`call-tool`: a tool by its name, which may be one just discovered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from infospace import Args, Infospace, Note, ToolArguments, ToolName, primitive
from infospace.kinds import NO_METADATA, NoteShape, Shape
from infospace.tools.calling import call_tool as call
from infospace.tools.tool import Tool


class CallTool(Args):
    """Arguments of `call-tool`."""

    tool: ToolName = Field(description="The tool's full name, `server/tool`; `$hit.metadata.tool` of one found.")
    arguments: ToolArguments = Field(default_factory=dict, description="The tool's own arguments, by its schema.")


def _gives(arguments: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Shape:
    del shapes
    tool = arguments.get("tool")
    return NoteShape(tool.output_schema if isinstance(tool, Tool) else None, NO_METADATA)


@primitive(
    effect="calls",
    gives=_gives,
    failures=[
        "There is no tool of that name in this space.",
        "The arguments do not fit the tool's schema: all that is wrong is said, and nothing is called.",
        "The tool is blocked; or somebody was asked first, since it may take something away, and said no.",
        "The tool answers that it failed, or cannot be reached.",
    ],
    examples=[
        {"type": "call-tool", "tool": "$hit.metadata.tool", "arguments": {"path": "README.md"}, "out": "$text"},
    ],
    avoid=["Calling a tool known by name this way: a step may have the tool's full name as its `type`."],
)
async def call_tool(args: CallTool, space: Infospace) -> Note[Any]:
    """Call a tool and make one Note of what it answers.

    Its content is the structured content; else the text of a single text block; else the list of blocks. All
    blocks stay in the answer's `extra.content`. `split` makes a Collection of a list.
    """
    return await call(space, args.tool, args.arguments)

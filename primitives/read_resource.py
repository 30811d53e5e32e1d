"""`read-resource`: what a server has under a URI."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from infospace import Args, Context, Note, ServedResource, primitive
from infospace.authoring.tools import prompts_and_resources as reading


class ReadResource(Args):
    """Arguments of `read-resource`."""

    resource: ServedResource = Field(description="The server and the URI, `server/URI`; the server need not list it.")


@primitive(
    effect="calls",
    failures=[
        "The space knows no such server.",
        "The server has nothing under that URI, or cannot be reached.",
    ],
    examples=[{"type": "read-resource", "resource": "planner/infospace://note/Note_1", "out": "$text"}],
    avoid=["Reading a Note of this space: `load` does, by id or name."],
)
async def read_resource(args: ReadResource, context: Context) -> Note[Any]:
    """Read what a server has under a URI, as a Note.

    Its content is the text; of something else than text an object with `uri`, `mimeType` and `blob` in base64; of
    several parts their list. All that came stays in the answer's `extra.content`.
    """
    return await reading.read_resource(context, args.resource)

"""What a primitive is as a tool of the server `infospace`."""

from __future__ import annotations

from infospace import Space
from infospace.tools.builtin import builtin_tools, step_type


def test_a_primitive_is_a_tool_of_the_space_itself(space: Space) -> None:
    """With all that a filter may ask for; what only reads, and that alone, says so."""
    tools = {tool.name: tool for tool in builtin_tools(space)}
    for entry in space.catalogue:
        tool = tools[entry.type]
        harmless = entry.effect in ("pure", "reads")
        assert (tool.server, tool.server_title, tool.category) == ("infospace", "the space itself", "primitives")
        assert (tool.read_only, tool.idempotent, tool.destructive) == (harmless, harmless, False)
        assert tool.description.startswith(entry.summary)
        assert (entry.behaviour or "") in tool.description
        assert tool.input_schema == entry.schema
        assert step_type(tool) == entry.type
    assert {tools[entry.type].read_only for entry in space.catalogue} == {True, False}

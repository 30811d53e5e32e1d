"""What a request says literally is also read as what it is."""

from __future__ import annotations

import pytest

from infospace import Space
from infospace.core.tool import Tool
from infospace.tools.search.lexical.values import without_values
from infospace.tools.search.results import ToolQuery


@pytest.mark.parametrize(
    ("request_", "bare"),
    [
        ("rename report.doc to report-old.doc", "rename file to file"),
        ("how large is video.mp4", "how large is file"),
        ("find every *.log below /var/log", "find every file below folder"),
        ("add 17 and 2.5", "add number and number"),
        ("what did commit 4f2a91c do", "what did commit id do"),
        ("when is 14:30 on 2026-01-31", "when is time on date"),
        ("commit with the message 'fix the parser'", "commit with the message text"),
        ("fetch https://example.org/a.html, please", "fetch URL, please"),
        ("write to ann@example.org", "write to email"),
        ("read the config file", "read the config file"),
        ("what's on Ann's list", "what's on Ann's list"),
        ("look at example.com", "look at example.com"),
        ("the e.g. of this, i.e. that", "the e.g. of this, i.e. that"),
        ("the decade added facade", "the decade added facade"),
        ("", ""),
    ],
)
def test_a_value_is_what_it_is(request_: str, bare: str) -> None:
    assert without_values(request_) == bare


def test_a_tool_is_found_by_what_the_values_of_a_request_are(space: Space, model: object) -> None:
    """No tool speaks of `report.doc`: it is a file, and a tool that moves files is meant."""
    tools = [
        Tool("files", "move_file", "Move or rename a file."),
        Tool("office", "make_report", "Make a report of the week as a document."),
        Tool("office", "old_documents", "Show old documents of the office."),
    ]
    found = space.finder.find(tools, ToolQuery("rename report.doc to report-old.doc"))
    assert found.hits[0].tool.name == "move_file"
    assert found.hits[0].confidence > 0.5

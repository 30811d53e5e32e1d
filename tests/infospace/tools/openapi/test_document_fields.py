"""What of a document is kept of its server, and how bounds that are written as texts are read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infospace.tools.openapi.connection import _listing, _read
from infospace.tools.openapi.schemas import _number


@pytest.mark.parametrize(
    ("info", "title", "version", "instructions"),
    [
        ({"title": "Books", "version": "2.1", "description": "Lends."}, "Books", "2.1", "Lends."),
        ({"title": 3, "version": 2, "description": ["x"]}, "", "2", ""),
        ({}, "", "", ""),
    ],
)
def test_a_document_says_what_its_server_is(info: dict[str, Any], title: str, version: str, instructions: str) -> None:
    """Texts alone; a version may be written as a number."""
    operations = {"get": {"operationId": "list_books", "responses": {"200": {"description": "Books."}}}}
    data = json.dumps({"openapi": "3.1.0", "info": info, "paths": {"/books": operations}}).encode()
    found = _listing(*_read(data, "api.json"))
    assert (found.title, found.version, found.instructions) == (title, version, instructions)
    assert [tool.name for tool in found.tools] == ["list_books"]


@pytest.mark.parametrize(
    ("text", "bound"),
    [("5", 5), ("5.0", 5), ("-0.5", -0.5), ("1e3", 1000), ("five", None), ("", None), ("inf", None), ("nan", None)],
)
def test_a_bound_that_is_written_as_a_text_is_a_number_or_nothing(text: str, bound: float | None) -> None:
    """What JSON cannot say is none."""
    found = _number("minimum", text)
    assert found == ({} if bound is None else {"minimum": bound})
    assert json.dumps(found, allow_nan=False)
    assert bound is None or type(found["minimum"]) is type(bound)

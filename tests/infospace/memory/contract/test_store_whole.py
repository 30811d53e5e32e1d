"""The contract leaves nothing out: each method of the protocol and each change is used by some test of this folder."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import get_args

from infospace.journal.rows import Entry
from infospace.store.changes import Change
from infospace.store.protocol import Snapshot, Store

HERE = Path(__file__).parent


def used() -> tuple[set[str], set[str]]:
    """Return the attributes that tests ask for, and the names that they call."""
    attributes, called = set(), set()
    for path in HERE.glob("*.py"):
        if path.name in ("conftest.py", "ranking_store.py", Path(__file__).name):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute):
                attributes.add(node.attr)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                called.add(node.func.id)
    return attributes, called


def members(protocol: type) -> set[str]:
    """Return what a protocol, and those that it extends, ask for."""
    own = [part for part in protocol.__mro__ if part.__module__.startswith("infospace")]
    return {name for part in own for name in vars(part) if not name.startswith("_")}


def test_every_method_of_the_protocol_is_tried() -> None:
    """`address` and `derived` say where a store is, which is each one's own."""
    asked = (members(Store) | members(Snapshot)) - {"address"}
    assert asked > {"commit", "reading", "nearest", "above", "keyword_matches", "tool_uses"}
    assert asked - used()[0] == set()


def test_every_change_and_entry_is_tried() -> None:
    """A new one fails here until a test of this folder commits it."""
    assert {kind.__name__ for kind in (*get_args(Change), *get_args(Entry))} - used()[1] == set()

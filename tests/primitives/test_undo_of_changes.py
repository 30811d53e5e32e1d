"""A run that changed resources in place is undone: everything kept is as it was before."""

from __future__ import annotations

from typing import Any

import pytest

from infospace.editing.undo import undo

LOAD = [{"type": "load", "target": name, "out": f"${name}"} for name in ("a", "b", "list", "arrow")]

CHANGES: dict[str, list[dict[str, Any]]] = {
    "update-note": [{"type": "update-note", "target": "$a", "value": "other", "metadata": {"k": 2}}],
    "set-metadata": [
        {"type": "set-metadata", "target": f"${name}", "value": {"k": 2}} for name in ("a", "list", "arrow")
    ],
    "add": [{"type": "create-note", "value": 1, "out": "$n"}, {"type": "add", "target": "$list", "value": "$n"}],
    "take out": [{"type": "remove", "target": "$list", "value": "$a"}],
    "delete": [{"type": "remove", "target": "$a"}],
    "name": [{"type": "name", "target": "$a", "value": "renamed"}],
    "take a name": [{"type": "name", "target": "$b", "value": "a", "replace": True}],
    "relate": [{"type": "create-relation", "source": "$b", "target": "$a", "relation": "x", "name": "new"}],
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_a_run_changed_is_as_before(run: Any, name: str) -> None:
    """Contents, metadata, members, names, ends."""
    run(
        {"type": "create-note", "value": "a", "metadata": {"k": 1}, "name": "a", "out": "$a"},
        {"type": "create-note", "value": "b", "name": "b", "out": "$b"},
        {"type": "create-collection", "value": ["$a", "$b"], "name": "list"},
        {"type": "create-relation", "source": "$a", "target": "$b", "relation": "is", "name": "arrow"},
    )
    before = run(*LOAD)
    changed = run(*LOAD, *CHANGES[name])
    undo(changed.space.store, changed.result.run)
    after = run(*LOAD, {"type": "find-relations", "out": "$all"})
    for variable in ("a", "b", "list", "arrow"):
        was, now = before.result.bindings[variable], after.resource(variable)
        assert (now.id, now.name, now.metadata, now.kept) == (was.id, was.name, was.metadata, True)
        assert after.content(variable) == before.space.context().content(was)
    assert [relation.name for relation in after.items("all")] == ["arrow"]
    assert changed.space.store.check() == []

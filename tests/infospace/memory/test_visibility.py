"""What a caller may see of a space: as a run keeps it, and what follows from it."""

from __future__ import annotations

from typing import Any

import pytest

from infospace.core.errors import Invalid
from infospace.store.scoped_store import EVERYTHING, Visibility, sessions_of, visibility_of

OPEN = "metadata.open = true"


@pytest.mark.parametrize(
    ("sight", "kept"),
    [
        (Visibility(), {}),
        (Visibility(caller="ann"), {"caller": "ann"}),
        (Visibility("read", "own", "own", "ann"), {"notes": "read", "runs": "own", "sessions": "own", "caller": "ann"}),
        (Visibility(OPEN), {"notes": OPEN}),
    ],
)
def test_a_run_keeps_what_is_not_as_usual_and_reads_it_again(sight: Visibility, kept: dict[str, Any]) -> None:
    """Whatever else stands beside it; what is no object is as usual."""
    assert sight.to_json() == kept
    assert visibility_of({**kept, "include_tags": ["a"]}) == sight
    assert visibility_of(None) == visibility_of([]) == EVERYTHING


@pytest.mark.parametrize(
    ("sight", "hides", "limits"),
    [
        (Visibility(), False, False),
        (Visibility(caller="ann"), False, False),
        (Visibility("read"), False, True),
        (Visibility("none"), True, True),
        (Visibility(OPEN), True, True),
        (Visibility(runs="own"), False, True),
        (Visibility(sessions="own"), False, True),
    ],
)
def test_what_hides_notes_and_what_only_limits(sight: Visibility, hides: bool, limits: bool) -> None:
    """To read all is to hide nothing, and yet a limit."""
    assert (sight.hides, sight.limits) == (hides, limits)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("all", "read", True),
        ("read", "all", True),
        ("all", "none", False),
        ("none", "read", False),
        (OPEN, OPEN, True),
        (OPEN, "none", False),
        ("none", "none", True),
    ],
)
def test_two_see_the_same_where_neither_hides_or_both_hide_alike(one: str, other: str, alike: bool) -> None:
    assert Visibility(one).sees_as(Visibility(other, "own", "own", "ann")) is alike


def test_only_a_sight_of_some_notes_has_a_condition() -> None:
    """One that is none is told where it is asked for."""
    assert [Visibility(notes).condition for notes in ("all", "read", "none")] == [None, None, None]
    assert Visibility(OPEN).condition is not None
    with pytest.raises(Invalid, match="ends where a value was expected, after"):
        _ = Visibility("metadata.open =").condition


def test_the_sessions_of_a_caller_have_names_of_their_own() -> None:
    """Also where what the caller is called has a slash in it."""
    everybody, ann, other = sessions_of(None), sessions_of("a"), sessions_of("a/b")
    assert (ann, other) == (f"{everybody}a/", f"{everybody}a%2Fb/")
    assert not other.startswith(ann)

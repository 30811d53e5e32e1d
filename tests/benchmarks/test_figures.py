"""The benchmarks' own arithmetic: percentiles, turns, tables, plots, and what is made for them."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from figures import Call, Spread, interleaved, lines, percentile, plain, written
from made import made_queries, made_vectors, threshold_for
from plot import BOTTOM, CLOSEST, HEIGHT, LEFT, RIGHT, TOP, WIDTH, apart, loglog

times = st.lists(st.floats(0, 1e6), min_size=1, max_size=50)
positive = st.floats(1e-6, 1e9)


@settings(deadline=None)
@given(times, st.floats(0.01, 1))
def test_a_percentile_is_the_least_time_that_its_share_does_not_exceed(taken: list[float], share: float) -> None:
    """By counting: enough times are at or below it, and too few below it."""
    found = percentile(taken, share)
    assert found in taken
    assert sum(one <= found for one in taken) >= share * len(taken)
    assert sum(one < found for one in taken) < max(share * len(taken), 1)


def test_calls_take_turns_and_every_turn_begins_with_another() -> None:
    """What is warmed up does not count."""
    called: list[tuple[str, int]] = []
    calls: dict[str, Call] = {
        "a": lambda turn: called.append(("a", turn)),
        "b": lambda turn: called.append(("b", turn)),
    }
    found = interleaved(calls, 2)
    assert called[2:] == [("a", 0), ("b", 0), ("b", 1), ("a", 1)]
    assert sorted(called[:2]) == [("a", -1), ("b", -1)]
    assert {name: len(taken) for name, taken in found.items()} == {"a": 2, "b": 2}


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (0.5, "0.500"),
        (12.345, "12.3"),
        (999.9, "1000"),
        (123456.0, "123,456"),
        (0.0, "0"),
        (2.5e-8, "2.5e-08"),
        (Spread(1.0, 22.22), "1.00 / 22.2"),
        ("not installed", "not installed"),
    ],
)
def test_a_figure_is_written_with_three_digits(cell: float | str | Spread, text: str) -> None:
    """Thousands are whole."""
    assert written(cell) == text


def test_a_table_stands_in_columns_and_leaves_missing_cells_empty() -> None:
    """Every column is as wide as its widest cell."""
    found = lines({"short": {"a": 1.0, "b": "word"}, "a longer row": {"b": 2.0}})
    assert found == ["                 a     b", "short         1.00  word", "a longer row        2.00"]


def test_spreads_become_objects_in_json() -> None:
    """Also where they lie deep."""
    assert plain({"t": {"r": {"c": Spread(1.0, 2.0), "d": "x"}}}) == {
        "t": {"r": {"c": {"p50": 1.0, "p95": 2.0}, "d": "x"}}
    }


curves = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff"), max_size=20),
    st.lists(st.tuples(positive, positive), min_size=1, max_size=5),
    min_size=1,
    max_size=7,
)


@settings(deadline=None)
@given(curves)
def test_a_plot_is_well_formed_and_holds_every_point_within_its_frame(
    drawn: dict[str, list[tuple[float, float]]],
) -> None:
    """Whatever the curves are called."""
    root = _read(loglog("a < b & c", "x", "y", drawn))
    circles = _circles(root)
    assert len(circles) == sum(map(len, drawn.values()))
    assert len(list(_all(root, "polyline"))) == len(drawn)
    for across, up in circles:
        assert LEFT <= across <= WIDTH - RIGHT
        assert TOP <= up <= HEIGHT - BOTTOM


def test_a_step_of_ten_is_as_long_everywhere_on_a_plot() -> None:
    """Both axes are logarithmic."""
    root = _read(loglog("t", "x", "y", {"c": [(1, 1), (10, 10), (100, 100)]}))
    across, up = zip(*_circles(root), strict=True)
    assert across[1] - across[0] == pytest.approx(across[2] - across[1], abs=0.2)
    assert up[0] - up[1] == pytest.approx(up[1] - up[2], abs=0.2)


def test_a_curve_over_powers_of_ten_goes_from_corner_to_corner_of_its_frame() -> None:
    """It is drawn where the axes are; beside them is room for the names."""
    root = _read(loglog("t", "x", "y", {"c": [(1, 1), (10, 10), (100, 100)]}))
    first, _, last = _circles(root)
    assert (first, last) == ((LEFT, HEIGHT - BOTTOM), (WIDTH - RIGHT, TOP))
    [axis] = (path.attrib["d"] for path in _all(root, "path"))
    assert axis == f"M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}"


@pytest.mark.parametrize("points", [[], [(1.0, 0.0)], [(-1.0, 1.0)]])
def test_what_has_no_logarithm_is_not_drawn(points: list[tuple[float, float]]) -> None:
    """ValueError says so."""
    with pytest.raises(ValueError, match="positive"):
        loglog("t", "x", "y", {"c": points})


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=3), st.floats(0, 500), max_size=6))
@example({"b": 0.0, "a": 100.0, "c": 1.0})
def test_names_of_curves_never_overlap(places: dict[str, float]) -> None:
    """They keep their order, and are only moved down."""
    moved = apart(places)
    order = sorted(moved.values())
    assert all(after - before >= CLOSEST - 1e-9 for before, after in pairwise(order))
    assert all(moved[name] >= place for name, place in places.items())
    assert sorted(moved, key=moved.__getitem__) == sorted(places, key=places.__getitem__)


def test_a_threshold_admits_as_many_vectors_as_were_asked_for() -> None:
    """Of made vectors, which are of length 1 and the same each time."""
    vectors = made_vectors(500, 32)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert np.array_equal(vectors, made_vectors(500, 32))
    for query in made_queries(vectors, 5):
        scores = vectors.astype(np.float64) @ query.astype(np.float64)
        assert (scores >= threshold_for(vectors, query, 100)).sum() == 100
        assert math.isclose(scores.max(), 0.7, abs_tol=0.2)


def _read(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 - made here


def _circles(root: ET.Element) -> list[tuple[float, float]]:
    return [(float(circle.attrib["cx"]), float(circle.attrib["cy"])) for circle in _all(root, "circle")]


def _all(root: ET.Element, name: str) -> Iterable[ET.Element]:
    return root.iter(f"{{http://www.w3.org/2000/svg}}{name}")

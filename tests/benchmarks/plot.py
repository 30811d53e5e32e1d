"""A plot of curves over two logarithmic axes, as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape

Points = Sequence[tuple[float, float]]

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 230, 50, 50
COLOURS = ("#0b5fa5", "#c2410c", "#15803d", "#7e22ce", "#6b7280", "#b91c1c")
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#333}.title{font-size:15px;font-weight:600}"
    ".grid{stroke:#e2e2e2}.axis{stroke:#999}"
)
CLOSEST = 16
"""Pixels between the names of two curves, at least."""


def loglog(title: str, x_name: str, y_name: str, curves: Mapping[str, Points]) -> str:
    """Return the plot; each curve's points are drawn in the order of their x, its name stands at its end.

    Raises ValueError where a number is not positive, or there is no point.
    """
    points = [point for curve in curves.values() for point in curve]
    if not points or min(min(point) for point in points) <= 0:
        raise ValueError("a plot over logarithmic axes needs points, and positive ones")
    across = _Axis([x for x, _ in points], LEFT, WIDTH - RIGHT)
    up = _Axis([y for _, y in points], HEIGHT - BOTTOM, TOP)
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img">',
        f"<title>{escape(title)}</title><style>{STYLE}</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text class="title" x="{LEFT}" y="24">{escape(title)}</text>',
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">{escape(x_name)}</text>',
        f'<text x="{LEFT - 8}" y="{TOP - 10}" text-anchor="end">{escape(y_name)}</text>',
        *_grid(across, up),
        *_curves(curves, across, up),
        "</svg>",
    ]
    return "\n".join(drawn) + "\n"


class _Axis:
    """Numbers to pixels; the axis goes from a power of ten to a power of ten."""

    def __init__(self, numbers: Iterable[float], start: float, end: float) -> None:
        logarithms = [math.log10(number) for number in numbers]
        self._low = math.floor(min(logarithms) + 1e-9)
        self._high = max(math.ceil(max(logarithms) - 1e-9), self._low + 1)
        self._start, self._end = start, end

    def at(self, number: float) -> float:
        share = (math.log10(number) - self._low) / (self._high - self._low)
        return round(self._start + share * (self._end - self._start), 1)

    @property
    def ticks(self) -> list[float]:
        return [10.0**power for power in range(self._low, self._high + 1)]


def _grid(across: _Axis, up: _Axis) -> Iterable[str]:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for tick in across.ticks:
        x = across.at(tick)
        yield f'<line class="grid" x1="{x}" y1="{TOP}" x2="{x}" y2="{bottom}"/>'
        yield f'<text x="{x}" y="{bottom + 18}" text-anchor="middle">{_short(tick)}</text>'
    for tick in up.ticks:
        y = up.at(tick)
        yield f'<line class="grid" x1="{LEFT}" y1="{y}" x2="{right}" y2="{y}"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{_short(tick)}</text>'
    yield f'<path class="axis" fill="none" d="M{LEFT} {TOP}V{bottom}H{right}"/>'


def _curves(curves: Mapping[str, Points], across: _Axis, up: _Axis) -> Iterable[str]:
    ends: dict[str, float] = {}
    colours = {name: COLOURS[at % len(COLOURS)] for at, name in enumerate(curves)}
    for name, curve in curves.items():
        places = [(across.at(x), up.at(y)) for x, y in sorted(curve)]
        if not places:
            continue
        line = " ".join(f"{x},{y}" for x, y in places)
        yield f'<polyline fill="none" stroke="{colours[name]}" stroke-width="2" points="{line}"/>'
        yield from (f'<circle cx="{x}" cy="{y}" r="3" fill="{colours[name]}"/>' for x, y in places)
        ends[name] = places[-1][1]
    for name, y in apart(ends).items():
        style = f"fill:{colours[name]}"
        yield f'<text x="{WIDTH - RIGHT + 12}" y="{y + 4:.1f}" style="{style}">{escape(name)}</text>'


def apart(places: Mapping[str, float]) -> dict[str, float]:
    """Return the places moved down as far as it takes to have them CLOSEST apart, in their order."""
    moved: dict[str, float] = {}
    last = -math.inf
    for name, place in sorted(places.items(), key=lambda one: one[1]):
        last = moved[name] = max(place, last + CLOSEST)
    return moved


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 1 else f"{number:g}"

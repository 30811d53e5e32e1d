"""The rate of long work, and the time that is left: they hold still, and are true."""

from __future__ import annotations

import pytest

from tui.text.pace import RateMeter


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def paced(marks: list[tuple[float, int]]) -> RateMeter:
    """A pace that has heard of so much done, each so many seconds after the one before."""
    clock = Clock()
    pace = RateMeter(clock)
    for seconds, done in marks:
        clock.now += seconds
        pace.mark(done)
    return pace


@pytest.mark.parametrize(
    ("marks", "left", "told"),
    [
        ([], 10, ""),
        ([(0, 0), (1.9, 50)], 10, ""),
        ([(0, 0), (2, 50)], 100, "25/s  0:00:04"),
        ([(0, 0), (5, 0)], 10, ""),
        ([(0, 5_000), (10, 5_010)], 3_600, "1.0/s  1:00:00"),
        ([(0, 0), *[(1, n) for n in range(10, 1000, 10)]], 600, "10/s  0:01:00"),
        ([(0, 0), (100, 10_000), (30, 10_030), (30, 10_060)], 60, "1.0/s  0:01:00"),
        ([(0, 0), (58, 580), (6, 640)], 600, "10/s  0:01:00"),
        ([(0, 0), (58, 0), (6, 640)], 600, "10/s  0:01:00"),
    ],
)
def test_the_rate_is_that_of_the_last_minute(marks: list[tuple[float, int]], left: int, told: str) -> None:
    """What was done before it was first heard of counts for nothing, and the first two seconds tell no rate."""
    assert paced(marks).format_rate(left) == told


def test_the_time_left_holds_still_while_work_comes_in_batches() -> None:
    """Between two batches it changes by less than a tenth, once a minute has passed."""
    clock, rates = Clock(), []
    pace = RateMeter(clock)
    done = 0
    for second in range(300):
        clock.now += 1
        done += 40 if second % 4 == 0 else 0
        pace.mark(done)
        if second > 60:
            rates.append(pace.rate())
    assert all(rate is not None and 9 < rate < 11 for rate in rates)

"""Watermarks from instants to the wall clock of a zone, on which windows over TIMESTAMP_LTZ are, and back.

A wall clock skips an hour in spring and repeats one in autumn. No later row may be behind the watermark. So before
clocks go back, the watermark waits at the start of the repeated hour. Source: semantics.md#time-zones.
"""

from __future__ import annotations

from bisect import bisect_left
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise

import numpy as np

from tvfsql.plan.values.zone_names import zone_of
from tvfsql.runtime.arrow.columns import Ints

DAY = 86_400_000
FIRST_DAY, LAST_DAY = -719_161, 2_932_893  # years 1 to 9999, less a day at either end
NO_DATE = 2**62  # values at least this far from 1970 are not dates, but END_OF_INPUT, IDLE ...
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)


def wall_watermarks(instants: Ints, zone: str) -> Ints:
    """Each watermark (epoch ms) on the wall clock of `zone`, in ms as if that were UTC: the last clock reading, at or
    before the reading of that instant, that no later instant shows again."""
    walls = instants.copy()
    dates = (instants > -NO_DATE) & (instants < NO_DATE)
    days = np.clip(instants // DAY, FIRST_DAY, LAST_DAY)
    for day in np.unique(days[dates]).tolist():
        at = dates & (days == day)
        of = instants[at]
        starts, offsets = _offsets(zone, day)
        wall = of + offsets[np.maximum(np.searchsorted(starts, of, side="right") - 1, 0)]
        for start, (before, after) in zip(starts[1:].tolist(), pairwise(offsets.tolist()), strict=True):
            if after < before:
                wall = np.where(of < start, np.minimum(wall, start + after - 1), wall)
        walls[at] = wall
    return walls


@lru_cache(maxsize=4096)
@lru_cache(maxsize=1024)  # all key groups ask for the same few
def instant_of(wall: int, zone: str) -> int:
    """The first instant whose watermark on the wall clock of `zone` is at least `wall`; both in epoch ms."""
    if abs(wall) >= NO_DATE:
        return wall
    around = range(wall - 2 * DAY, wall + 2 * DAY)  # no clock is a day or more from UTC
    found = bisect_left(around, wall, key=lambda instant: int(wall_watermarks(np.array([instant]), zone)[0]))
    return around[found]


def times_of(walls: Ints, zone: str) -> Ints:
    """The instants (epoch ms) of clock readings, as Spark's make_timestamp computes them.

    A repeated reading is its first instant. A skipped one moves later by the length of the gap.
    """
    clock = zone_of(zone)
    different, which = np.unique(walls, return_inverse=True)
    read = ((EPOCH + timedelta(milliseconds=wall)).replace(tzinfo=clock) for wall in different.tolist())
    return np.array([(time - EPOCH) // MILLISECOND for time in read], dtype=np.int64)[which]


@lru_cache(maxsize=4096)
def _offsets(zone: str, day: int) -> tuple[Ints, Ints]:
    """The UTC offsets of a zone on a day and the two after it, and the instants from which they apply; both in ms."""
    clock = zone_of(zone)

    def offset(second: int) -> timedelta:
        return (EPOCH + timedelta(seconds=second)).astimezone(clock).utcoffset() or timedelta()

    seconds = range(day * 86_400, (day + 3) * 86_400 + 1, 900)  # no two changes are less than 15 minutes apart
    starts, offsets = [seconds[0]], [offset(seconds[0])]
    for before, after in pairwise(seconds):
        now = offset(after)
        if now != offsets[-1]:
            starts.append(next(second for second in range(before, after + 1) if offset(second) == now))
            offsets.append(now)
    return np.array(starts) * 1000, np.array([of // MILLISECOND for of in offsets])

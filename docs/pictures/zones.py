"""Days of 24, 23 and 25 hours: windows over TIMESTAMP_LTZ on a clock that is put forward, and back."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from zoneinfo import ZoneInfo

from canvas import HOUR, INK, LATE, LATE_GROUND, MUTED, WINDOW, WINDOW_EDGE, Canvas

from tvfsql.plan.window import Tumble

ZONE = "Europe/Berlin"
DAYS = (date(2024, 3, 30), date(2024, 3, 31), date(2024, 10, 27))
EPOCH = datetime(1970, 1, 1)
CELL, LEFT = 30, 92
TOP, STEP = 26, 138


def picture() -> str:
    canvas = Canvas(
        LEFT + 25 * CELL + 18, TOP + len(DAYS) * STEP + 10, "Days of 24, 23 and 25 hours, and windows on them"
    )
    canvas.text(16, 20, f"TUMBLE over TIMESTAMP_LTZ, SET 'table.local-time-zone' = '{ZONE}'", bold=True)
    for i, day in enumerate(DAYS):
        _day(canvas, TOP + i * STEP, day)
    return canvas.svg()


def _day(canvas: Canvas, y: float, day: date) -> None:
    """An hour of real time is a cell; windows are as long as the hours that they hold."""
    hours = _hours(day)
    walls = [_wall(hour) for hour in hours]
    canvas.text(16, y + 24, f"{day.day} {day:%B}", bold=True)
    for name, line in (("UTC", 46), ("clock", 68), ("4 hours", 94), ("1 day", 120)):
        canvas.text(LEFT - 10, y + line, name, MUTED, size=12, anchor="end")
    for i, (hour, wall) in enumerate(zip(hours, walls, strict=True)):
        x = LEFT + i * CELL
        jump = i > 0 and wall - walls[i - 1] != HOUR
        again = wall in walls[:i] or wall in walls[i + 1 :]
        canvas.text(x + CELL / 2, y + 46, f"{hour:%H}", MUTED, size=11, anchor="middle")
        canvas.rect(x + 1, y + 57, CELL - 2, 22, LATE_GROUND if again else WINDOW, WINDOW_EDGE, radius=3)
        canvas.text(x + CELL / 2, y + 68, f"{wall // HOUR % 24:02}", INK, size=12, anchor="middle", bold=again)
        if jump and not again:
            canvas.line([(x, y + 52), (x, y + 84)], LATE, 3)
            canvas.text(x, y + 30, "02 is skipped", LATE, size=12, anchor="middle")
        if again and wall in walls[:i]:
            canvas.text(x, y + 30, "02 occurs twice", LATE, size=12, anchor="middle")
    for size, line in ((4 * HOUR, 94), (24 * HOUR, 120)):
        window, x = Tumble(size), float(LEFT)
        for end, of in groupby(walls, window.slice_end):
            count = len(list(of))
            usual = count * HOUR == size
            canvas.rect(x + 1, y + line - 10, count * CELL - 2, 20, WINDOW, WINDOW_EDGE, radius=4)
            start = window.window_start(end)
            text = f"{_time(start)} – {_time(end)}"
            middle = x + count * CELL / 2
            if size < 24 * HOUR:
                text = f"{start // HOUR % 24:02} – {end // HOUR % 24:02}"
            canvas.text(
                middle,
                y + line,
                text if usual else f"{text}: {count} h",
                INK if usual else LATE,
                size=12,
                anchor="middle",
                bold=not usual,
            )
            x += count * CELL


def _hours(day: date) -> list[datetime]:
    """The instants of a day's hours."""
    begins, ends = (
        datetime(each.year, each.month, each.day, tzinfo=ZoneInfo(ZONE)) for each in (day, day + timedelta(1))
    )
    first, last = begins.astimezone(UTC), ends.astimezone(UTC)
    return [first + timedelta(hours=i) for i in range((last - first) // timedelta(hours=1))]


def _wall(instant: datetime) -> int:
    """What the clock shows, in ms as if it were UTC."""
    return (instant.astimezone(ZoneInfo(ZONE)).replace(tzinfo=None) - EPOCH) // timedelta(milliseconds=1)


def _time(wall: int) -> str:
    return f"{EPOCH + timedelta(milliseconds=wall):%Y-%m-%d %H:%M}"

"""The watermark of an operator with two channels, one of which is idle for a while."""

from __future__ import annotations

from canvas import FIRE, GRID, INK, LATE_GROUND, MUTED, ROW, WATERMARK, Canvas, Scale, at, clock

from tvfsql.runtime.stream.time.valve import IDLE, Valve

# What the channels say in each micro-batch: a watermark, nothing, or that nothing comes any more
SAYS: tuple[tuple[str, str], ...] = (
    ("12:00", "12:03"),
    ("12:05", "12:04"),
    ("12:09", "12:08"),
    ("12:14", ""),
    ("12:18", ""),
    ("12:22", "idle"),
    ("12:27", ""),
    ("12:30", ""),
    ("12:33", "12:16"),
    ("12:37", "12:25"),
    ("12:40", "12:38"),
    ("12:44", "12:41"),
)
NAMES, COLORS = ("partition 0", "partition 1"), (ROW, FIRE)
LEFT, RIGHT, TOP, BOTTOM = 70, 750, 48, 330


def picture() -> str:
    canvas = Canvas(860, 366, "The smallest watermark of the channels that are not idle")
    y = Scale(at("11:58"), at("12:46"), BOTTOM, TOP)
    valve, known, points, idle = Valve(), [0, 0], ([], [], []), []
    for i, said in enumerate(SAYS):
        for channel, text in enumerate(said):
            known[channel] = at(text) if ":" in text else known[channel]
            if text:
                valve.receive(str(channel), IDLE if text == "idle" else at(text))
        watermark = valve.settle()
        assert watermark is not None
        for of, value in zip(points, (*known, watermark), strict=True):
            of += [(_x(i), y(value)), (_x(i + 1), y(value))]
        one = valve.channels.get("1")
        idle.append("idle" if one and one.idle else "catches up" if one and one.behind else "")
    canvas.text(16, 20, "Two partitions, and the watermark of the operator that reads them", INK, bold=True)
    for ms in range(at("12:00"), at("12:46"), 10 * 60_000):
        canvas.line([(LEFT, y(ms)), (RIGHT, y(ms))], GRID)
        canvas.text(LEFT - 8, y(ms), clock(ms), MUTED, size=12, anchor="end")
    for word in ("idle", "catches up"):
        first, last = idle.index(word), len(idle) - idle[::-1].index(word)
        canvas.rect(_x(first), TOP, _x(last) - _x(first) - 2, BOTTOM - TOP, LATE_GROUND, radius=4)
        canvas.text((_x(first) + _x(last)) / 2, BOTTOM - 30, "partition 1", FIRE, size=12, anchor="middle")
        canvas.text((_x(first) + _x(last)) / 2, BOTTOM - 13, word, INK, size=12, anchor="middle")
    canvas.line(points[2], WATERMARK, 7)
    for of, color, name in zip(points, COLORS, NAMES, strict=False):
        canvas.line(of, color, 2)
        canvas.text(RIGHT + 8, of[-1][1] + (-6 if color == ROW else 6), name, color, size=12)
    canvas.text(_x(2) + 4, points[2][9][1] + 14, "operator: the minimum", WATERMARK, size=12, bold=True)
    canvas.text(RIGHT, 346, "micro-batches →", MUTED, size=12, anchor="end")
    canvas.text(16, TOP - 8, "watermark ↑", MUTED, size=12)
    return canvas.svg()


def _x(batch: int) -> float:
    return LEFT + batch * (RIGHT - LEFT) / len(SAYS)

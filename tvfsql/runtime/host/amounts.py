"""Sizes and durations as people read them."""

from __future__ import annotations

UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def size_text(size: float) -> str:
    """A size in bytes as text: `3.2 MiB`."""
    for unit in UNITS[:-1]:
        if size < 1024:
            return f"{size:.1f} {unit}" if unit != "B" else f"{size:.0f} B"
        size /= 1024
    return f"{size:.1f} {UNITS[-1]}"


def duration_text(ms: int) -> str:
    """A duration in its largest unit, seconds with one decimal: `0.4 s`, `12 min`, `3 h`, `5 d`."""
    seconds = ms / 1000
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if abs(seconds) >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:.1f} s"

"""Writes the pictures of docs/time.md: `python docs/pictures`. tvfsql computes what they show."""

from __future__ import annotations

from pathlib import Path

import firing
import sessions
import slices
import valve
import watermark
import zones

PICTURES = {each.__name__: each.picture for each in (watermark, valve, slices, sessions, zones, firing)}

if __name__ == "__main__":
    for name, picture in PICTURES.items():
        Path(__file__).with_name(f"{name}.svg").write_text(picture(), encoding="utf-8")

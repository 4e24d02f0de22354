"""The pictures of docs/screens are small, load nothing, and are shown. They show real runs, so none is compared."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

DOCS = Path(__file__).parents[2] / "docs"
OTHERS = re.compile(r"-(?:1000|1900|dark)\.png")  # the same page at other widths, and dark
PICTURES = [file for file in sorted((DOCS / "screens").iterdir()) if file.suffix in (".png", ".svg")]


def test_each_is_small_and_shown() -> None:
    shown = set(
        re.findall(r"!\[[^\]]+\]\(screens/([\w.-]+)\)", "".join(page.read_text() for page in DOCS.glob("*.md")))
    )
    assert {re.sub(OTHERS, "-1440.png", file.name) for file in PICTURES} == shown
    assert [file.name for file in PICTURES if file.stat().st_size > 300_000] == []


def test_films_load_nothing() -> None:
    for file in PICTURES:
        if file.suffix == ".svg":
            text = file.read_text(encoding="utf-8")
            ElementTree.fromstring(text)
            assert "url(" not in text and "href" not in text and text.count("http") == 1, file.name

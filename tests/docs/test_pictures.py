"""The pictures of the documentation are what `python docs/pictures` makes, and the pages show them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"


def test_pictures_are_those_that_are_made() -> None:
    """In a Python of its own, as their modules have names like `zones`."""
    program = f"import sys; sys.path.insert(0, {str(FOLDER)!r}); import runpy\n"
    program += f"made = runpy.run_path({str(FOLDER / '__main__.py')!r})['PICTURES']\n"
    program += "sys.stdout.reconfigure(encoding='utf-8')\n"
    program += "print(*(f'{name}\\n{picture()}' for name, picture in made.items()), sep='\\0', end='')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True)
    made = dict(text.split("\n", 1) for text in done.stdout.split("\0"))
    assert {*made} == {file.stem for file in FOLDER.glob("*.svg")}
    page = (FOLDER.parent / "time.md").read_text(encoding="utf-8")
    for name, svg in made.items():
        assert (FOLDER / f"{name}.svg").read_text(encoding="utf-8") == svg, "python docs/pictures"
        ElementTree.fromstring(svg)
        assert f"](pictures/{name}.svg)" in page

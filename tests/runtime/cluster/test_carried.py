"""Python processes of a Spark Connect server run one stream after the other."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

PROGRAM = """
import os, sys
from tvfsql.runtime.cluster.carried import Carried

for step in sys.argv[1:]:
    command, file = step.split(":", 1)
    if command == "remove":
        os.remove(file)
    else:
        # a function of the zip's tvfsql, which imports a part only when it is called
        print(Carried(b"ctvfsql.part\\nname\\n.", file).unpacked()())
"""


def zip_at(file: Path, name: str) -> Path:
    file.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(file, "w") as zip:
        zip.writestr("tvfsql/__init__.py", "")
        zip.writestr("tvfsql/part.py", "def name():\n    from tvfsql import later\n    return later.NAME\n")
        zip.writestr("tvfsql/later.py", f"NAME = {name!r}\n")
    return file


def test_a_process_keeps_a_tvfsql_only_if_it_is_the_same_and_still_there(tmp_path: Path) -> None:
    old = zip_at(tmp_path / "1" / "tvfsql-aa.zip", "first")
    same = zip_at(tmp_path / "2" / "tvfsql-aa.zip", "second, but of the same name, so what is loaded stays")
    later = zip_at(tmp_path / "3" / "tvfsql-aa.zip", "where the first is gone")
    other = zip_at(tmp_path / "4" / "tvfsql-bb.zip", "another release")
    steps = [f"run:{old}", f"run:{same}", f"remove:{old}", f"run:{later}", f"run:{other}"]
    done = subprocess.run([sys.executable, "-c", PROGRAM, *steps], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["first", "first", "where the first is gone", "another release"], done.stderr

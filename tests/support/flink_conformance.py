"""Asks Flink for the rows of the situations of tests/conformance: tests/data/flink_conformance.json.

.venv/bin/python -m tests.support.flink_conformance [--all]
Without `--all` only situations are asked that are new or have changed.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from tests.support.conformance import ANSWERS, all_situations, answers, key_of
from tests.support.flink_process import Flink


def main() -> None:
    known = answers() if ANSWERS.exists() and "--all" not in sys.argv else {}
    asked = {
        (each.name, mode): each.asked(mode) for each in all_situations() if each.expected is None for mode in each.modes
    }
    keys = {place: key_of(query) for place, query in asked.items()}
    kept = {place: answer for place, answer in known.items() if answer.get("key") == keys.get(place)}
    missing = [query for place, query in asked.items() if place not in kept]
    # all of a mode and of a set of tables together
    missing.sort(key=lambda query: (query["mode"] == "batch", json.dumps(query["tables"])))
    with Flink() as flink:
        for number, query in enumerate(missing, 1):
            place = query["name"], query["mode"]
            kept[place] = {**flink.ask(query), "key": keys[place]}
            if number % 20 == 0:
                print(f"{number} of {len(missing)}", file=sys.stderr, flush=True)
                write(kept, list(asked))
    write(kept, list(asked))


def write(kept: dict[tuple[str, str], dict[str, Any]], order: list[tuple[str, str]]) -> None:
    lines = (json.dumps(kept[place], ensure_ascii=False) + "\n" for place in order if place in kept)
    ANSWERS.write_text("".join(lines), encoding="utf-8")


main()

"""Asks Flink for the changes, with their kinds, of queries whose results change: tests/data/flink_kinds.json.

.venv/bin/python -m tests.support.flink_kinds
"""

from __future__ import annotations

import json
from typing import Any

from tests.support.conformance import HERE, Situation, all_situations
from tests.support.flink_process import Flink

ANSWERS = HERE / "data" / "flink_kinds.json"
ABOUT = (
    "TopN: the best rows of each key with their rank (place <= 3)",
    "TopN: the best rows of each key with their rank (place = 2)",
    "TopN: the best rows of each key with their rank (place BETWEEN 2 AND 3)",
    "TopN: the best rows of each key without their rank (place <= 3)",
    "TopN: the best rows of each key without their rank (place = 2)",
    "TopN: the best rows of all (price DESC, ts)",
    "TopN: the groups with most rows and their rank",
    "TopN: the groups with most rows (r <= 2)",
    "TopN: the best rows of a changelog",
    "TopN: the last two rows of each key by time",
    "TopN: the last bid of each bidder",
    "TopN: the ten best bids of each auction",
    "Deduplicate: the last row of each key (a)",
)


def asked() -> list[Situation]:
    """The situations whose changes are compared."""
    return [each for each in all_situations() if each.name in ABOUT]


def kinds() -> dict[str, dict[str, Any]]:
    """Flink's answers by situation."""
    return {each["name"]: each for each in map(json.loads, ANSWERS.read_text(encoding="utf-8").splitlines())}


def main() -> None:
    with Flink() as flink:
        lines = []
        for each in asked():
            found = flink.ask({**each.asked("streaming"), "kinds": True})
            lines.append(json.dumps({"name": each.name, "sql": each.sql, **found}, ensure_ascii=False) + "\n")
    ANSWERS.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Words put anywhere into scripts that compile: what is taken with such a word has it in its tree.
`python -m tests.support.lost_words 20000` tries that many places; `tests/laws/test_lost_words.py` tries some.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

from sqlglot import exp

from tests.support.fuzz import seeds
from tvfsql import TvfSqlError, compile
from tvfsql.syntax.parser import parse

NAME, NUMBER = "zzq", "7707"
ADDED = (
    f" {NAME}", f" `{NAME}`", f" '{NAME}'", f" {NUMBER}", f", {NAME}", f", {NUMBER}", f", '{NAME}'", f"({NAME})",
    f"({NUMBER})", f"[{NUMBER}]", f" AS {NAME}", f".{NAME}", f" {NAME}.", f" {NUMBER},", f" {NAME},", f" - {NUMBER}",
    f" = {NAME}", f" OR {NAME}",
)  # fmt: skip
COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
END = re.compile(r"'(?:''|[^'])*'|`[^`]*`|\w+|[^\w\s]")
# Flink's digits of an interval's unit, as in DAY(3), change nothing
DIGITS = re.compile(rf"\b(YEAR|MONTH|DAY|HOUR|MINUTE|SECOND)S? ?\({NUMBER}\)", re.IGNORECASE)


def places(draw: random.Random) -> Iterator[str]:
    """Yield scripts with one word more. Never ends."""
    texts = [COMMENT.sub("", text) for text in seeds()]
    while True:
        text = draw.choice(texts)
        ends = [found.end() for found in END.finditer(text)]
        at = draw.choice(ends)
        yield text[:at] + draw.choice(ADDED) + text[at:]


def loses(sql: str) -> bool:
    """Whether a script is taken, but its tree lacks the word."""
    try:
        statements = [*parse(sql)]
    except TvfSqlError:
        return False
    wanted = NAME if NAME in sql else NUMBER
    if any(wanted in text.lower() for text in texts_in(statements, set())) or DIGITS.search(sql):
        return False
    return any(map(partial(_compiles, sql), ("batch", "streaming")))


def _compiles(sql: str, mode: str) -> bool:
    try:
        compile(sql, mode=mode)
    except TvfSqlError:
        return False
    return True


def texts_in(part: Any, met: set[int]) -> Iterator[str]:
    """Yield the texts and numbers of a tree, of tvfsql or sqlglot."""
    if isinstance(part, str | int | float):
        yield str(part)
    elif isinstance(part, exp.Expr):
        for node in part.walk():
            yield from texts_in([value for value in node.args.values() if not isinstance(value, exp.Expr)], met)
            yield from texts_in([value for key, value in node.meta.items() if key not in ("start", "end")], met)
    elif isinstance(part, dict):
        yield from texts_in([*part, *part.values()], met)
    elif isinstance(part, list | tuple | set | frozenset):
        for each in part:
            if not isinstance(each, exp.Expr) or isinstance(part, tuple):
                yield from texts_in(each, met)
    elif is_dataclass(part) and id(part) not in met:
        met.add(id(part))
        for field in fields(part):
            if field.name != "span":
                yield from texts_in(getattr(part, field.name), met)


def main() -> int:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    source, found = places(random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)), 0
    for _ in range(wanted):
        if loses(sql := next(source)):
            found += 1
            print(f"--- a word is lost\n{sql}", flush=True)
    print(f"{wanted} places, {found} faults")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())

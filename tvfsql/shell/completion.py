"""Completions at the cursor: commands, keywords, tables, columns, functions, options and their values, files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tvfsql.api import Session
from tvfsql.catalog import Table, View
from tvfsql.catalog.outside import Outside
from tvfsql.errors import TvfSqlError
from tvfsql.plan.values.types import SqlType, is_time

WORD = re.compile(r"[\w$]*$")
OWNER = re.compile(r"([\w$.]*)\s*\.\s*$")
NAMED = re.compile(r"\b(?:FROM|JOIN|TABLE|INTO|UPDATE)\s+([\w$.]+)", re.IGNORECASE)
IN_STRING = re.compile(r"'([^']*)$")
OPTION = re.compile(r"'([^']*)'\s*=\s*'([^']*)'")
MOST = 400
KEYWORDS = """
AFTER ALL ALTER AND AS ASC BETWEEN BY CALL CASE CAST CREATE CROSS CUBE CURRENT DEFINE DESC DESCRIBE DESCRIPTOR
DISTINCT DROP ELSE EMIT END EXCEPT EXECUTE EXISTS EXPLAIN FALSE FILL FILTER FROM FULL FUNCTION GAP_FILL GROUP GROUPING
HAVING IN INNER INSERT INTERPOLATE INTERSECT INTERVAL INTO IS JOIN KEEPNULL LANGUAGE LEFT LIKE LIMIT LOCF
MATCH_RECOGNIZE MAX_GAP MEASURES NOT NULL OFFSET ON OR ORDER OUTER OVER OVERWRITE PARTITION PARTITIONED PATTERN
PRECEDING RANGE RESET RIGHT ROLLUP ROW ROWS SELECT SET SETS SHOW STATEMENT TABLE TEMPORARY THEN TRUE UNBOUNDED UNION
USING VALUES VIEW WATERMARK WHEN WHERE WINDOW WITH WITHIN
BIGINT BOOLEAN DATE DECIMAL DOUBLE FLOAT INT STRING TIMESTAMP TIMESTAMP_LTZ SECOND MINUTE HOUR DAY MONTH YEAR
""".split()
AFTER_SKIP = ("PAST LAST ROW", "TO NEXT ROW", "TO FIRST", "TO LAST")
AFTER_EMIT = ("ON WINDOW CLOSE", "ON UPDATE", "EVERY INTERVAL", "WITH LATENESS INTERVAL")
BEFORE_TABLES = {"FROM", "JOIN", "TABLE", "VIEW", "INTO", "DESCRIBE", "DESC", "OVERWRITE"}
_OF_KAFKA = ("topic", "properties.bootstrap.servers", "properties.group.id", "key.format", "value.format")
_OF_ROWS = ("number-of-rows", "rows-per-second", "rows-per-batch", "seed")
TABLE_OPTIONS = {  # the usual ones of each connector; those of formats are added
    "filesystem": ("path", "format", "maxFilesPerTrigger", "source.file-order"),
    "kafka": (*_OF_KAFKA, "format", "topic-pattern", "scan.startup.mode", "scan.bounded.mode", "key.fields"),
    "upsert-kafka": _OF_KAFKA,
    "datagen": _OF_ROWS,
    "faker": _OF_ROWS,
    "nexmark": ("nexmark.table", "first-event.rate", "start-time", "disorder", *_OF_ROWS),
    "jdbc": ("url", "table-name", "username", "password", "driver"),
    "spark-catalog": ("table-name", "format"),
}
AFTER_SHOW = ("TABLES", "VIEWS", "FUNCTIONS", "USER FUNCTIONS", "CREATE TABLE")


@dataclass(frozen=True)
class Candidate:
    """A text that replaces the last `length` characters. `shown` is its menu entry, `about` the description beside
    it.
    """

    text: str
    length: int
    shown: str = ""
    about: str = ""


def candidates(text: str, after: str, session: Session) -> list[Candidate]:
    """The candidates at the end of `text`. `after` is the text after the cursor; its tables count too."""
    if text.lstrip()[:1] in ("\\", ".") and "\n" not in text.strip():
        found = list(_of_command(text.lstrip(), session))
    else:
        start = text.rfind(";") + 1
        found = list(_of_statement(text[start:], text[start:] + after.partition(";")[0], session))
    return found[:MOST]


# ---------------------------------------------------------------------------------------------- commands


def _of_command(text: str, session: Session) -> Iterator[Candidate]:
    from tvfsql.shell.commands import BY_NAME, CHOICES, COMMANDS

    name, blank, argument = text.partition(" ")
    if not blank:
        for each in COMMANDS:
            for other in each.names:
                if other.startswith(name):
                    yield Candidate(other, len(name), f"{other} {each.usage}".strip(), each.summary)
        return
    command = BY_NAME.get(name.lower())
    takes = command.takes if command else ""
    word = argument.rpartition(" ")[2]
    if takes == "file":
        yield from _files(argument, "")
    elif takes == "table":
        yield from _starting(word, session.catalog.entries, "table")
    elif takes == "option":
        key, blank, _ = argument.partition(" ")
        yield from _starting(word, _values(key) if blank else _keys(session), key if blank else "option")
    else:
        yield from _starting(word, CHOICES.get(takes, ()), "")


def _starting(word: str, names: Iterable[str], about: str) -> Iterator[Candidate]:
    for name in names:
        if name.lower().startswith(word.lower()):
            yield Candidate(name, len(word), about=about)


def _files(path: str, base: str) -> Iterator[Candidate]:
    """The files that a path may mean, which starts at the folder `base` ("": the current one)."""
    folder, _, start = path.rpartition("/")
    place = os.path.join(base or ".", os.path.expanduser(f"{folder}/") if "/" in path else "")
    try:
        entries = sorted(os.scandir(place), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith(start) and not (entry.name.startswith(".") and not start):
            yield Candidate(entry.name + ("/" if entry.is_dir() else ""), len(start), about="file")


# ---------------------------------------------------------------------------------------------- statements


def _of_statement(text: str, whole: str, session: Session) -> Iterator[Candidate]:
    if text.count("'") % 2:
        yield from _of_string(text, session)
        return
    word = WORD.search(text)
    start = word[0] if word else ""
    before = text[: len(text) - len(start)]
    words = re.findall(r"[\w$]+|[^\s\w]", before)
    last = words[-1].upper() if words else ""
    if not words:
        yield from _starting(start, _starts(), "statement")
    elif last == ".":
        owner = OWNER.search(before)
        yield from _below(owner[1] if owner else "", start, whole, session)
    elif last == ":":
        yield from _starting(start, session.script.parameters.declared, "parameter")
    elif last == "SHOW":
        yield from _starting(start, AFTER_SHOW, "")
    elif last == "EMIT":
        yield from _starting(start, AFTER_EMIT, "")
    elif last == "SKIP" and words[-2].upper() == "MATCH":
        yield from _starting(start, AFTER_SKIP, "")
    elif last == "AFTER":
        yield from _starting(start, ("MATCH SKIP",), "")
    elif words[0].upper() in ("SET", "RESET"):
        yield from _of_option(words, start, session)
    elif last in BEFORE_TABLES or (last == "(" and [each.upper() for each in words[-2:-1]] == ["TABLE"]):
        yield from _tables(start, session)
        if start:
            yield from _functions(start, session, windows=True)
            yield from _starting(start, ("TABLE",), "keyword")
    elif last == "(" and [each.upper() for each in words[-2:-1]] == ["DESCRIPTOR"]:
        yield from _columns(start, whole, session, times=True)
    else:
        yield from _columns(start, whole, session)
        if start:
            yield from _functions(start, session)
            yield from _starting(start, KEYWORDS, "keyword")
            yield from _tables(start, session)


def _starts() -> tuple[str, ...]:
    from tvfsql.syntax.parser import STARTS

    return tuple(each for each in STARTS if each != "(")


def _tables(start: str, session: Session) -> Iterator[Candidate]:
    for name, entry in sorted(session.catalog.entries.items()):
        if name.lower().startswith(start.lower()):
            yield Candidate(_name(name), len(start), about=type(entry).__name__.lower())
    names = SparkNames(session)
    yield from _of_spark(names.tables(), start, session, "table of Spark")
    yield from _of_spark(names.databases(), start, session, "database of Spark")
    yield from _of_spark(names.catalogs(), start, session, "catalog of Spark")


def _of_spark(names: Iterable[str], start: str, session: Session, about: str) -> Iterator[Candidate]:
    for name in names:
        if name.lower().startswith(start.lower()) and session.catalog.find(name) is None:
            yield Candidate(_name(name), len(start), about=about)


def _columns(start: str, whole: str, session: Session, *, times: bool = False) -> Iterator[Candidate]:
    """The columns of the tables that the statement names, or of all tables if it names none; also those of a window."""
    names = {each.lower() for each in re.findall(r"[\w$]+", whole)}
    found: dict[str, str] = {}
    entries: list[tuple[str, Table | View]] = sorted(session.catalog.entries.items())
    named = [each for each in entries if each[0].lower() in names]
    named += _named_of_spark(whole, session)
    for name, entry in named or (entries if start else []):
        found |= {column: f"{kind.flink} of {name}" for column, kind in _fields(entry, times)}
    if not times and names & {"tumble", "hop", "cumulate", "session"}:
        found |= dict.fromkeys(("window_start", "window_end", "window_time"), "TIMESTAMP(3) of the window")
    for column, about in found.items():
        if column.lower().startswith(start.lower()):
            yield Candidate(_name(column), len(start), about=about)


def _named_of_spark(whole: str, session: Session) -> list[tuple[str, Table]]:
    """The tables of Spark that the statement names."""
    names = (each for each in NAMED.findall(whole) if session.catalog.find(each) is None)
    found = ((name, SparkNames(session).table(name)) for name in names)
    return [(name, table) for name, table in found if table is not None]


def _below(owner: str, start: str, whole: str, session: Session) -> Iterator[Candidate]:
    """The columns of a table or alias `owner`, the tables of a database, or the databases of a catalog."""
    for name in session.catalog.entries:
        database, _, table = name.rpartition(".")
        if database.lower() == owner.lower() and database and table.lower().startswith(start.lower()):
            yield Candidate(_name(table), len(start), about="table")
    entry: Table | View | None = session.catalog.find(owner)
    if entry is None and owner:
        names = SparkNames(session)
        yield from _of_spark(names.tables(owner), start, session, "table of Spark")
        yield from _of_spark(names.databases(owner), start, session, "database of Spark")
        entry = names.table(owner)
    if entry is None and owner:
        named = re.finditer(rf"([\w$.]+)\s+(?:AS\s+)?{re.escape(owner)}\b", whole, re.IGNORECASE)
        found = [session.catalog.find(each[1]) or SparkNames(session).table(each[1]) for each in named]
        entry = next((each for each in found if each is not None), None)
    for column, kind in _fields(entry) if entry else ():
        if column.lower().startswith(start.lower()):
            yield Candidate(_name(column), len(start), about=kind.flink)


def _fields(entry: Table | View, times: bool = False) -> list[tuple[str, SqlType]]:
    if isinstance(entry, Table):
        pairs = [(column.name, column.type) for column in entry.visible]
    else:
        pairs = [(part.name, part.type) for part in entry.fields]
    return [pair for pair in pairs if not times or is_time(pair[1])]


def _functions(start: str, session: Session, *, windows: bool = False) -> Iterator[Candidate]:
    from tvfsql.shell.functions import calls
    from tvfsql.syntax.tokens import FUNCTIONS

    for call in calls(session.catalog.functions.values()):
        if call.name.lower().startswith(start.lower()) and (call.name in FUNCTIONS) == windows:
            end = "()" if call.text.endswith("()") else "("
            yield Candidate(call.name + end, len(start), call.text, call.result or "function")


def _of_option(words: Sequence[str], start: str, session: Session) -> Iterator[Candidate]:
    if len(words) == 1:
        for key in _keys(session):
            if key.startswith(start.lower()):
                yield Candidate(f"'{key}'", len(start), about=_doc(key))


def _of_string(text: str, session: Session) -> Iterator[Candidate]:
    """Completions within quotes: an option of SET and its value, or the value of a table's option."""
    opened = IN_STRING.search(text)
    start = opened[1] if opened else ""
    before = text[: len(text) - len(start) - 1]
    words = re.findall(r"'[^']*'|[\w$]+|[^\s\w]", before)
    key = words[-2].strip("'") if words[-1:] == ["="] and len(words) > 1 else ""
    if words and words[0].upper() in ("SET", "RESET"):
        about = "" if key else "option"
        yield from _starting(start, _values(key) if key else _keys(session), about)
    elif key == "path":
        yield from _files(start, session.script.folder)
    elif key:
        yield from _starting(start, _table_values(key), key)
    elif "WITH" in map(str.upper, words) and words[-1] in ("(", ","):
        yield from _table_keys(start, dict(OPTION.findall(before)))


def _table_keys(start: str, given: Mapping[str, str]) -> Iterator[Candidate]:
    """The options of a connector that are not `given` yet."""
    from tvfsql.catalog.connectors.formats import known_options

    name = given.get("connector", "")
    found = [*TABLE_OPTIONS.get(name, ()), *known_options(given.get("format", ""), of_files=name == "filesystem")]
    yield from _starting(start, (key for key in ("connector", *found) if key not in given), name or "option")


def _table_values(key: str) -> Sequence[str]:
    from tvfsql.catalog.connectors import KNOWN_CONNECTORS

    return {
        "connector": KNOWN_CONNECTORS,
        "format": ("csv", "json", "parquet", "orc", "avro"),
    }.get(key, ())


def _keys(session: Session) -> list[str]:
    return [key for key, _ in session.options.listed()]


def _doc(key: str) -> str:
    from tvfsql.options.known import KNOWN

    return KNOWN[key].doc if key in KNOWN else ""


def _values(key: str) -> Sequence[str]:
    from tvfsql.options.known import KNOWN

    return KNOWN[key].words if key in KNOWN else ()


def _name(name: str) -> str:
    """A name as SQL text. A name with dots is that of a table in a database."""
    parts = name.split(".")
    return ".".join(
        part if re.fullmatch(r"[^\W\d][\w$]*", part) and part.upper() not in KEYWORDS else f"`{part}`" for part in parts
    )


# The names in Spark's catalogs, for completion. Empty before Spark runs, and if a catalog does not answer.


T = TypeVar("T")


@dataclass(frozen=True)
class SparkNames:
    """Asks Spark anew each time. Names have one to three parts, with dots."""

    session: Session

    def tables(self, database: str = "") -> tuple[str, ...]:
        """The tables of a database, or of Spark's current one."""
        return self._asked(lambda outside: outside.tables(database), ())

    def databases(self, catalog: str = "") -> tuple[str, ...]:
        """The databases of a catalog, or of Spark's current one."""
        return self._asked(lambda outside: outside.databases(catalog), ())

    def catalogs(self) -> tuple[str, ...]:
        """The catalogs that Spark knows."""
        return self._asked(lambda outside: outside.catalogs(), ())

    def table(self, name: str) -> Table | None:
        """The table or view of that name."""
        return self._asked(lambda outside: outside.table(name), None)

    def _asked(self, question: Callable[[Outside], T], otherwise: T) -> T:
        outside = self.session.catalog.outside
        if outside is None or self.session.own.spark is None:
            return otherwise
        try:
            return question(outside)
        except TvfSqlError:
            return otherwise

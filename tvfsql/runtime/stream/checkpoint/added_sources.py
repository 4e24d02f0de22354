"""Sources that a query adds to a checkpoint: Spark's log of offsets gets a place for each.

Spark's log of offsets has a line per source, in their order in the query, and the folder `sources` what each of them
remembers, under its number. A source that has not read anything yet has the line `-`. So a checkpoint with such a line
more is that of a query which had the source from the start, but got no rows from it.

What is to be done is written into a file first; until then the stream can go on without the source too. After a kill
the next run of the stream, or the next rescale, does the rest. Source: docs/streams.md#more-tables.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from tvfsql.errors import DataError, UnsupportedError
from tvfsql.runtime.cluster.files import Place

FILE = "added_sources.json"  # in a checkpoint
BEFORE = "manifest-before.json"  # the manifest without the added sources, until Spark's log has them
NOTHING = "-"  # in Spark's log: a source that has not read anything
VERSION = "v1"  # of Spark's log of offsets
LAST = 2  # entries of the log that Spark reads when it starts


@dataclass(frozen=True)
class Leaf:
    """A source of a query. Equal `relation`s are one source that is read twice. `since` numbers the change of the query
    that added it (0: none). `control`: it is the control channel.
    """

    relation: Hashable
    since: int = 0
    control: bool = False


@dataclass(frozen=True)
class Adding:
    """What is to be done: folders of sources to move (from, to), of which `moved` are done, folders to copy, and
    entries of the log of offsets, by number.
    """

    moves: Sequence[tuple[int, int]]
    copies: Sequence[tuple[int, int]]
    entries: Mapping[str, str]
    moved: int = 0

    def announce(self, stream: Place) -> None:
        (stream / FILE).write(json.dumps(asdict(self)) + "\n")


def add_sources(stream: Place, leaves: Sequence[Leaf]) -> None:
    """Give the sources of a query that the checkpoint of a stream lacks a place in it. `leaves` are all its sources, in
    Spark's order. Raises DataError if those that it has are not the ones of an earlier query, and UnsupportedError if
    Spark's log has another version.
    """
    entries = _entries(stream)
    if not entries or all(len(lines) == len(leaves) for _, lines in entries.values()):
        _forget(stream / BEFORE)
        return
    counts = {len(lines) for _, lines in entries.values()}
    kept = next((kept for kept in _earlier(leaves) if counts == {len(kept)}), None)
    if kept is None:
        raise DataError(
            f"the checkpoint {stream} knows {max(counts)} sources of the stream, but the query has {len(leaves)}",
            hint="use a new folder",
        )
    before, now = _ids([leaves[place] for place in kept]), _ids(leaves)
    moves = {(before[i], now[place]) for i, place in enumerate(kept) if before[i] != now[place]}
    listens = next((place for place in kept if leaves[place].control), None)
    copies = {
        (now[listens], now[place])
        for place, leaf in enumerate(leaves)
        if leaf.control and place not in kept and listens is not None
    }

    def line(place: int, lines: Sequence[str]) -> str:
        # a new control channel has read what the others have read: it was not meant for the new source
        of = listens if leaves[place].control and place not in kept else place
        return lines[kept.index(of)] if of in kept else NOTHING

    made = {
        str(number): "\n".join([*head, *(line(place, lines) for place in range(len(leaves)))])
        for number, (head, lines) in entries.items()
    }
    Adding(sorted(moves, reverse=True), sorted(copies), made).announce(stream)
    finish_adding(stream)


def finish_adding(stream: Place) -> None:
    """Do what is left to be done. Raises DataError if the file that says so is damaged."""
    file = stream / FILE
    text = file.read()
    if text is None:
        return
    try:
        adding = Adding(**json.loads(text))
    except (ValueError, TypeError) as error:
        raise DataError(
            f"the checkpoint {stream} is damaged: {file} does not say which sources were added",
            hint="restore the checkpoint",
        ) from error
    _forget(stream / BEFORE)
    sources, log = stream / "spark" / "sources", stream / "spark" / "offsets"
    for number, (before, now) in enumerate(adding.moves):  # the last ones first, into folders that are free
        if number >= adding.moved:
            _copy(sources / str(before), sources / str(now))
            for name in (sources / str(before)).names():
                (sources / str(before) / name).delete()
            replace(adding, moved=number + 1).announce(stream)
    for one, other in adding.copies:
        _copy(sources / str(one), sources / str(other))
    for name, entry in adding.entries.items():
        if f".{name}.crc" in log.names():
            (log / f".{name}.crc").delete()
        (log / name).write(entry)
    file.delete()


def refuse_other_log(stream: Place) -> None:
    """Raise UnsupportedError if Spark's log of offsets is not known here."""
    _entries(stream)


def _entries(stream: Place) -> dict[int, tuple[list[str], list[str]]]:
    """The last entries of Spark's log of offsets, by number. Raises UnsupportedError."""
    log = stream / "spark" / "offsets"
    numbers = sorted(map(int, filter(str.isdigit, log.names())))[-LAST:]
    return {number: _lines(log / str(number)) for number in numbers}


def _forget(file: Place) -> None:
    if file.exists():
        file.delete()


def _earlier(leaves: Sequence[Leaf]) -> list[list[int]]:
    """The places of the sources that each earlier version of the query had."""
    changes = sorted({leaf.since for leaf in leaves})[:-1]
    return [[place for place, leaf in enumerate(leaves) if leaf.since <= change] for change in changes]


def _lines(entry: Place) -> tuple[list[str], list[str]]:
    """The head of an entry of the log, and the lines of its sources."""
    lines = (entry.read() or "").rstrip("\n").split("\n")
    if lines[:1] != [VERSION]:
        raise UnsupportedError(
            f"no table can be added to this checkpoint: Spark's log of offsets has the version {''.join(lines[:1])}",
            hint="use a new folder, without spark.sql.streaming.offsetLog.formatVersion",
        )
    return lines[:2], lines[2:]


def _ids(leaves: Sequence[Leaf]) -> list[int]:
    """Spark's numbers of sources: one that is read twice has one number."""
    known: dict[Hashable, int] = {}
    return [known.setdefault(leaf.relation, len(known)) for leaf in leaves]


def _copy(one: Place, other: Place) -> None:
    names = [name for name in one.names() if not name.endswith(".crc")]
    if names:
        other.make()
    for name in names:
        (other / name).write((one / name).read() or "")

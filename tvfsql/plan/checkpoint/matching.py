"""Finds the columns of a query in the state of an earlier version of it, whatever their names and order.

State is kept under the names of the query that first had it. What an aggregate holds is compared by its expression over
the columns of the sources, also if it reads the results of another operator.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tvfsql.plan.checkpoint.manifest import Column, Input, Manifest, State
from tvfsql.plan.values.scalar import bare

# the literals and the names in an expression
WORDS = re.compile(r"'(?:[^'\\]|\\.)*'|`(?:[^`]|``)*`|\b\w+\b(?!\()")


@dataclass(frozen=True)
class Matched:
    """Columns of a state with the columns of the query that they serve, in the order of the state; `lost` serve none,
    and the query has `more`.
    """

    pairs: tuple[tuple[Column, Column], ...]
    lost: tuple[Column, ...]
    more: tuple[Column, ...]


def matched(old: Sequence[Column], new: Sequence[Column]) -> Matched:
    """Match the columns of a state and of a query, by what they hold. Equal ones are matched by name first."""
    left, pairs, lost = [*new], list[tuple[Column, Column]](), list[Column]()
    for column in old:
        serving = [each for each in left if column.serves(each)]
        found = next((each for each in serving if each.name == column.name), serving[0] if serving else None)
        if found is None:
            lost.append(column)
        else:
            left.remove(found)
            pairs.append((column, found))
    return Matched(tuple(pairs), tuple(lost), tuple(left))


def following(old: Manifest, new: Manifest) -> Manifest:
    """Return the manifest of a query that has resumed from the state of `old`, with the names of that state: its
    columns and sources remember since which change they count, and no later column may take the name of a dropped one.
    """
    known, added = (new.known.manifest, new.known.added) if new.known else (new, ())
    before, now = resolved(old), resolved(known)
    pairs = zip(old.operators, new.operators, before.operators, now.operators, strict=True)
    since, later = iter(old.sources), max((source.since for source in old.sources), default=0) + 1
    sources = (
        replace(source, since=later if place in added else next(since).since)
        for place, source in enumerate(new.sources)
    )
    return replace(new, operators=tuple(_following(*each) for each in pairs), sources=tuple(sources), known=None)


def _following(old: State, new: State, resolved_old: State, resolved_new: State) -> State:
    found = matched(resolved_old.columns, resolved_new.columns)
    since = {now.name: before.since for before, now in found.pairs}
    later = max((column.since for column in old.columns), default=0) + 1
    columns = tuple(replace(column, since=since.get(column.name, later)) for column in new.columns)
    names = {column.name for column in columns}
    dropped = (name for name in (*old.dropped, *(column.name for column in old.columns)) if name not in names)
    return replace(new, columns=columns, dropped=tuple(dict.fromkeys(dropped)))


def resolved(manifest: Manifest) -> Manifest:
    """Return a manifest in which expressions over the results of an operator contain the operator's own expressions, so
    that the names in between do not matter.
    """
    return replace(manifest, operators=tuple(_resolved(one, manifest) for one in manifest.operators))


def _resolved(state: State, manifest: Manifest) -> State:
    below = [_results(each, manifest) for each in state.inputs]
    if not any(below):
        return state
    together = _together(below)

    def of(column: Column) -> Column:
        sides = below if len(column.of) == len(below) else [together] * len(column.of)
        traced = [_filled(text, names) for text, names in zip(column.of, sides, strict=True)]
        used = [one for _, each in traced for one in each]
        reads = ", ".join(sorted({one.reads for one in used if one.reads})) if used else column.reads
        return replace(column, of=tuple(text for text, _ in traced), reads=reads)

    conditions = (
        replace(each, where=tuple(_filled(text, names)[0] for text in each.where))
        for each, names in zip(state.inputs, below, strict=True)
    )
    settings = {name: _filled(text, together)[0] for name, text in (state.settings or {}).items()}
    keys, columns = tuple(map(of, state.keys)), tuple(map(of, state.columns))
    return replace(state, keys=keys, columns=columns, inputs=tuple(conditions), settings=settings)


def _results(one: Input, manifest: Manifest) -> Mapping[str, Column]:
    """The columns that an input has from another operator, by name; empty for a source."""
    kind, _, number = one.of.partition(" ")
    if kind != "operator":
        return {}
    operator = _resolved(manifest.operators[int(number) - 1], manifest)
    return {column.name: column for column in (*operator.keys, *operator.columns)}


def _together(sides: Sequence[Mapping[str, Column]]) -> dict[str, Column]:
    """The columns of several inputs; one that differs between inputs is all of them."""
    found = dict[str, Column]()
    for name, column in (pair for side in sides for pair in side.items()):
        known = found.setdefault(name, column)
        if known != column:
            found[name] = replace(known, of=(*known.of, *column.of), merge=f"{known.merge} {column.merge}".strip())
    return found


def _filled(text: str, names: Mapping[str, Column]) -> tuple[str, list[Column]]:
    """An expression with the columns of an operator replaced by what they hold, and these columns."""
    used = list[Column]()

    def of(found: re.Match[str]) -> str:
        column = names.get(bare(found[0]))
        if column is None:
            return found[0]
        used.append(column)
        return column.text

    return WORDS.sub(of, text), used

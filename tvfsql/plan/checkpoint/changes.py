"""Compares a query with its checkpoint and decides whether the state can still be used.

Each change is free (the state does not depend on it), needs the user's consent (the state comes from other rows than
those to come), or is refused. Source: docs/streams.md#change-a-running-query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import zip_longest

from tvfsql.plan.checkpoint.manifest import (
    GROUPS,
    LAYOUT,
    PARALLELISM,
    SPARK_GROUPS,
    TOP_N,
    WATERMARKS,
    WINDOWS,
    Column,
    Input,
    Manifest,
    Sink,
    Source,
    State,
)
from tvfsql.plan.checkpoint.matching import Matched, matched, resolved
from tvfsql.plan.window import Window
from tvfsql.plan.window_nodes import window_label


class Verdict(IntEnum):
    """The consequence of a change. Of several, the greatest counts."""

    FREE = 0
    WORD = 1
    REFUSED = 2


@dataclass(frozen=True)
class Change:
    """One change: the part of the query in words of SQL, its text before and after ("": absent), the reason for the
    verdict, and what the user can do ("": nothing about this change).
    """

    verdict: Verdict
    what: str
    before: str
    after: str
    why: str
    hint: str = ""

    @property
    def lines(self) -> list[str]:
        """The change as a diff."""
        sides = (("-", self.before), ("+", self.after))
        return [f"  {self.what}: {self.why}", *(f"    {sign} {text}" for sign, text in sides if text)]


def rescale_hint(key_groups: int | str) -> str:
    """What changes the number of key groups of a checkpoint."""
    return f"tvfsql rescale CHECKPOINT --key-groups {key_groups}; or leave out SET '{PARALLELISM}'"


def verdict_of(changes: Sequence[Change]) -> Verdict:
    return max((change.verdict for change in changes), default=Verdict.FREE)


def changes(old: Manifest, new: Manifest) -> list[Change]:
    """Return all changes between two manifests. The state's columns may be renamed or reordered."""
    old, known = resolved(old), resolved(new.known.manifest if new.known else new)
    if len(old.sources) != len(known.sources):  # then the inputs of all operators differ
        return [*_layout(old, known), *_kinds(old, known), _other_tables(old, known)]
    return [
        *_layout(old, known),
        *_operators(old, known),
        *_sources(old, known),
        *_added(new),
        *_paths("what is read", old.results, known.results, stateful=False),
        *_sinks(old, known),
    ]


def _refused(what: str, before: str, after: str, why: str) -> Change:
    return Change(Verdict.REFUSED, what, before, after, why)


def _layout(old: Manifest, new: Manifest) -> Iterator[Change]:
    if old.layout not in (new.layout, LAYOUT):
        why = f"tvfsql {old.version} wrote it, and is the last known to read it"
        yield _refused("layout of the state", str(old.layout), str(new.layout), why)


def _operators(old: Manifest, new: Manifest) -> Iterator[Change]:
    kinds = [*_kinds(old, new)]
    yield from kinds
    for before, after in zip(old.operators, new.operators, strict=True) if not kinds else ():
        yield from _operator(before, after)


def _kinds(old: Manifest, new: Manifest) -> Iterator[Change]:
    if [one.kind for one in old.operators] != [one.kind for one in new.operators]:
        was, now = (", ".join(one.kind for one in each.operators) or "none" for each in (old, new))
        why = "their number and order cannot change"
        yield Change(Verdict.REFUSED, "operators with state", was, now, why, _without_rule(old, new))


def _without_rule(old: Manifest, new: Manifest) -> str:
    """What makes the operators that the state is of, if a rule has made one of another kind."""
    made = {
        "aggregate_both_sides_of_join": lambda one: WATERMARKS in (one.settings or {}),
        "aggregate_upserts_in_spark": lambda one: one.kind == SPARK_GROUPS,
    }
    off = (rule for rule, by in made.items() if any(map(by, new.operators)) and not any(map(by, old.operators)))
    return next((f"SET 'tvfsql.rules.disabled' = '{rule}'" for rule in off), "")


def _operator(old: State, new: State) -> Iterator[Change]:
    if old.window != new.window:
        yield _refused("window", _shown(old.window), _shown(new.window), "state holds slices of the old windows")
    keys = matched(old.keys, new.keys)
    if keys.lost or keys.more:
        clauses = dict.fromkeys((WINDOWS, GROUPS, SPARK_GROUPS, "FILL"), "GROUP BY")
        clauses |= dict.fromkeys(("ROW_NUMBER", TOP_N, "OVER", "GAP_FILL", "MATCH_RECOGNIZE"), "PARTITION BY")
        clause = clauses.get(old.kind, "ON")
        yield _refused(clause, _listed(old.keys), _listed(new.keys), "state is kept by the old keys")
    yield from _columns(old, new)
    for name in dict.fromkeys((*(old.settings or {}), *(new.settings or {}))):
        before, after = ((each.settings or {}).get(name, "") for each in (old, new))
        if name == PARALLELISM:
            if before and after and before != after:  # a query that does not say it takes what is there
                why = "state is divided into the old number of key groups"
                yield Change(Verdict.REFUSED, name, before, after, why, rescale_hint(after))
        elif before != after:
            yield _refused(name, before, after, "state was made by the old one")
    yield from _firing(old, new)
    yield from _paths(old.kind, old.inputs, new.inputs, stateful=True)


def _columns(old: State, new: State) -> Iterator[Change]:
    """Yield changes of an aggregate's columns, or of row columns, whose order in state counts too."""
    if old.kind == SPARK_GROUPS:
        found = matched(old.columns, new.columns)
        if found.lost or found.more:
            why = "Spark's own aggregate keeps the old ones"
            yield _refused("aggregates", _listed(found.lost), _listed(found.more), why)
    elif old.merges:
        yield from _aggregates(old, new, matched(old.columns, new.columns))
    elif not alike(old.columns, new.columns):
        why = "state keeps whole rows of the old columns"
        yield _refused("columns of its rows", _listed(old.columns, named=True), _listed(new.columns, named=True), why)


def _aggregates(old: State, new: State, found: Matched) -> Iterator[Change]:
    since = {now.name: before.since for before, now in found.pairs}
    added = {column.name for column in found.more}
    mixed = [names for names in new.combined if added.intersection(names) and not added.issuperset(names)]
    was, now = _listed(found.lost), _listed(found.more)
    if found.more and any(column.whole for column in found.more):
        yield _refused("aggregates", was, now, "state lacks what it needs of the windows that are open")
    elif (found.lost or found.more) and not can_change(old):
        lacks = "state remembers results without them" if found.more else "state keeps more than it needs"
        yield _refused("aggregates", was, now, lacks)
    elif found.more and any(each.changelog for each in new.inputs):
        yield _refused("aggregates", was, now, "they would subtract rows that they have not counted")
    elif mixed:
        shown = "; ".join(_listed([column for column in new.columns if column.name in names]) for names in mixed)
        why = "in open windows one result would combine all rows with rows from now on"
        yield _refused("aggregates", was, f"{now}, in results that combine {shown}", why)
    elif found.more:
        yield Change(Verdict.WORD, "aggregates", was, now, "new ones count rows from now on in windows that are open")
    elif found.lost:
        yield Change(Verdict.FREE, "aggregates", was, "", "dropped from state; the others continue")
    known = {tuple(sorted(_names(found, names))) for names in old.combined}
    for names in new.combined:
        if len({since.get(name, 0) for name in names}) > 1 and not added.intersection(names) and names not in known:
            shown = _listed([column for column in new.columns if column.name in names])
            why = "one of them was added later, and lacks earlier rows in windows that were open then"
            yield Change(Verdict.WORD, "a result that combines aggregates", "", shown, why)


def _names(found: Matched, names: Sequence[str]) -> Iterator[str]:
    """The names of columns of a state, as in the query."""
    return (now.name for before, now in found.pairs if before.name in names)


def can_change(state: State) -> bool:
    """Whether a state can lose and gain aggregates: it does not remember what it emitted, of which they are a part."""
    steps = state.window is not None and state.window.emit_only_on_change
    return state.firing is None and not steps


def _firing(old: State, new: State) -> Iterator[Change]:
    before, after = old.firing, new.firing
    if before == after:
        return
    was, now = (each.label if each else "at the end of the window" for each in (before, after))
    if before is None or after is None or _kept_by(before) != _kept_by(after):
        yield _refused("early and late results", was, now, "state remembers what was emitted, by the old ones")
    else:
        yield Change(Verdict.FREE, "early and late results", was, now, "from now on")


def _kept_by(firing: object) -> tuple[object, ...]:
    """The part of the firing that decides which results of windows are remembered."""
    return (getattr(firing, "early", None) is None, *(getattr(firing, name) for name in ("lateness", "purge")))


def _paths(what: str, old: Sequence[Input], new: Sequence[Input], *, stateful: bool) -> Iterator[Change]:
    if [one.of for one in old] != [one.of for one in new]:
        was, now = (", ".join(one.of for one in each) for each in (old, new))
        yield _refused(f"inputs of {what}", was, now, "Spark knows them by their order")
        return
    if not stateful:
        return
    for before, after in zip(old, new, strict=True):
        if before.where != after.where:
            why = "windows that are open hold rows that met the old one"
            if what != WINDOWS:
                why = "state holds rows that met the old one"
            yield Change(Verdict.WORD, f"WHERE below {what}", _all(before), _all(after), why)
        if before.through != after.through:
            yield _refused(f"operators below {what}", _steps(before), _steps(after), "state was made by the old ones")


def _other_tables(old: Manifest, new: Manifest) -> Change:
    """The change of a query that reads fewer tables, or more in another way than by UNION ALL."""
    was, now = (", ".join(one.table for one in each.sources) for each in (old, new))
    before, after = (Counter((one.connector, one.at) for one in each.sources) for each in (old, new))
    if before - after:
        why, hint = "no table can leave a checkpoint", "read none of its rows: WHERE FALSE; or use a new folder"
    else:
        why, hint = "only UNION ALL adds tables, without windows or joins of their own", ""
    return Change(Verdict.REFUSED, "tables that are read", was, now, why, hint)


def _sources(old: Manifest, new: Manifest) -> Iterator[Change]:
    for before, after in zip(old.sources, new.sources, strict=True):
        yield from _source(before, after)


def _added(new: Manifest) -> Iterator[Change]:
    """Yield the tables that a query adds by UNION ALL."""
    for source in (new.sources[place] for place in new.known.added) if new.known else ():
        shown = f"{source.table} ({source.at})" if source.at else source.table
        if source.history:
            why = "a history is read before a stream starts"
            yield _refused(f"tvfsql.history of table {source.table}", "", source.history, why)
        else:
            yield Change(
                Verdict.WORD, "UNION ALL", "", shown, "its rows count from now on, also in windows that are open"
            )


def _source(old: Source, new: Source) -> Iterator[Change]:
    what = f"table {new.table}"
    if old.table != new.table and old.at != new.at:
        yield _refused("tables that are read", f"{old.table} ({old.at})", f"{new.table} ({new.at})", "another table")
        return
    if old.connector != new.connector:
        why = "its offsets mean nothing there"
        yield _refused(f"connector of {what}", old.connector, new.connector, why)
    elif old.at != new.at:
        files = old.connector == "filesystem"
        why = "Spark knows the files that it has read by their paths" if files else "its offsets mean nothing there"
        yield _refused(f"place of {what}", old.at, new.at, why)
    if old.table != new.table and old.at == new.at:
        yield Change(Verdict.FREE, "name of a table", old.table, new.table, "the same rows")
    if old.history != new.history:
        was, now = (one.history or "none" for one in (old, new))
        yield _refused(f"tvfsql.history of {what}", was, now, "the state holds the rows of the old one")
    if old.watermark != new.watermark:
        yield Change(Verdict.FREE, f"WATERMARK of {what}", old.watermark, new.watermark, "from now on")


def _sinks(old: Manifest, new: Manifest) -> Iterator[Change]:
    for before, after in zip_longest(old.sinks, new.sinks):
        if before == after:
            continue
        was, now = (f"{one.table} ({one.at or one.connector})" if one else "" for one in (before, after))
        if before and after and before.at == after.at and _files(before) and before.by_batch != after.by_batch:
            why = "Spark's list of its files would hide the new ones; use another path"
            yield _refused("INSERT INTO", was, now, why)
        elif before is None or after is None or (before.at, before.connector) != (after.at, after.connector):
            yield Change(Verdict.FREE, "INSERT INTO", was, now, "rows from now on")


def _files(sink: Sink) -> bool:
    return sink.connector in ("filesystem", "managed")


def alike(old: Sequence[Column], new: Sequence[Column]) -> bool:
    """Whether the columns agree one by one, including their names."""
    return len(old) == len(new) and all(a.name == b.name and a.same_as(b) for a, b in zip(old, new, strict=True))


def _listed(columns: Sequence[Column], *, named: bool = False) -> str:
    def text(column: Column) -> str:
        own = f"{column.shown} {column.type.upper()}".strip()
        own += f" ({column.reads})" if column.reads and not column.type else ""
        return f"{own} AS {column.name}" if named and column.name != column.shown else own

    return ", ".join(map(text, columns)) or "none"


def _shown(window: Window | None) -> str:
    return window_label(window) if window else "none"


def _all(one: Input) -> str:
    return " AND ".join(one.where) or "none"


def _steps(one: Input) -> str:
    return ", ".join(one.through) or "none"

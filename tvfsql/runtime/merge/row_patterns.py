"""Finds patterns in rows (MATCH_RECOGNIZE), with what is left over when the rows end: the paths that may go on.

A path is one way of reading the rows after its first one. It is at a state of the pattern's graph, and a variable has
the rows [bounds[v], bounds[v + 1]): rows of a match follow each other, so these numbers are all that a path is. A step
gives each path its next row. All paths take it at once, as arrays; where two ways are open, a path becomes two.

The rules are Flink's. If a variable is greedy, the next one gets no row that the first one could take; otherwise both
ways are tried, and the first path of a row that is complete is its match. Matches leave in the order of their first
rows, and one waits until it is known whether an earlier row begins one. A match decides where the next one may begin
(`skip`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tvfsql.errors import DataError
from tvfsql.plan.patterns import ALL, PAST_LAST, TO_FIRST, TO_NEXT, Condition, Pattern
from tvfsql.runtime.arrow.batches import changes_in, joined, key_codes, sort_order
from tvfsql.runtime.arrow.columns import Ints, Mask
from tvfsql.runtime.merge.kernel import TIMESTAMP
from tvfsql.runtime.merge.partials import Merge, prepare
from tvfsql.runtime.merge.ranges import Blocks, Ranges

COMPLETE = -1  # in place of a state: the path is a match, which waits
END = -2  # in the graph: behind the last variable
Bounds = NDArray[np.int64]  # for each variable, and the end, a row of numbers: one for each path
FAR = 2**62
Numbers = NDArray[Any]  # int64, float64, or objects: the digits of decimals


@dataclass(frozen=True)
class State:
    """A path here gives its next row to `variable` and goes to `taken`, or goes to `passed` without one (END, or None:
    it may not). It does not take a row that the greedy variable `but_not` could take (-1: there is none)."""

    variable: int
    taken: int
    passed: int | None
    but_not: int = -1


def graph_of(pattern: Pattern) -> tuple[State, ...]:
    """The states of a pattern; the first one is that before the first row."""
    states: list[State] = []
    firsts: list[int] = []
    sizes = [max(each.least + (each.most is None), each.most or 0, 1) for each in pattern.variables]
    starts = np.cumsum([0, *sizes]).tolist()
    for number, (variable, size) in enumerate(zip(pattern.variables, sizes, strict=True)):
        after = starts[number + 1] if number + 1 < len(sizes) else END
        held = number - 1 if number and pattern.variables[number - 1].holds_on else -1
        firsts.append(len(states))
        for i in range(size):
            at = starts[number] + i
            again = variable.most is None and i + 1 == size
            taken = at if again else at + 1 if i + 1 < size else after
            states.append(State(number, taken, after if i >= variable.least else None, held if i == 0 else -1))
    return tuple(states)


@dataclass(frozen=True)
class Paths:
    """Paths in the order in which they were made. `totals` are those of the aggregates so far, each with the number of
    its values."""

    states: Ints
    bounds: Bounds
    totals: tuple[tuple[Numbers, Ints], ...] = ()

    def __len__(self) -> int:
        return len(self.states)

    @property
    def starts(self) -> Ints:
        """The first row of each."""
        starts: Ints = self.bounds[0]
        return starts

    @property
    def next_rows(self) -> Ints:
        """The row that each takes next."""
        rows: Ints = self.bounds[-1]
        return rows

    def take(self, places: Ints | Mask) -> Paths:
        totals = tuple((total[places], count[places]) for total, count in self.totals)
        return Paths(self.states[places], self.bounds[:, places], totals)

    @classmethod
    def together(cls, parts: Sequence[Paths]) -> Paths:
        if len(parts) == 1:
            return parts[0]
        totals = tuple(
            (
                np.concatenate([part.totals[i][0] for part in parts]),
                np.concatenate([part.totals[i][1] for part in parts]),
            )
            for i in range(len(parts[0].totals))
        )
        bounds = np.concatenate([part.bounds for part in parts], axis=1)
        return cls(np.concatenate([part.states for part in parts]), bounds, totals)


@dataclass(frozen=True)
class Rows:
    """Rows by key and time. `micros` are their times, `first` says where a key begins, and `fresh` which rows have not
    been read before: for each key the last ones. `column` finds a column by its name."""

    column: Callable[[str], pa.Array]
    micros: Ints
    first: Mask
    fresh: Mask

    def __len__(self) -> int:
        return len(self.micros)

    @cached_property
    def keys(self) -> Ints:
        """The number of each row's key, from 0."""
        return np.cumsum(self.first, dtype=np.int64) - 1

    @cached_property
    def begins(self) -> Ints:
        """The first row of each key."""
        return np.flatnonzero(self.first)

    @cached_property
    def ends(self) -> Ints:
        """For each row the row behind the last one of its key."""
        return np.append(self.begins[1:], len(self))[self.keys]


@dataclass(frozen=True)
class Found:
    """`matches` are the bounds of those that leave, in order; `waiting` those of matches that wait, and `paths` are
    those that may go on."""

    matches: Bounds
    waiting: Bounds
    paths: Paths


class Matcher:
    """Finds the matches of a pattern."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.states = graph_of(pattern)
        self.width = len(pattern.variables)
        single = [each.single for each in pattern.variables]
        one_way = (each.least == each.most or each.greedy for each in pattern.variables)
        self.one_way = not any(single) and all(one_way)  # a path never becomes two
        self.complete_at = {END} | {i for i in range(len(self.states)) if self._passes(i)}
        self.within = FAR if pattern.within is None else pattern.within * 1000

    def _passes(self, at: int) -> bool:
        """Whether nothing more is needed at a state."""
        while at != END:
            passed = self.states[at].passed
            if passed is None:
                return False
            at = passed
        return True

    def run(self, rows: Rows, before: Paths, waiting: Bounds, *, now: int, ended: Mask | None = None) -> Found:
        """Read the fresh rows. `before` and `waiting` are what is left of those that have been read, and `now` is the
        time that has passed (epoch us). `ended`: the keys whose last row is there, for each key.
        """
        steps = Steps(self, rows)
        paths, complete = steps.run(before)
        candidates = np.concatenate([waiting, *complete], axis=1)
        candidates = candidates[:, np.argsort(candidates[0], kind="stable")]
        candidates = candidates[:, changes_in(candidates[0])]  # of one first row the match that waits counts
        if self.pattern.within is not None:
            paths = paths.take(rows.micros[paths.starts] > now - self.within)
            if ended is not None:
                paths = paths.take(~ended[rows.keys[paths.starts]])
        taken, left, after = self._chosen(rows, candidates, np.unique(paths.starts))
        paths = paths.take(paths.starts >= after[rows.keys[paths.starts]])
        paths = paths.take(~np.isin(paths.starts, candidates[0]))
        if ended is not None:
            paths = paths.take(~ended[rows.keys[paths.starts]])
            left &= ~ended[rows.keys[candidates[0]]]
        return Found(candidates[:, taken], candidates[:, left], paths)

    def _chosen(self, rows: Rows, matches: Bounds, open_starts: Ints) -> tuple[Mask, Mask, Ints]:
        """Which of the matches leave and which wait, and for each key the row before which none may begin any more.
        `open_starts` are the first rows of paths that may go on."""
        keys = rows.keys[matches[0]] if matches.shape[1] else np.zeros(0, dtype=np.int64)
        after = np.zeros(len(rows.begins), dtype=np.int64)
        skip = self.pattern.skip
        if skip == TO_NEXT:
            blocked = np.full(len(rows.begins), FAR, dtype=np.int64)
            np.minimum.at(blocked, rows.keys[open_starts], open_starts)
            taken = matches[0] <= blocked[keys]
            return taken, ~taken, after
        last = matches[-1] if skip == PAST_LAST else self._targets(matches)
        taken, left = np.zeros(len(keys), dtype=np.bool_), np.zeros(len(keys), dtype=np.bool_)
        waits = open_starts.tolist()
        key, at, place = -1, 0, 0
        for i, (of, start, next_start) in enumerate(
            zip(keys.tolist(), matches[0].tolist(), last.tolist(), strict=True)
        ):
            if of != key:
                key, at = of, int(rows.begins[of])
            if start < at:
                continue
            while place < len(waits) and waits[place] < at:
                place += 1
            if place < len(waits) and waits[place] < start:
                left[i] = True
                continue
            if next_start < 0:
                self._refuse_target(next_start)
            taken[i] = True
            at = next_start
            after[key] = at
        return taken, left, after

    def _targets(self, matches: Bounds) -> Ints:
        """The row to go on with after each match; -1: there is none, -2: it is the first one."""
        of = self.pattern.skip_to
        low, high = matches[of], matches[of + 1]
        target = low if self.pattern.skip == TO_FIRST else high - 1
        return np.where(low == high, -1, np.where(target == matches[0], -2, target))

    def _refuse_target(self, why: int) -> None:
        name = self.pattern.variables[self.pattern.skip_to].name
        skip = f"AFTER MATCH SKIP {self.pattern.skip.upper()} {name}"
        if why == -1:
            raise DataError(
                f"{skip}: a match has no row of {name}", hint="a variable that every match has, or PAST LAST ROW"
            )
        raise DataError(f"{skip} would begin at the first row of the match again", hint="SKIP TO NEXT ROW")

    def read(self, runs: pa.Array, places: Ints) -> tuple[Paths, Bounds]:
        """The paths and the waiting matches that `written` has put beside their first rows, which are at `places`."""
        sizes = pc.list_value_length(runs).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        flat = pc.list_flatten(runs).to_numpy().reshape(-1, self.width + 1)
        starts = np.repeat(places, sizes // (self.width + 1))
        bounds = np.vstack([starts, starts + flat[:, 1:].T]) if len(flat) else self.none
        states = flat[:, 0] if len(flat) else np.zeros(0, dtype=np.int64)
        complete = states == COMPLETE
        return Paths(states[~complete], bounds[:, ~complete]), bounds[:, complete]

    def written(self, rows: int, paths: Paths, waiting: Bounds) -> pa.Array:
        """For each row the paths and the matches that begin with it, as list<int64>."""
        starts = np.concatenate([waiting[0], paths.starts])
        states = np.concatenate([np.full(waiting.shape[1], COMPLETE), paths.states])
        bounds = np.concatenate([waiting, paths.bounds], axis=1)
        order = np.argsort(starts, kind="stable")
        flat = np.vstack([states, bounds[1:] - bounds[0]]).T[order].reshape(-1)
        sizes = np.bincount(starts, minlength=rows) * (self.width + 1)
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        return pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(flat.astype(np.int64))).cast(
            pa.list_(pa.int64())
        )

    @property
    def none(self) -> Bounds:
        """The bounds of no path."""
        return np.zeros((self.width + 1, 0), dtype=np.int64)

    @property
    def no_paths(self) -> Paths:
        return Paths(np.zeros(0, dtype=np.int64), self.none)


class Steps:
    """The steps of paths over some rows."""

    def __init__(self, matcher: Matcher, rows: Rows) -> None:
        self.matcher, self.rows, self.pattern = matcher, rows, matcher.pattern
        self.masks: dict[int, Mask | None] = {}
        self.values = [self._values(column) for _, _, column in self.pattern.aggregates]
        self.false_after: dict[int, Ints] = {}

    def run(self, before: Paths) -> tuple[Paths, list[Bounds]]:
        """The paths that have read all rows of their keys, and the bounds of those that were complete."""
        rows, matcher = self.rows, self.matcher
        fresh = np.flatnonzero(rows.fresh)
        new = Paths(
            np.zeros(len(fresh), dtype=np.int64), np.tile(fresh, (matcher.width + 1, 1)), self._zeros(len(fresh))
        )
        paths = Paths.together([self._with_totals(before), new])
        left: list[Paths] = []
        complete: list[Bounds] = []
        done = np.zeros(len(rows), dtype=np.bool_)
        while len(paths):
            at_end = paths.next_rows >= rows.ends[paths.starts]
            if at_end.any():
                left.append(paths.take(at_end))
                paths = paths.take(~at_end)
            if matcher.pattern.within is not None and len(paths):
                spent = rows.micros[paths.next_rows] - rows.micros[paths.starts]
                if (late := spent >= matcher.within).any():
                    paths = paths.take(~late)
            paths, finished = self._step(paths)
            if finished.shape[1]:
                _, first = np.unique(finished[0], return_index=True)
                complete.append(finished[:, first])
                done[finished[0]] = True
                paths = paths.take(~done[paths.starts])
        kept = [part for part in left if len(part)]
        made = Paths.together(kept) if kept else matcher.no_paths
        made = made.take(~done[made.starts]) if len(made) else made
        # those that began at a row have read none: they are not paths yet
        return made.take(made.next_rows > made.starts), complete

    def _step(self, paths: Paths) -> tuple[Paths, Bounds]:
        """The paths with one more row, and the bounds of those that are complete."""
        matcher = self.matcher
        made: list[Paths] = []
        orders: list[Ints] = []
        finished: list[tuple[Ints, Bounds]] = []
        places = np.arange(len(paths))
        waiting = [(int(state), places[paths.states == state]) for state in np.unique(paths.states)]
        depth = 0
        while waiting:
            onward: dict[int, list[Ints]] = {}
            for at, of in waiting:
                state = matcher.states[at]
                takes = self._takes(state, paths, of)
                chosen = of[takes]
                if len(chosen):
                    after = self._taken(state, at, paths, chosen)
                    order = chosen * (len(matcher.states) + 1) + depth
                    if state.taken in matcher.complete_at:
                        finished.append((order, after.bounds))
                    if state.taken != END:
                        made.append(after)
                        orders.append(order)
                if state.passed not in (None, END):
                    rest = of[~takes] if matcher.one_way else of
                    if len(rest):
                        onward.setdefault(int(state.passed or 0), []).append(rest)
            waiting = [(at, np.sort(np.concatenate(parts))) for at, parts in sorted(onward.items())]
            depth += 1
        new = Paths.together(made) if made else paths.take(np.zeros(0, dtype=np.int64))
        if not matcher.one_way and len(made) > 1:
            new = new.take(np.argsort(np.concatenate(orders), kind="stable"))
        if not finished:
            return new, matcher.none
        bounds = np.concatenate([part for _, part in finished], axis=1)
        return new, bounds[:, np.argsort(np.concatenate([order for order, _ in finished]), kind="stable")]

    def _takes(self, state: State, paths: Paths, of: Ints) -> Mask:
        """Which of the paths `of` give their next row to the variable of a state."""
        takes = self._holds(state.variable, paths, of)
        if state.but_not < 0 or not takes.any():
            return takes
        taken = np.flatnonzero(takes)
        takes[taken] = ~self._holds(state.but_not, paths, of[taken])
        return takes

    def _taken(self, state: State, at: int, paths: Paths, chosen: Ints) -> Paths:
        """The paths after they took a row, or all rows of a run that their variable takes."""
        bounds = paths.bounds[:, chosen].copy()
        after = bounds[-1] + 1
        condition = self.pattern.conditions[state.variable]
        if state.taken == at and self.matcher.one_way and not self.values and _of_row(condition):
            after = np.minimum(self._run_ends(state.variable)[bounds[-1]], self.rows.ends[bounds[0]])
        totals = tuple(
            self._added(i, state.variable, paths.totals[i], chosen, bounds[-1]) for i in range(len(self.values))
        )
        bounds[state.variable + 1 :] = after
        return Paths(np.full(len(chosen), state.taken, dtype=np.int64), bounds, totals)

    def _run_ends(self, variable: int) -> Ints:
        """For each row that meets the condition of a variable the next one that does not."""
        if variable not in self.false_after:
            mask = self._mask(variable)
            numbers = np.arange(len(self.rows), dtype=np.int64)
            ends = np.where(mask, len(self.rows), numbers) if mask is not None else np.full_like(numbers, len(numbers))
            self.false_after[variable] = np.minimum.accumulate(ends[::-1])[::-1]
        return self.false_after[variable]

    def _mask(self, variable: int) -> Mask | None:
        """Which rows meet a condition that only looks at the row; None: all do."""
        if variable not in self.masks:
            condition = self.pattern.conditions[variable]
            self.masks[variable] = None if condition is None else _truth(self.rows.column(str(condition[1])))
        return self.masks[variable]

    def _holds(self, variable: int, paths: Paths, of: Ints) -> Mask:
        """Whether a variable may take the next row of each path."""
        condition = self.pattern.conditions[variable]
        numbers = paths.next_rows[of]
        if condition is None:
            return np.ones(len(of), dtype=np.bool_)
        if _of_row(condition):
            mask = self._mask(variable)
            assert mask is not None
            return mask[numbers]
        bounds = paths.bounds[:, of].copy()
        bounds[variable + 1 :] = numbers + 1
        return _truth(self._value(condition, variable, bounds, numbers, paths, of))

    def _value(
        self, condition: Condition, variable: int, bounds: Bounds, numbers: Ints, paths: Paths, of: Ints
    ) -> pa.Array:
        """The value of a condition for rows that a variable may take; `bounds` are those after it has."""
        match condition:
            case ("row", str(name)):
                return _wide(self.rows.column(name).take(pa.array(numbers)))
            case ("at", int(where), bool(first), int(offset), str(name)):
                low, high = (bounds[0], bounds[-1]) if where == ALL else (bounds[where], bounds[where + 1])
                at = low + offset if first else high - 1 - offset
                there = (at >= low) & (at < high)
                return _wide(self.rows.column(name).take(pa.array(np.where(there, at, 0), mask=~there)))
            case ("aggregate", int(number)):
                total = self._added(number, variable, paths.totals[number], of, numbers)
                return self._result(number, total)
            case ("literal", value):
                return pa.array([value] * len(of))
            case (str(operator), *parts):
                values = [self._value(part, variable, bounds, numbers, paths, of) for part in parts]  # type: ignore[arg-type]
                return COMPUTED[operator](*values)
        raise AssertionError(condition)

    # Aggregates in conditions: their totals are carried along with the paths.

    def _values(self, name: str) -> tuple[Numbers, Mask] | None:
        """The values of an argument as numbers, and which of them are not NULL; None: each row counts."""
        if not name:
            return None
        column = self.rows.column(name)
        known = pc.is_valid(column).to_numpy(zero_copy_only=False)
        if pa.types.is_decimal(column.type):
            scale = column.type.scale
            return np.array([0 if x is None else int(x.scaleb(scale)) for x in column.to_pylist()], dtype=object), known
        if pa.types.is_floating(column.type):
            return column.fill_null(0).to_numpy(zero_copy_only=False).astype(np.float64), known
        if pa.types.is_integer(column.type):
            return column.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64), known
        return np.zeros(len(column), dtype=np.int64), known  # COUNT of anything

    def _zeros(self, paths: int) -> tuple[tuple[Numbers, Ints], ...]:
        return tuple(
            (
                np.zeros(paths, dtype=np.int64 if of is None else of[0].dtype),
                np.zeros(paths, dtype=np.int64),
            )
            for of in self.values
        )

    def _added(
        self, number: int, variable: int, totals: tuple[Numbers, Ints], chosen: Ints, numbers: Ints
    ) -> tuple[Numbers, Ints]:
        """The totals of an aggregate after a variable took the rows `numbers`."""
        function, of, _ = self.pattern.aggregates[number]
        total, count = totals[0][chosen], totals[1][chosen]
        if of not in (variable, ALL):
            return total, count
        found = self.values[number]
        if found is None:
            return total, count + 1
        value, known = found[0][numbers], found[1][numbers]
        if function in ("MIN", "MAX"):
            better = value < total if function == "MIN" else value > total
            total = np.where(known & (better | (count == 0)), value, total)
        elif function != "COUNT":
            new = np.where(known, total + value, total)
            if new.dtype == np.int64 and (((total ^ new) & (value ^ new)) < 0).any():
                raise DataError(f"{function} in DEFINE overflows BIGINT", hint="CAST the argument AS DOUBLE")
            total = new
        return total, count + known

    def _with_totals(self, paths: Paths) -> Paths:
        """Paths that were written, with the totals of their aggregates: those of their rows, in order."""
        if not self.values:
            return Paths(paths.states, paths.bounds)
        totals = list(self._zeros(len(paths)))
        for variable in range(self.matcher.width):
            low, high = paths.bounds[variable], paths.bounds[variable + 1]
            at = low.copy()
            while (open_ := np.flatnonzero(at < high)).size:
                for i in range(len(totals)):
                    new = self._added(i, variable, totals[i], open_, at[open_])
                    for old, part in zip(totals[i], new, strict=True):
                        old[open_] = part
                at[open_] += 1
        return Paths(paths.states, paths.bounds, tuple(totals))

    def _result(self, number: int, totals: tuple[Numbers, Ints]) -> pa.Array:
        """The values of an aggregate."""
        function, _, name = self.pattern.aggregates[number]
        total, count = totals
        if function == "COUNT":
            return pa.array(count)
        kind = self.rows.column(name).type
        none = count == 0
        some = np.maximum(count, 1)
        if pa.types.is_decimal(kind):
            scale = max(6, kind.scale) if function == "AVG" else kind.scale
            if function == "AVG":
                more = 10 ** (scale - kind.scale)
                total = np.array(
                    [_half_up(int(a) * more, int(b)) for a, b in zip(total, some, strict=True)], dtype=object
                )
            made = [None if gone else Decimal(int(x)).scaleb(-scale) for x, gone in zip(total, none, strict=True)]
            return pa.array(made, pa.decimal256(38, scale))
        if function == "AVG":
            total = total / some if total.dtype == np.float64 else np.sign(total) * (np.abs(total) // some)
        return pa.array(total, mask=none)


def _wide(values: pa.Array) -> pa.Array:
    """Decimals with room for the digits of what is computed of them."""
    kind = values.type
    return values.cast(pa.decimal256(kind.precision, kind.scale)) if pa.types.is_decimal(kind) else values


def _half_up(dividend: int, divisor: int) -> int:
    whole, rest = divmod(abs(dividend), divisor)
    return (1 if dividend >= 0 else -1) * (whole + (2 * rest >= divisor))


def _of_row(condition: Condition | None) -> bool:
    """Whether a condition is a column that was computed of each row alone, or nothing."""
    return condition is None or condition[0] == "row"


def _truth(values: pa.Array) -> Mask:
    """TRUE as True, FALSE and NULL as False."""
    found: Mask = values.fill_null(False).to_numpy(zero_copy_only=False)
    return found.astype(np.bool_)


COMPUTED: dict[str, Callable[..., pa.Array]] = {
    "and": pc.and_kleene,
    "or": pc.or_kleene,
    "not": pc.invert,
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
    "+": pc.add,
    "-": pc.subtract,
    "*": pc.multiply,
    "/": pc.divide,
    "neg": pc.negate,
    "abs": pc.abs,
    "null": pc.is_null,
    "double": lambda value: value.cast(pa.float64()),
}


# What matches are made of, and what is kept.


RUNS = "$runs"  # in kept rows: what begins with the row, as `Matcher.written` has it


@dataclass(frozen=True)
class Matches:
    """What an operator looks for in rows whose columns are named by number, and what a match has: the numbers of the
    key columns; `navigations`, each a column, a variable or ALL, whether it counts from the first row, and an offset;
    and `merges`, each a variable or ALL, the column of a partial, its merge kind, and whether it is 0 without rows.
    """

    pattern: Pattern
    keys: tuple[int, ...]
    time: int
    navigations: tuple[tuple[int, int, bool, int], ...]
    merges: tuple[tuple[int, int, Merge, bool], ...] = ()

    def advance(
        self,
        stored: Sequence[pa.RecordBatch],
        new: Sequence[pa.RecordBatch],
        *,
        now: int = -FAR,
        ended: bool = False,
        last: bool = True,
    ) -> Advanced:
        """Read new rows, which are in order within their keys, after those that are `stored` with RUNS. `now`: the time
        that has passed (epoch us). `ended`: no more rows follow; with `last` also not for the last key.
        """
        matcher = Matcher(self.pattern)
        fresh = [batch.append_column(RUNS, pa.nulls(batch.num_rows, pa.list_(pa.int64()))) for batch in new]
        both = joined([*stored, *fresh])
        read = sum(batch.num_rows for batch in stored)
        codes = key_codes([both.column(str(i)) for i in self.keys], both.num_rows)
        order = sort_order([codes])
        if not (order[1:] > order[:-1]).all():
            both, codes = both.take(pa.array(order)), codes[order]
        micros: Ints = both.column(str(self.time)).cast(TIMESTAMP).view(pa.int64()).to_numpy()
        rows = Rows(both.column, micros, changes_in(codes), order >= read)
        places = np.flatnonzero(~rows.fresh)
        paths, waiting = matcher.read(both.column(RUNS).take(pa.array(places)), places)
        over = np.full(len(rows.begins), ended, dtype=np.bool_)
        if ended and not last and len(over):
            over[-1] = False
        found = matcher.run(rows, paths, waiting, now=now, ended=over if ended else None)
        return self._advanced(matcher, both, rows, found)

    def _advanced(self, matcher: Matcher, both: pa.RecordBatch, rows: Rows, found: Found) -> Advanced:
        starts = np.concatenate([found.waiting[0], found.paths.starts])
        since = np.full(len(rows.begins), len(rows), dtype=np.int64)
        np.minimum.at(since, rows.keys[starts], starts)
        kept = np.flatnonzero(np.arange(len(rows)) >= since[rows.keys])
        runs = matcher.written(len(rows), found.paths, found.waiting)
        left = both.drop_columns([RUNS]).append_column(RUNS, runs).take(pa.array(kept))
        waits, due = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        if found.waiting.shape[1]:
            keys = rows.keys[found.waiting[0]]
            first = np.full(len(rows.begins), FAR, dtype=np.int64)
            np.minimum.at(first, rows.keys[found.paths.starts], rows.micros[found.paths.starts])
            waits = rows.micros[found.waiting[-1] - 1]
            due = np.where(first[keys] < FAR - matcher.within, first[keys] + matcher.within, FAR)
        return Advanced(self._made(both, found.matches), left, found.waiting[0], waits, due, both)

    def _made(self, both: pa.RecordBatch, matches: Bounds) -> pa.RecordBatch:
        """A row for each match."""
        columns = [both.column(str(i)).take(pa.array(matches[0])) for i in self.keys]
        for number, variable, first, offset in self.navigations:
            low, high = ranges_of(matches, variable)
            at = low + offset if first else high - 1 - offset
            there = (at >= low) & (at < high)
            columns.append(both.column(str(number)).take(pa.array(np.where(there, at, 0), mask=~there)))
        for variable, number, kind, counts in self.merges:
            low, high = ranges_of(matches, variable)
            columns.append(_merged(kind, both.column(str(number)), low, high, counts=counts))
        return pa.RecordBatch.from_arrays(columns, names=[*map(str, range(len(columns)))])


@dataclass(frozen=True)
class Advanced:
    """What came of some rows: a row for each match that leaves, and the rows to keep, with RUNS. For each match that
    waits its first row in `rows`, the time of its last one, and the time at which nothing can keep it waiting (epoch
    us)."""

    made: pa.RecordBatch
    kept: pa.RecordBatch
    waiting: Ints
    waits: Ints
    due: Ints
    rows: pa.RecordBatch


def ranges_of(bounds: Bounds, variable: int) -> tuple[Ints, Ints]:
    """The rows [low, high) of a variable, or of ALL, in each match."""
    return (bounds[0], bounds[-1]) if variable == ALL else (bounds[variable], bounds[variable + 1])


def _merged(kind: Merge, column: pa.Array, low: Ints, high: Ints, *, counts: bool) -> pa.Array:
    """Partials of single rows, merged over ranges, which may overlap or be empty."""
    sizes = high - low
    some = np.flatnonzero(sizes)
    low, sizes = low[some], sizes[some]
    places = np.arange(int(sizes.sum())) + np.repeat(low - (np.cumsum(sizes) - sizes), sizes)
    first = np.zeros(len(places), dtype=np.bool_)
    first[np.cumsum(sizes) - sizes] = True
    blocks = Blocks(first)
    merged = prepare(kind, "aggregate", column.take(pa.array(places)), blocks).of_windows(Ranges.of_blocks(blocks))
    if len(some) == len(high):
        return merged
    at = np.zeros(len(high), dtype=np.int64)
    at[some] = np.arange(len(some))
    none = np.ones(len(high), dtype=np.bool_)
    none[some] = False
    spread = merged.take(pa.array(at, mask=none))
    return pc.fill_null(spread, 0) if counts else spread

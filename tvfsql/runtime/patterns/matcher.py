"""Finds the matches of a pattern in rows, and what is left over when the rows end: the paths that may go on.

The rules are Flink's. If a variable is greedy, the next one gets no row that the first one could take; otherwise both
ways are tried, and the first path of a row that is complete is its match. Matches leave in the order of their first
rows, and one waits until it is known whether an earlier row begins one. A match decides where the next one may begin
(`skip`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tvfsql.errors import DataError
from tvfsql.plan.patterns import PAST_LAST, TO_FIRST, TO_NEXT, Pattern
from tvfsql.runtime.arrow.batches import changes_in
from tvfsql.runtime.arrow.columns import Ints, Mask
from tvfsql.runtime.patterns.graph import FAR, Graph
from tvfsql.runtime.patterns.paths import Bounds, Paths, Rows, no_bounds
from tvfsql.runtime.patterns.steps import Steps

COMPLETE = -1  # in place of a state: the path is a match, which waits


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
        self.pattern, self.graph = pattern, Graph(pattern)

    def run(self, rows: Rows, before: Paths, waiting: Bounds, *, now: int, ended: Mask | None = None) -> Found:
        """Read the fresh rows. `before` and `waiting` are what is left of those that have been read, and `now` is the
        time that has passed (epoch us). `ended`: the keys whose last row is there, for each key.
        """
        steps = Steps(self.graph, rows)
        paths, complete = steps.run(before)
        candidates = np.concatenate([waiting, *complete], axis=1)
        candidates = candidates[:, np.argsort(candidates[0], kind="stable")]
        candidates = candidates[:, changes_in(candidates[0])]  # of one first row the match that waits counts
        if self.pattern.within is not None:
            paths = paths.take(rows.micros[paths.starts] > now - self.graph.within)
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
        """The row to go on with after each match; -1: no row has that variable, -2: it would be the first row again."""
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
        flat = pc.list_flatten(runs).to_numpy().reshape(-1, self.graph.width + 1)
        starts = np.repeat(places, sizes // (self.graph.width + 1))
        bounds = np.vstack([starts, starts + flat[:, 1:].T]) if len(flat) else no_bounds(self.graph.width)
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
        sizes = np.bincount(starts, minlength=rows) * (self.graph.width + 1)
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        return pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(flat.astype(np.int64))).cast(
            pa.list_(pa.int64())
        )

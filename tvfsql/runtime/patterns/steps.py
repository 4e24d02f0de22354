"""The steps of paths: a step gives each path its next row. All take it at once, as arrays; where two ways are open, a
path becomes two.
"""

from __future__ import annotations

import numpy as np

from tvfsql.runtime.arrow.columns import Ints, Mask
from tvfsql.runtime.patterns.conditions import Conditions, of_row
from tvfsql.runtime.patterns.graph import END, Graph, State
from tvfsql.runtime.patterns.paths import Bounds, Paths, Rows, no_bounds


class Steps:
    """The steps of paths over some rows."""

    def __init__(self, graph: Graph, rows: Rows) -> None:
        self.graph, self.rows = graph, rows
        self.conditions = Conditions(graph.pattern, rows)

    def run(self, before: Paths) -> tuple[Paths, list[Bounds]]:
        """The paths that have read all rows of their keys, and the bounds of those that were complete."""
        rows, graph = self.rows, self.graph
        fresh = np.flatnonzero(rows.fresh)
        starts = np.tile(fresh, (graph.width + 1, 1))
        new = Paths(np.zeros(len(fresh), dtype=np.int64), starts, self.conditions.zeros(len(fresh)))
        paths = Paths.together([self.conditions.with_totals(before), new])
        left: list[Paths] = []
        complete: list[Bounds] = []
        done = np.zeros(len(rows), dtype=np.bool_)
        while len(paths):
            at_end = paths.next_rows >= rows.ends[paths.starts]
            if at_end.any():
                left.append(paths.take(at_end))
                paths = paths.take(~at_end)
            if graph.pattern.within is not None and len(paths):
                spent = rows.micros[paths.next_rows] - rows.micros[paths.starts]
                if (late := spent >= graph.within).any():
                    paths = paths.take(~late)
            paths, finished = self._step(paths)
            if finished.shape[1]:
                _, first = np.unique(finished[0], return_index=True)
                complete.append(finished[:, first])
                done[finished[0]] = True
                paths = paths.take(~done[paths.starts])
        kept = [part for part in left if len(part)]
        made = Paths.together(kept) if kept else Paths.none(graph.width)
        made = made.take(~done[made.starts]) if len(made) else made
        # those that began at a row have read none: they are not paths yet
        return made.take(made.next_rows > made.starts), complete

    def _step(self, paths: Paths) -> tuple[Paths, Bounds]:
        """The paths with one more row, and the bounds of those that are complete."""
        graph = self.graph
        made: list[Paths] = []
        orders: list[Ints] = []
        finished: list[tuple[Ints, Bounds]] = []
        places = np.arange(len(paths))
        waiting = [(int(state), places[paths.states == state]) for state in np.unique(paths.states)]
        depth = 0
        while waiting:
            onward: dict[int, list[Ints]] = {}
            for at, of in waiting:
                state = graph.states[at]
                takes = self._takes(state, paths, of)
                chosen = of[takes]
                if len(chosen):
                    after = self._taken(state, at, paths, chosen)
                    order = chosen * (len(graph.states) + 1) + depth
                    if state.taken in graph.complete_at:
                        finished.append((order, after.bounds))
                    if state.taken != END:
                        made.append(after)
                        orders.append(order)
                if state.passed not in (None, END):
                    rest = of[~takes] if graph.one_way else of
                    if len(rest):
                        onward.setdefault(int(state.passed or 0), []).append(rest)
            waiting = [(at, np.sort(np.concatenate(parts))) for at, parts in sorted(onward.items())]
            depth += 1
        new = Paths.together(made) if made else paths.take(np.zeros(0, dtype=np.int64))
        if not graph.one_way and len(made) > 1:
            new = new.take(np.argsort(np.concatenate(orders), kind="stable"))
        if not finished:
            return new, no_bounds(graph.width)
        bounds = np.concatenate([part for _, part in finished], axis=1)
        return new, bounds[:, np.argsort(np.concatenate([order for order, _ in finished]), kind="stable")]

    def _takes(self, state: State, paths: Paths, of: Ints) -> Mask:
        """Which of the paths `of` give their next row to the variable of a state."""
        takes = self.conditions.holds(state.variable, paths, of)
        if state.but_not < 0 or not takes.any():
            return takes
        taken = np.flatnonzero(takes)
        takes[taken] = ~self.conditions.holds(state.but_not, paths, of[taken])
        return takes

    def _taken(self, state: State, at: int, paths: Paths, chosen: Ints) -> Paths:
        """The paths after they took a row, or all rows of a run that their variable takes."""
        bounds = paths.bounds[:, chosen].copy()
        after = bounds[-1] + 1
        condition = self.graph.pattern.conditions[state.variable]
        if state.taken == at and self.graph.one_way and not self.conditions.carries and of_row(condition):
            after = np.minimum(self.conditions.run_ends(state.variable)[bounds[-1]], self.rows.ends[bounds[0]])
        totals = tuple(
            self.conditions.added(i, state.variable, total, chosen, bounds[-1]) for i, total in enumerate(paths.totals)
        )
        bounds[state.variable + 1 :] = after
        return Paths(np.full(len(chosen), state.taken, dtype=np.int64), bounds, totals)

"""The graph of a pattern of MATCH_RECOGNIZE: what each variable takes, and where a path goes then."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tvfsql.plan.patterns import Pattern

END = -2  # in the graph: behind the last variable
FAR = 2**62  # us: no limit


@dataclass(frozen=True)
class State:
    """A path here gives its next row to `variable` and goes to `taken`, or goes to `passed` without one (END, or None:
    it may not). It does not take a row that the greedy variable `but_not` could take (-1: without such a variable)."""

    variable: int
    taken: int
    passed: int | None
    but_not: int = -1


def _states_of(pattern: Pattern) -> tuple[State, ...]:
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


class Graph:
    """The states of a pattern and what follows from them: `width` variables; `one_way`: a path never becomes two;
    `complete_at`: the states at which nothing more is needed; `within` in us."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.states = _states_of(pattern)
        self.width = len(pattern.variables)
        single = [each.single for each in pattern.variables]
        one_way = (each.least == each.most or each.greedy for each in pattern.variables)
        self.one_way = not any(single) and all(one_way)
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

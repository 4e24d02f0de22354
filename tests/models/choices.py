"""Random choices that are kept, so that what was made of them can be made again, and made smaller."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar, Union

T = TypeVar("T")
Tree = list[Union[int, "Tree"]]  # the numbers that were chosen; those of a part are a list of their own


class Choices:
    """The choices of a generator: numbers below a limit. Where something can be made in several ways, 0 is the
    simplest one. Those that are `given` are made again, with 0 for each that is missing; without them they are random.
    """

    def __init__(self, seed: int = 0, given: Tree | None = None) -> None:
        self.random = None if given is not None else random.Random(seed)
        self.made: Tree = []
        self._made, self._given = self.made, iter(given or ())

    def below(self, limit: int) -> int:
        if self.random is not None:
            made = self.random.randrange(limit)
        else:
            given = next(self._given, 0)
            made = min(given, limit - 1) if isinstance(given, int) else 0
        self._made.append(made)
        return made

    def one(self, alternatives: Sequence[T]) -> T:
        return alternatives[self.below(len(alternatives))]

    def chance(self, of: int) -> bool:
        """True one time in `of`."""
        return self.below(of) == of - 1

    def several(self, alternatives: Sequence[T], count: int) -> list[T]:
        """Some of them, in their order."""
        left = [*range(len(alternatives))]
        chosen = {left.pop(self.below(len(left))) for _ in range(min(count, len(left)))}
        return [each for at, each in enumerate(alternatives) if at in chosen]

    @contextmanager
    def part(self) -> Iterator[None]:
        """What is chosen in between can be replaced as a whole, without an effect on what is chosen after it."""
        of_part: Tree = []
        self._made.append(of_part)
        given = next(self._given, 0) if self.random is None else 0
        outer = self._made, self._given
        self._made, self._given = of_part, iter(given if isinstance(given, list) else ())
        yield
        self._made, self._given = outer


def smallest(made: Tree, fails: Callable[[Tree], bool]) -> Tree:
    """Choices that still fail, with numbers replaced by 0, and parts by nothing or by parts of themselves."""
    while smaller := next(filter(fails, _smaller(made)), None):
        made = smaller
    return made


def _smaller(made: Tree) -> Iterator[Tree]:
    """The parts first, the longest before the others."""
    changed = [(_size(tree), at, tree) for at, tree in enumerate(_changed(made)) if tree != made]
    for _, _, tree in sorted(changed, key=lambda each: each[:2]):
        yield tree


def _changed(made: Tree) -> Iterator[Tree]:
    for at, value in enumerate(made):
        before, after = made[:at], made[at + 1 :]
        if isinstance(value, int):
            if value:
                yield [*before, 0, *after]
            continue
        if value:
            yield [*before, [], *after]
        for part in _parts(value):
            yield [*before, part, *after]
        for part in _changed(value):
            yield [*before, part, *after]


def _parts(made: Tree) -> Iterator[Tree]:
    for value in made:
        if isinstance(value, list):
            yield value
            yield from _parts(value)


def _size(made: Tree) -> int:
    return sum(_size(value) + 1 if isinstance(value, list) else 1 + bool(value) for value in made)

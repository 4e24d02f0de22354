"""A plan as cards on a plane, for the page and for a notebook: rows flow down, from the sources to the result."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from unicodedata import east_asian_width

from tvfsql.physical.sentences import sentence
from tvfsql.plan.analysis.sharing import CommonPart, Reused, Source
from tvfsql.plan.node import Node

WIDE = 340  # of a card, in pixels
HEAD, LINE, FOOT = 30, 17, 12  # its name, a line of its sentence, the space below
FIGURES = 22  # the line of its cost
ACROSS, DOWN = 30, 46  # the space between cards
LETTERS = 43  # of a line


@dataclass(frozen=True)
class Card:
    """An operator where it is drawn. `number` is its place in the order of the rows, from 1 on; `inputs` are the places
    of its inputs in the list of all cards.
    """

    node: Node
    number: int
    inputs: tuple[int, ...]
    does: str
    lines: tuple[str, ...]
    x: float
    y: int
    high: int


def cards(plan: Node, figured: Callable[[Node], bool] = lambda node: False) -> list[Card]:
    """The operators of a plan in the order of EXPLAIN. The cards of those that are `figured` have room for a cost."""
    nodes = [*operators_of(plan)]
    inputs = _inputs(nodes)
    numbers = _numbers(inputs)
    does = [sentence(node) for node in nodes]
    lines = [_lines(text) for text in does]
    heights = [HEAD + LINE * len(own) + FOOT + FIGURES * figured(node) for node, own in zip(nodes, lines, strict=True)]
    lefts, tops = zip(*_places(inputs, heights), strict=True)
    return [*map(Card, nodes, numbers, inputs, does, lines, lefts, tops, heights)]


def operators_of(plan: Node) -> Iterator[Node]:
    """The operators in the order of EXPLAIN, once for each place where they stand; where a part of a plan is read
    again, a Reused.
    """
    met: set[int] = set()

    def visit(node: Node) -> Iterator[Node]:
        if isinstance(node, CommonPart) and node.number in met:
            yield Reused(Source(node), node.number)
            return
        met.update({node.number} if isinstance(node, CommonPart) else ())
        yield node
        for child in node.children:
            yield from visit(child)

    return visit(plan)


def in_order_of_rows(plan: Node) -> list[Node]:
    """The operators, each after its inputs."""
    nodes = [*operators_of(plan)]
    return [node for _, node in sorted(zip(_numbers(_inputs(nodes)), nodes, strict=True), key=lambda pair: pair[0])]


def _inputs(nodes: Sequence[Node]) -> list[tuple[int, ...]]:
    """The numbers of each operator's inputs. An operator can occur several times in a plan."""
    sizes = [0] * len(nodes)
    found: list[tuple[int, ...]] = [()] * len(nodes)
    for number in range(len(nodes) - 1, -1, -1):
        at = number + 1
        for _ in nodes[number].children:
            found[number] = (*found[number], at)
            at += sizes[at]
        sizes[number] = at - number
    return found


def _numbers(inputs: Sequence[Sequence[int]]) -> list[int]:
    """The place of each operator in the order of the rows."""
    numbers, waiting, met = [0] * len(inputs), [0], 0
    while waiting:
        each = waiting[-1]
        if numbers[each] == 0 and (missing := [one for one in reversed(inputs[each]) if not numbers[one]]):
            waiting += missing
            continue
        waiting.pop()
        met += 1
        numbers[each] = met
    return numbers


def _lines(text: str) -> tuple[str, ...]:
    """A sentence in lines that fit a card, whole."""
    room = LETTERS // 2 if any(east_asian_width(letter) in "WF" for letter in text) else LETTERS
    return tuple(textwrap.wrap(text, room)) or ("",)


def _places(inputs: Sequence[Sequence[int]], heights: Sequence[int]) -> list[tuple[float, int]]:
    """The left upper corner of each card: below its inputs, in the middle. Those without inputs stand side by side."""
    levels, lefts, leaves = [0] * len(inputs), [0.0] * len(inputs), 0
    for number, above in enumerate(inputs):
        for each in above:
            levels[each] = levels[number] + 1
        if not above:
            lefts[number] = leaves * (WIDE + ACROSS)
            leaves += 1
    for number in reversed(range(len(inputs))):
        if above := inputs[number]:
            lefts[number] = (lefts[above[0]] + lefts[above[-1]]) / 2
    tops, top = dict[int, int](), 0
    for level in reversed(range(max(levels) + 1)):
        tops[level] = top
        top += DOWN + max(high for high, own in zip(heights, levels, strict=True) if own == level)
    return [(left, tops[level]) for left, level in zip(lefts, levels, strict=True)]

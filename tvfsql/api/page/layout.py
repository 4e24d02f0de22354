"""Where the operators of a plan stand when it is drawn, on the page and in a notebook."""

from __future__ import annotations

from collections.abc import Sequence

WIDE, HIGH = 216, 46  # the box of an operator, in pixels
ACROSS, DOWN = 18, 30  # the space between boxes
LETTERS = 31  # of what an operator does, in its box


def places(inputs: Sequence[Sequence[int]]) -> list[tuple[float, int]]:
    """The left upper corner of each operator's box, given the numbers of its inputs.

    Operators are in the order of EXPLAIN, so each comes before its inputs. An operator is above its inputs, in the
    middle; those without inputs stand side by side.
    """
    lines, lefts, leaves = [0] * len(inputs), [0.0] * len(inputs), 0
    for number, below in enumerate(inputs):
        for each in below:
            lines[each] = lines[number] + 1
        if not below:
            lefts[number] = leaves * (WIDE + ACROSS)
            leaves += 1
    for number in reversed(range(len(inputs))):
        if below := inputs[number]:
            lefts[number] = (lefts[below[0]] + lefts[below[-1]]) / 2
    return [(left, line * (HIGH + DOWN)) for left, line in zip(lefts, lines, strict=True)]


def cut(text: str) -> str:
    """A text that fits the box of an operator."""
    return text if len(text) <= LETTERS else text[: LETTERS - 1] + "\N{HORIZONTAL ELLIPSIS}"

"""Both sides of a join in one operator against an operator for each side: rows, late rows, when windows fire."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.models.sides import TUMBLES, Apart, Sides, Together, merged, two_sides
from tests.models.streams import Event, ordered
from tests.support.examples import examples
from tvfsql.plan.window import Sliced, Tumble


def same(together: Together, apart: Apart, sides: Sides) -> None:
    expected = [merged([*left, *right]) for left, right in apart.of_sides(sides)]
    found = [(*row[:7], row[8], tuple(sorted(row[9]))) for row in together.of_sides(sides)]
    assert ordered(found) == ordered(expected)
    assert together.late == apart.late


@given(TUMBLES, two_sides(), st.integers(1, 4), st.integers(1, 3))
@examples(100)
def test_every_micro_batch_gives_the_rows_of_each_side_alone(
    window: Sliced, batches: list[Sides], groups: int, partitions: int
) -> None:
    """Each micro-batch starts from serialised state, as after a restart."""
    together, apart = Together(window, groups, partitions), Apart(window)
    for sides in batches:
        same(together, apart, sides)
    assert all(not state.chunks for state in together.states.values())


@given(TUMBLES, two_sides())
@examples(40)
def test_on_event_every_row_moves_the_watermark_of_its_side(window: Sliced, batches: list[Sides]) -> None:
    together, apart = Together(window, groups=2, on_event=True), Apart(window, on_event=True)
    for sides in batches:
        same(together, apart, sides)


def test_a_row_is_late_by_its_own_side_although_the_other_one_keeps_the_window_open() -> None:
    together = Together(Tumble(10))
    together.of_sides(([Event("a", 1, 25)], [Event("a", 2, 3)]))
    assert (together.of_sides(([Event("a", 3)], [Event("a", 4)])), together.late) == ([], 1)
    ((key, start, end, rows, total, *_),) = together.of_sides(([], [Event(None, None, 12)]))
    assert (key, start, end, rows, total) == ("a", 0, 10, 3, 3)

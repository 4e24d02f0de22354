"""What a micro-batch writes to state follows what has changed, whatever is in state."""

from __future__ import annotations

import pytest

from tests.support.small_changes import CASES, cost

MANY, FEW, TIMES = 20_000, 10, 40
ROWS_OF_A_CHANGE = 60  # how many rows may be written for one that changes: it is merged some times at each size


@pytest.mark.parametrize("name", CASES)
def test_few_changes_write_little(name: str) -> None:
    found = cost(CASES[name], MANY, FEW, TIMES)
    assert found.written < 2_000 + FEW * ROWS_OF_A_CHANGE * found.whole / MANY
    assert found.written < found.whole / 4

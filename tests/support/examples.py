"""How much is tried: a share of the examples in `make check` and `make test`, more of them, and new ones, in
`make soak`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings

SOAK = os.environ.get("TVFSQL_SOAK") == "1"
ONE_IN = int(os.environ.get("TVFSQL_EXAMPLES_ONE_IN", "2"))


def examples(count: int) -> Callable[[Any], Any]:
    """For a property test: one in ONE_IN of so many examples, or five times as many in `make soak`."""

    def tried(test: Any) -> Any:
        return pytest.mark.soak(settings(max_examples=5 * count if SOAK else max(1, count // ONE_IN))(test))

    return tried

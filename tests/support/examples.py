"""How many examples are tried: a share of them in `make check` and `make test`, more and new ones in `make soak`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings

SOAK = os.environ.get("TVFSQL_SOAK") == "1"
ONE_IN = int(os.environ.get("TVFSQL_EXAMPLES_ONE_IN", "4"))


def examples(count: int) -> Callable[[Any], Any]:
    """The number of examples of a property test: one in ONE_IN of `count`, or five times `count` in `make soak`."""

    def tried(test: Any) -> Any:
        return pytest.mark.soak(settings(max_examples=5 * count if SOAK else max(1, count // ONE_IN))(test))

    return tried

"""How many examples property tests try: all of them in `make test`, a share in `make check`, which is to be quick."""

from __future__ import annotations

import os

from hypothesis import settings

ONE_IN = int(os.environ.get("TVFSQL_EXAMPLES_ONE_IN", "1"))


def examples(count: int) -> settings:
    """For a test: so many examples, or one in ONE_IN of them."""
    return settings(max_examples=max(1, count // ONE_IN))

"""What docs/compatibility.md says is there in both modes compiles in both."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.golden import after_prelude

_, *PARTS = (Path(__file__).parents[1] / "data" / "compatible.sql").read_text(encoding="utf-8").split("\n-- ")
QUERIES = dict(part.split("\n", 1) for part in PARTS)


@pytest.mark.parametrize("mode", ["batch", "streaming"])
@pytest.mark.parametrize("feature", QUERIES)
def test_what_is_said_to_be_there_compiles(feature: str, mode: str) -> None:
    assert list(after_prelude(mode).outcomes(QUERIES[feature]))

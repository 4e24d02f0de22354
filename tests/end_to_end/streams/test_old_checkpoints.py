"""Checkpoints that a release has written are read by this one, and go on with the right rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from old_checkpoints import CASES, run, unpack

from examples import SOAK

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

USUAL = ("hop", "last_row")  # `make soak` tries all


@pytest.mark.soak
@pytest.mark.spark
@pytest.mark.parametrize("name", CASES if SOAK else USUAL)
def test_a_checkpoint_of_an_older_release_goes_on(spark: SparkSession, name: str, tmp_path: Path) -> None:
    """If the layout of state changes, it must be migrated: the archives are never written again."""
    expected = unpack(name, tmp_path)
    assert run(spark, name, tmp_path, last=True) == expected

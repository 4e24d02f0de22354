"""Checkpoints that a release has written are read by this one, and go on with the right rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest

from tests.support.examples import SOAK
from tests.support.old_checkpoints import CASES, EXTENDED, KEPT, TABLES, run, unpack
from tvfsql.api.program import streams_of
from tvfsql.api.script import Script, queries_of
from tvfsql.options import Options
from tvfsql.plan.checkpoint.changes import changes
from tvfsql.plan.checkpoint.manifest import Manifest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

USUAL = ("hop", "last_row")  # `make soak` tries all


@pytest.mark.parametrize("name", CASES)
def test_the_manifest_of_an_older_release_is_that_of_the_query(name: str) -> None:
    """Names and code of this release are its own matter; what is kept must be told as it was."""
    old = CASES[name]
    with ZipFile(KEPT / f"{name}.zip") as archive:
        manifest = Manifest.load(archive.read("1/manifest.json").decode())
    script = Script(options=Options.of(old.options), mode="streaming")
    sql = (TABLES + old.before).format(folder=Path(manifest.sources[0].at).parent) + old.query
    (program,) = (each for outcome in script.outcomes(sql) for each in streams_of(queries_of(outcome)))
    assert changes(manifest, program.manifest) == []


@pytest.mark.soak
@pytest.mark.spark
@pytest.mark.parametrize("name", CASES if SOAK else USUAL)
def test_a_checkpoint_of_an_older_release_goes_on(spark: SparkSession, name: str, tmp_path: Path) -> None:
    """If the layout of state changes, it must be migrated: the archives are never written again."""
    expected = unpack(name, tmp_path)
    assert run(spark, name, tmp_path, last=True) == expected


@pytest.mark.soak
@pytest.mark.spark
@pytest.mark.parametrize("name", EXTENDED if SOAK else ["temporal_join"])
def test_a_table_is_added_to_a_checkpoint_of_an_older_release(spark: SparkSession, name: str, tmp_path: Path) -> None:
    """It has no rows, so all others are as without it."""
    expected = unpack(name, tmp_path)
    assert run(spark, name, tmp_path, last=True, added=True) == expected

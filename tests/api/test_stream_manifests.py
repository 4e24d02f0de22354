"""Manifests of checkpoints: written, read, compared, and damaged. No JVM."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.stream_queries import BEST, EARLY, FIRST, PAGES, PAIRS, PLAIN, SESSIONS, TABLES, TOTALS, stream
from tvfsql.errors import DataError, OptionError
from tvfsql.plan.checkpoint.changes import Verdict, changes, verdict_of
from tvfsql.plan.checkpoint.manifest import Manifest
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.driver.checkpoints import claim, manifest_in

FREE, WORD, REFUSED = Verdict


def test_a_manifest_is_read_as_it_was_written() -> None:
    for query in (TOTALS, FIRST, PAIRS, SESSIONS, PLAIN, EARLY + PAGES):
        manifest = stream(TABLES + query).manifest
        assert Manifest.load(manifest.dump()) == manifest


def test_a_release_that_knows_more_types_goes_on() -> None:
    """Types that only one of two releases knows say nothing; those that both know must agree."""
    manifest = stream(TABLES + TOTALS).manifest
    (operator,) = manifest.operators
    assert operator.columns[0].type == "" and operator.columns[0].reads == "price bigint"
    for type, verdict in (("bigint", FREE), ("", FREE)):
        known = replace(operator, columns=(replace(operator.columns[0], type=type), *operator.columns[1:]))
        assert verdict_of(changes(replace(manifest, operators=(known,)), manifest)) is verdict
    other = replace(operator, keys=(replace(operator.keys[0], type="int"), *operator.keys[1:]))
    assert verdict_of(changes(replace(manifest, operators=(other,)), manifest)) is REFUSED


def test_state_that_buffers_all_rows_serves_a_top_n() -> None:
    manifest = stream(TABLES + BEST).manifest
    (operator,) = manifest.operators
    rows, *others = operator.columns
    assert rows.merge == "top_rows[RANK <= 3, price DESC]"
    older = replace(manifest, operators=(replace(operator, columns=(replace(rows, merge="concat"), *others)),))
    assert verdict_of(changes(older, manifest)) is FREE
    assert verdict_of(changes(manifest, older)) is REFUSED


def test_the_first_manifests_are_read() -> None:
    """They told the types of what is read in the place of a type that is not known."""
    manifest = stream(TABLES + TOTALS).manifest
    old = (
        manifest.dump()
        .replace('"type": "",\n', '"type": "of price bigint",\n')
        .replace(',\n          "reads": "price bigint"', "")
    )
    assert '"of price bigint"' in old
    assert changes(Manifest.load(old), manifest) == []


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"manifest": 1}', '{"manifest": 99}'])
def test_what_is_no_manifest_is_told(text: str, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(DataError, match="manifest") as raised:
        manifest_in(LocalPlace(tmp_path))
    assert raised.value.hint


def test_a_state_of_another_layout_is_refused_with_the_release_that_reads_it() -> None:
    manifest = stream(TABLES + TOTALS).manifest
    old = replace(manifest, layout=99, version="0.0.1")
    (change,) = changes(old, manifest)
    assert change.verdict is REFUSED and "tvfsql 0.0.1" in change.why


def test_a_checkpoint_goes_by_its_manifest_and_not_by_its_text(tmp_path: Path) -> None:
    folder = LocalPlace(tmp_path / "1")
    before, after = stream(TABLES + TOTALS), stream(TABLES + TOTALS.replace("price > 3", "price > 4"))
    claim(folder, before.code, before.manifest)
    claim(folder, before.code.replace("query", "another release's"), before.manifest)
    assert "another release's" in ((folder / "query.py").read() or "")
    with pytest.raises(OptionError, match="was computed by the old query") as raised:
        claim(folder, after.code, after.manifest)
    assert "--allow-changed-input" in str(raised.value)
    assert manifest_in(folder) == before.manifest
    claim(folder, after.code, after.manifest, changed_input=True)
    assert manifest_in(folder) == after.manifest


def test_a_checkpoint_without_a_manifest_goes_by_its_text_and_gets_one(tmp_path: Path) -> None:
    folder = LocalPlace(tmp_path / "1")
    before, after = stream(TABLES + TOTALS), stream(TABLES + TOTALS.replace("> 10", "> 11"))
    claim(folder, before.code)
    with pytest.raises(OptionError, match=r"which is in .*query\.py"):
        claim(folder, after.code, after.manifest)
    assert manifest_in(folder) is None
    claim(folder, before.code, before.manifest)
    claim(folder, after.code, after.manifest)
    assert manifest_in(folder) == after.manifest

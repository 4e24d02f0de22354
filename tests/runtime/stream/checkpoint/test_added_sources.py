"""Spark's log of offsets gets places for added sources, whatever the moment of a kill. No JVM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from tvfsql.errors import DataError, UnsupportedError
from tvfsql.plan.checkpoint.manifest import Known, Manifest
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.checkpoint import sink_log
from tvfsql.runtime.stream.checkpoint.added_sources import Leaf, add_sources, finish_adding

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TWO = [Leaf("bid"), Leaf("bid's control", control=True)]
MORE = [Leaf("sale", 1), Leaf("sale's control", 1, control=True)]
LAST = [Leaf("page", 2), Leaf("page's control", 2, control=True)]
JOINED = [Leaf("shop"), Leaf("shop's control", control=True)]
PAST = [Leaf("history")]

# the sources of the checkpoint, of the query, and the number of the source whose line and folder each has
CASES: dict[str, tuple[list[Leaf], list[Leaf], list[int | None]]] = {
    "at the end": (TWO, [*TWO, *MORE], [0, 1, None, 1]),
    "before others": ([*TWO, *JOINED, *PAST], [*TWO, *MORE, *JOINED, *PAST], [0, 1, None, 1, 2, 3, 4]),
    "two changes at once": (TWO, [*TWO, *MORE, *LAST], [0, 1, None, 1, None, 1]),
    "the second change": ([*TWO, *MORE, *PAST], [*TWO, *MORE, *LAST, *PAST], [0, 1, 2, 3, None, 1, 4]),
    "without control channel": ([Leaf("a")], [Leaf("new", 1), Leaf("a")], [None, 0]),
    "read twice": ([Leaf("a"), Leaf("a"), Leaf("b")], [Leaf("a"), Leaf("a"), Leaf("n", 1), Leaf("b")], [0, 1, None, 2]),
}


def checkpoint(folder: Path, sources: int, ids: Sequence[int]) -> Path:
    """The checkpoint of a stream after three micro-batches; the last source has not read anything."""
    spark = folder / "spark"
    (spark / "offsets").mkdir(parents=True)
    for number in range(3):
        lines = [f'{{"offset of":{i},"at":{number}}}' for i in range(sources - 1)]
        (spark / "offsets" / str(number)).write_text("\n".join(["v1", '{"conf":{}}', *lines, "-"]))
        (spark / "offsets" / f".{number}.crc").write_text("of the text before")
    for number in ids[:-1]:
        (spark / "sources" / str(number)).mkdir(parents=True)
        for name in ("0", ".0.crc", "1.compact"):
            (spark / "sources" / str(number) / name).write_text(f"{name} of {number}")
    return folder


def content(folder: Path) -> dict[str, str]:
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): file.read_text() for file in files if not file.name.startswith(".")}


@pytest.mark.parametrize("case", CASES)
def test_a_source_keeps_its_line_and_its_folder(case: str, tmp_path: Path) -> None:
    old, new, came_from = CASES[case]
    ids, now = [list(dict.fromkeys(one.relation for one in each)) for each in (old, new)]
    folder = checkpoint(tmp_path / "1", len(old), range(len(ids)))
    before = content(folder)
    add_sources(LocalPlace(folder), new)
    after = content(folder)
    for number in (1, 2):
        lines = after[f"spark/offsets/{number}"].split("\n")[2:]
        known = before[f"spark/offsets/{number}"].split("\n")[2:]
        assert lines == ["-" if i is None else known[i] for i in came_from]
    assert after["spark/offsets/0"] == before["spark/offsets/0"]  # Spark reads the last two
    for leaf, of in zip(new, came_from, strict=True):
        folder_now = f"spark/sources/{now.index(leaf.relation)}/"
        files = {name.removeprefix(folder_now): text for name, text in after.items() if name.startswith(folder_now)}
        number = None if of is None else ids.index(old[of].relation)
        has_read = number is not None and number < len(ids) - 1
        assert files == ({name: f"{name} of {number}" for name in ("0", "1.compact")} if has_read else {})
    assert "added_sources.json" not in after
    assert not [name for name in (folder / "spark" / "offsets").glob(".*.crc") if name.name != ".0.crc"]
    add_sources(LocalPlace(folder), new)
    finish_adding(LocalPlace(folder))
    assert content(folder) == after


def test_a_kill_at_any_moment_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After each number of files written and deleted; the next run does the rest, and may be killed too."""
    old, new, _ = CASES["before others"]
    calm = checkpoint(tmp_path / "calm", len(old), range(len(old)))
    add_sources(LocalPlace(calm), new)
    steps, moment = 0, 0
    write, delete = LocalPlace.write, LocalPlace.delete

    def counted(work: Callable[..., None]) -> Callable[..., None]:
        def step(*arguments: object) -> None:
            nonlocal steps
            steps += 1
            if steps == moment:
                raise KeyboardInterrupt
            work(*arguments)

        return step

    monkeypatch.setattr(LocalPlace, "write", counted(write))
    monkeypatch.setattr(LocalPlace, "delete", counted(delete))
    kills = 0
    while kills == moment:
        moment += 1
        folder = checkpoint(tmp_path / str(moment), len(old), range(len(old)))
        try:
            for again in range(3):
                steps = again  # a second kill, one step earlier
                try:
                    finish_adding(LocalPlace(folder))
                    add_sources(LocalPlace(folder), new)
                except KeyboardInterrupt:
                    kills = moment
        finally:
            steps = -1000
        finish_adding(LocalPlace(folder))
        add_sources(LocalPlace(folder), new)
        assert content(folder) == content(calm), moment
    assert kills > 20


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    folder = checkpoint(tmp_path / "1", 3, range(3))
    before = content(folder)
    with pytest.raises(DataError, match="knows 3 sources of the stream, but the query has 4"):
        add_sources(LocalPlace(folder), [*TWO, *MORE])
    assert content(folder) == before
    log = folder / "spark" / "offsets" / "2"
    log.write_text(log.read_text().replace("v1", "v2", 1))
    with pytest.raises(UnsupportedError, match="version v2"):
        add_sources(LocalPlace(folder), [*TWO, *PAST, *MORE])
    (folder / "added_sources.json").write_text("{")
    with pytest.raises(DataError, match="which sources were added"):
        finish_adding(LocalPlace(folder))
    add_sources(LocalPlace(tmp_path / "new"), TWO)
    assert not (tmp_path / "new").exists()


def test_over_spark_connect_no_table_is_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checkpoint stays as it is: this is found out before the manifest is written."""
    monkeypatch.setattr(sink_log, "of_connect", lambda spark: True)
    manifest = Manifest((), (), (), (), (), 1, "")
    spark, stream = cast("SparkSession", None), LocalPlace(tmp_path)
    sink_log.refuse_adding(spark, stream, manifest)
    with pytest.raises(UnsupportedError, match="over Spark Connect no table can be added"):
        sink_log.refuse_adding(spark, stream, replace(manifest, known=Known(manifest, (1,))))

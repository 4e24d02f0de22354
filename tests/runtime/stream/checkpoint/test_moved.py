"""What moves with a checkpoint, without Spark. Source: docs/streams.md#what-a-checkpoint-belongs-to."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

from tvfsql.errors import DataError
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.checkpoint.moved import follow, is_left_behind, refuse_left_behind, take_over
from tvfsql.runtime.stream.driver.identity import identify, refuse_moved

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = "spark/state/0/_stateSchema/default/0_1f"
MESSAGE = "control/1795727536044191010-d07db6b34fa6.json"


def checkpoint(folder: Path) -> Path:
    """A checkpoint of a stream that has done micro-batch 0."""
    told = {"stateStoreInfo": [{"storeName": "default", "stateSchemaFilePaths": [f"file:{folder}/{SCHEMA}"]}]}
    read = [f"{folder.as_uri()}/{MESSAGE}", f"file:///data/{MESSAGE}", "file:///data/in/1.json"]
    entries = [json.dumps({"path": path, "timestamp": 1, "batchId": 0}, separators=(",", ":")) for path in read]
    for name, text in {
        "query.py": "",
        "spark/metadata": '{"id":"1"}',
        "spark/offsets/0": "v1",
        "spark/commits/0": "v1",
        "spark/state/0/_metadata/v2/0": f"v2\n{json.dumps(told, ensure_ascii=False)}",
        "spark/state/0/_metadata/v2/.0.crc": "sum",
        "spark/sources/1/0": "\n".join(["v1", *entries]),
        "spark/sources/1/.0.crc": "sum",
        "spark/sources/1/9.compact": "\n".join(["v1", *entries]),
        "spark/sources/0/0": "\n".join(["v1", entries[2]]),
        "spark/sources/0/.0.crc": "sum",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    identify(LocalPlace(folder), no_spark)
    return folder


def no_spark() -> SparkSession:
    raise AssertionError("Spark is not needed")


@pytest.mark.parametrize("name", ["new", "with a blank, é and +"])
def test_paths_follow_a_checkpoint_that_is_moved(tmp_path: Path, name: str) -> None:
    old, new = checkpoint(tmp_path / name), tmp_path / f"{name} 2"
    old.rename(new)
    identify(LocalPlace(new), no_spark)
    (store,) = json.loads((new / "spark/state/0/_metadata/v2/0").read_text().split("\n")[1])["stateStoreInfo"]
    assert store["stateSchemaFilePaths"] == [f"file:{new}/{SCHEMA}"]
    for log in ("0", "9.compact"):
        version, *lines = (new / "spark/sources/1" / log).read_text().split("\n")
        paths = [json.loads(line)["path"] for line in lines]
        assert version == "v1" and paths[1:] == [f"file:///data/{MESSAGE}", "file:///data/in/1.json"]
        assert unquote(paths[0]) == f"file://{new}/{MESSAGE}"
    sums = {str(path.relative_to(new)) for path in new.rglob("*.crc")}
    assert sums == {"spark/sources/0/.0.crc"}, "what is written anew has no checksum, and the rest is not touched"
    before = (new / "spark/sources/1/0").stat().st_mtime_ns
    identify(LocalPlace(new), no_spark)
    follow(LocalPlace(new), str(old))
    assert (new / "spark/sources/1/0").stat().st_mtime_ns == before, "nothing is left to do"


def test_a_copy_that_becomes_a_stream_of_its_own_reads_its_own_files(tmp_path: Path) -> None:
    old, new = checkpoint(tmp_path / "old"), tmp_path / "new"
    shutil.copytree(old, new)
    (new / "identity.json").unlink()
    identify(LocalPlace(new), no_spark)
    assert str(old) not in (new / "spark/state/0/_metadata/v2/0").read_text()
    assert str(old) not in (new / "spark/sources/1/0").read_text()


def test_what_a_stream_has_written_after_its_checkpoint_was_moved_is_taken_over(tmp_path: Path) -> None:
    old, new = checkpoint(tmp_path / "old"), tmp_path / "new"
    refuse_moved(LocalPlace(old), id := identify(LocalPlace(old), no_spark))
    old.rename(new)
    with pytest.raises(DataError, match="moved or deleted while its stream ran"):
        refuse_moved(LocalPlace(old), id)
    assert not is_left_behind(LocalPlace(old))
    made = {
        "spark/offsets/1": "v1",
        "spark/commits/1": "v1",
        "spark/state/0/0/2.changelog": "rows",
        "spark/sources/1/1": f'v1\n{{"path":"{old.as_uri()}/{MESSAGE}","timestamp":1,"batchId":1}}',
        "metrics.json": "new",
    }
    for name, text in made.items():
        (old / name).parent.mkdir(parents=True, exist_ok=True)
        (old / name).write_text(text)
    (new / "metrics.json").write_text("old")
    with pytest.raises(DataError, match="not a whole checkpoint"):
        refuse_left_behind(LocalPlace(old))
    assert identify(LocalPlace(new), no_spark) == id
    assert not old.exists()
    assert (new / "metrics.json").read_text() == "new"
    assert sorted(path.name for path in (new / "spark/offsets").iterdir()) == ["0", "1"]
    assert str(old) not in (new / "spark/sources/1/1").read_text()
    refuse_moved(LocalPlace(new), id)


def test_the_plan_of_a_micro_batch_is_taken_over_after_its_state_and_before_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order, move = list[str](), shutil.move
    monkeypatch.setattr(shutil, "move", lambda file, to: order.append(Path(move(file, to)).parent.name))
    for name in ("spark/commits/1", "spark/offsets/1", "spark/state/0/1/2.changelog", "control/1.json"):
        (tmp_path / "old" / name).parent.mkdir(parents=True)
        (tmp_path / "old" / name).touch()
    take_over(LocalPlace(tmp_path / "new"), LocalPlace(tmp_path / "old"))
    assert order == ["control", "1", "offsets", "commits"]


def test_another_stream_at_the_old_place_is_left_alone(tmp_path: Path) -> None:
    old, new = checkpoint(tmp_path / "old"), tmp_path / "new"
    old.rename(new)
    other = identify(LocalPlace(checkpoint(old)), no_spark)
    assert identify(LocalPlace(new), no_spark) != other
    assert (old / "spark/offsets/0").exists()

"""Checkpoints that are moved, copied, linked, deleted and put back in any order: one that was moved goes on with its
id, and a copy does not run while the folder is there in which its stream ran last. Source:
docs/streams.md#what-a-checkpoint-belongs-to.
"""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.examples import SOAK
from tvfsql.errors import DataError
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.driver.identity import identify

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HISTORIES = 1_000 if SOAK else 60
PLACES = "abcd"


def no_spark() -> SparkSession:
    raise AssertionError("Spark is not needed")


class Disk:
    """A disk with checkpoints, and what is known of each: its id, and the folder in which it ran last. `links`: the
    folders that are links, with the place that they lead to."""

    def __init__(self, root: Path, draw: random.Random) -> None:
        self.root, self.draw = root, draw
        self.kept: dict[str, tuple[str, str]] = {}
        self.links: dict[str, str] = {}
        self.refused = self.moved = 0

    def free(self) -> str | None:
        return next((name for name in PLACES if name not in self.kept and name not in self.links), None)

    def step(self) -> None:
        there, free = [*self.kept], self.free()
        name = self.draw.choice(there) if there else None
        match self.draw.choice(["begin", "move", "copy", "link", "delete", "run", "run", "run"]):
            case "begin" if free:
                (self.root / free / "spark" / "offsets").mkdir(parents=True)
                (self.root / free / "spark" / "offsets" / "0").touch()
                self.kept[free] = identify(LocalPlace(self.root / free), no_spark), free
                assert [id for id, _ in self.kept.values()].count(self.kept[free][0]) == 1, "a new stream has a new id"
            case "move" if name and free and name not in self.links.values():
                (self.root / name).rename(self.root / free)
                self.kept[free] = self.kept.pop(name)
                if self.draw.random() < 0.3:  # with a link where it was
                    (self.root / name).symlink_to(self.root / free)
                    self.links[name] = free
            case "copy" if name and free:
                shutil.copytree(self.root / name, self.root / free)
                self.kept[free] = self.kept[name]
            case "link" if name and free:
                (self.root / free).symlink_to(self.root / name)
                self.links[free] = name
            case "delete" if name and name not in self.links.values():
                shutil.rmtree(self.root / name)
                del self.kept[name]
            case "run" if name:
                self.run(self.draw.choice([name, *(link for link, to in self.links.items() if to == name)]))

    def run(self, path: str) -> None:
        """A run at a folder, or at a link to it."""
        name = self.links.get(path, path)
        id, last = self.kept[name]
        original = self.links.get(last, last)
        is_copy = original != name and original in self.kept and self.kept[original][0] == id
        place = LocalPlace(self.root / path).resolved()
        before = (place / "identity.json").read()
        if is_copy:
            self.refused += 1
            with pytest.raises(DataError, match="is a copy of"):
                identify(place, no_spark)
            assert (place / "identity.json").read() == before, "a refused run changes nothing"
            return
        self.moved += last != name
        assert identify(place, no_spark) == id
        self.kept[name] = id, name


@pytest.mark.soak
def test_a_moved_checkpoint_goes_on_and_a_copy_does_not_run_beside_its_original(tmp_path: Path) -> None:
    refused = moved = 0
    for seed in range(HISTORIES):
        root = tmp_path / str(seed)
        root.mkdir()
        disk = Disk(root, random.Random(seed))
        for _ in range(40):
            disk.step()
        refused, moved = refused + disk.refused, moved + disk.moved
    assert refused > HISTORIES // 4 and moved > HISTORIES // 4, (refused, moved)

"""Spark's log of control messages over a day of one trigger per second, written as Spark does it."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import cast

from tvfsql.runtime.cluster.files import Place
from tvfsql.runtime.stream.checkpoint.read_messages import forget

DAY, KEPT, INTERVAL = 86_400, 100, 10


@dataclass
class Folder:
    """The log of a source, in memory."""

    files: dict[str, str] = field(default_factory=dict)

    def names(self) -> list[str]:
        return sorted(self.files)

    def __truediv__(self, name: str) -> File:
        return File(self, name)

    def add(self, number: int, path: str) -> None:
        """Add an entry as CompactibleFileStreamLog does: the tenth one has all entries from the last merged one on, and
        those before it are deleted after a while."""
        line = json.dumps({"path": f"file:///control/{path}", "timestamp": 0, "batchId": number})
        if (number + 1) % INTERVAL:
            self.files[str(number)] = f"v1\n{line}"
            return
        before = [self.files.get(f"{number - INTERVAL}.compact", "v1")]
        before += [self.files[str(each)] for each in range(max(0, number - INTERVAL + 1), number)]
        lines = [each for text in before for each in text.split("\n")[1:]]
        self.files[f"{number}.compact"] = "\n".join(["v1", *lines, line])
        for old in [name for name in self.files if int(name.removesuffix(".compact")) < number - INTERVAL]:
            del self.files[old]


@dataclass
class File:
    folder: Folder
    name: str

    def read(self) -> str:
        return self.folder.files[self.name]

    def write(self, text: str) -> None:
        self.folder.files[self.name] = text

    def delete(self) -> None:
        del self.folder.files[self.name]


def day(*, forgets: bool) -> int:
    """The size of the largest file of the log in the last hour of a day."""
    log, largest = Folder(), 0
    for number in range(DAY // 10):
        log.add(number, f"{number}.json")
        there = {f"{each}.json" for each in range(max(0, number - 2 * KEPT), number + 1)}
        if forgets and number % 7 == 0:
            forget(cast(Place, log), number, there)
        if number > DAY // 10 - 360:
            largest = max(largest, *map(len, log.files.values()))
    return largest


def test_the_log_of_a_day_does_not_grow() -> None:
    assert day(forgets=True) < 100_000
    assert day(forgets=False) > 500_000, "as it was"


def test_messages_that_are_there_and_recent_ones_stay() -> None:
    log = Folder()
    for number in range(300):
        log.add(number, f"{number}.json")
    there: Collection[str] = {"3.json", "299.json"}
    assert not forget(cast(Place, log), 309, there), "Spark may read the merged entry now"
    assert forget(cast(Place, log), 301, there)
    kept = [json.loads(line)["batchId"] for line in log.files["299.compact"].split("\n")[1:]]
    assert kept == [3, *range(200, 300)]

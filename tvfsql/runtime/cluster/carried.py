"""Functions and processors that bring tvfsql to a Spark Connect server: in streams, Spark gives the code that was sent
to it neither to its workers nor to the Python process of its driver.

The classes are sent by value, and use nothing of tvfsql.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark import cloudpickle
from pyspark.serializers import CPickleSerializer
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle, TimerValues

from tvfsql.runtime.cluster.code import our_zip

if TYPE_CHECKING:
    import pyarrow as pa

Batches = Iterator["pa.RecordBatch"]


class Carried:
    """A pickled object, and the zip of tvfsql, a file that all machines see."""

    def __init__(self, packed: bytes, file: str) -> None:
        self.packed, self.file = packed, file

    def unpacked(self) -> Any:
        """The object. A Python process that an earlier stream has used keeps that stream's tvfsql only if it is the
        same and its zip, from which more may be imported, still exists: checkpoints are deleted, and releases differ.
        """
        import pickle
        import sys
        from pathlib import Path

        loaded = sys.modules.get("tvfsql")
        known = Path(str(loaded.__file__)).parents[1] if loaded else None
        if known is None or known.name != Path(self.file).name or not known.exists():
            for name in [name for name in sys.modules if name.partition(".")[0] == "tvfsql"]:
                del sys.modules[name]
            sys.path[:] = [self.file, *(entry for entry in sys.path if entry != str(known))]
        return pickle.loads(self.packed)


class CarriedFunction(Carried):
    """A function of Arrow batches."""

    def __call__(self, batches: Batches) -> Batches:
        yield from self.unpacked()(batches)


class CarriedProcessor(Carried, StatefulProcessor):
    """A stateful processor."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.processor: StatefulProcessor = self.unpacked()
        self.processor.init(handle)

    def handleInputRows(self, key: object, rows: Iterator[Row], timerValues: TimerValues) -> Iterator[Row]:
        yield from self.processor.handleInputRows(key=key, rows=rows, timerValues=timerValues)

    def close(self) -> None:
        self.processor.close()


def carried_function(function: Callable[[Batches], Batches], folder: Path) -> CarriedFunction:
    """The same function. The zip goes into `folder`."""
    return CarriedFunction(*_packed(function, folder))


def carried_processor(processor: StatefulProcessor, folder: Path) -> CarriedProcessor:
    """The same processor. The zip goes into `folder`."""
    return CarriedProcessor(*_packed(processor, folder))


def _packed(carried: object, folder: Path) -> tuple[bytes, str]:
    import tvfsql.runtime.cluster.carried as own

    cloudpickle.register_pickle_by_value(own)  # type: ignore[no-untyped-call]
    zip = our_zip()
    if not (file := folder / zip.name).exists():
        shutil.copy(zip, file)
    packed: bytes = CPickleSerializer().dumps(carried)  # type: ignore[no-untyped-call]
    return packed, str(file.absolute())

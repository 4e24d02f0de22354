"""The processor that Spark runs for every stateful operator."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyspark import TaskContext
from pyspark.serializers import CPickleSerializer
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from tvfsql.runtime.stream.state.spark_state import SparkState, SparkTimerState

if TYPE_CHECKING:
    from tvfsql.runtime.stream.operator.protocol import Operator
    from tvfsql.runtime.stream.state.description import Description


NUMBER = "streaming.sql.batchId"  # the property of Spark's tasks that has the number of the micro-batch


class OperatorShell(StatefulProcessor):
    """Declares the state of each key group, and passes it to the operator together with the key group's messages.

    At each start of a query Spark starts a Python process that only calls `init`. The operator, and Arrow with it, is
    therefore loaded only when rows come, which halves the time that this process takes.

    State: `chunks` maps a `ChunkKey` to an Arrow IPC stream. `index` holds the watermark, its channels, the list of
    chunks, and the operator's `Description`. Operators with timers have two more maps. A state call costs 100-200
    microseconds. The number of calls depends on the chunks that are touched, never on keys.
    """

    def __init__(self, operator: Operator, description: Description) -> None:
        pack: Callable[[Operator], bytes] = CPickleSerializer().dumps
        self.packed, self.has_timers = pack(operator), operator.has_timers
        self.description = description.dump()

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.state = SparkState.of(handle, self.description)
        self.timers = SparkTimerState.of(handle) if self.has_timers else None

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        from tvfsql.runtime.stream.operator.micro_batch import micro_batch

        yield from micro_batch(self.operator, self.state, self.timers, list(rows), _number())

    def close(self) -> None:
        pass

    @cached_property
    def operator(self) -> Operator:
        operator: Operator = pickle.loads(self.packed)
        return operator


def _number() -> int | None:
    """The number of the micro-batch whose task this is; None: Spark does not say."""
    task = TaskContext.get()
    text = task.getLocalProperty(NUMBER) if task is not None else None
    return None if text is None else int(text)

"""The settings of a streaming operator besides its window and keys, as one value from the lowering to the runtime."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from tvfsql.plan.firing import Firing

KEY_GROUPS = 4  # of a stream that nobody told a number, where the cores are not known


@dataclass(frozen=True)
class StreamContext:
    """The time that an operator follows, its inputs and parallelism, and what it emits besides its results.

    `zone`: the time zone whose wall clock windows follow; watermarks are instants then. "": times have no zone.
    `inputs`: the name prefixes of its channels, one per stream of a union or side of a join; the operator waits for
    each of them. `delay`: the watermark of each row is its time minus so many ms; None: it is in the column
    `$watermark`. `proctime`: it follows processing time, so its watermark is the time of the micro-batch. `on_event`: a
    watermark counts from the next row on, not from the next micro-batch on. `key_groups`: how many tasks can share its
    state; None: the run decides. `marks`: it emits its own watermark, in the columns MARKS. `late`: it emits late rows,
    in the column LATE. `adjust`: late rows count in the first open window. `firing`: when its windows fire besides at
    their end.
    """

    zone: str = ""
    inputs: Sequence[str] = ("",)
    delay: int | None = None
    proctime: bool = False
    on_event: bool = False
    key_groups: int | None = None
    marks: bool = False
    late: bool = False
    adjust: bool = False
    firing: Firing | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", tuple(self.inputs))  # emitted programs write a list

    @property
    def emits_changes(self) -> bool:
        """Whether a result can replace an earlier one."""
        return self.firing is not None and not self.firing.purge


# The defaults of the runtime.
ONE_INPUT, TWO_INPUTS = StreamContext(), StreamContext(inputs=("1/", "2/"))


class StreamOptions(TypedDict, total=False):
    """The fields of `StreamContext` as keyword arguments of emitted programs: `**options: Unpack[StreamOptions]`. The
    runtime calls `StreamContext(**options)`.
    """

    zone: str
    inputs: Sequence[str]
    delay: int | None
    proctime: bool
    on_event: bool
    key_groups: int | None
    marks: bool
    late: bool
    adjust: bool
    firing: Firing | None

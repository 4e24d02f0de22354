"""The options whose values are a few words."""

from __future__ import annotations

from enum import Enum


class Mode(Enum):
    BATCH = "batch"
    STREAMING = "streaming"
    AUTOMATIC = "automatic"


class Phases(Enum):
    AUTO = "AUTO"
    ONE = "ONE_PHASE"
    TWO = "TWO_PHASE"


class NullTimes(Enum):
    """The treatment of rows whose time is NULL."""

    FAIL = "FAIL"
    DROP = "DROP"
    SKIP_WATERMARK = "SKIP_WATERMARK"

    def __str__(self) -> str:
        """The text for EXPLAIN."""
        return self.value.lower()


class MissingFiles(Enum):
    """The treatment of files that are deleted before a stream reads them."""

    FAIL = "FAIL"
    COUNT = "COUNT"


class ResultMode(Enum):
    """How the shell shows the rows of a stream."""

    TABLE = "TABLE"
    CHANGELOG = "CHANGELOG"
    TABLEAU = "TABLEAU"


class CountDistinct(Enum):
    """How APPROX_COUNT_DISTINCT counts."""

    EXACT = "exact"
    HLL = "hll"


class Steps(Enum):
    ALL = "all"
    CHANGED = "changed"


class LateRecords(Enum):
    DROP = "drop"
    ADJUST = "adjust"


class LateResults(Enum):
    ACCUMULATE = "accumulate"
    PURGE = "purge"

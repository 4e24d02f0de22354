"""What differs between the minor versions of Spark that tvfsql runs on. Importing this does not load Spark."""

from __future__ import annotations

import ast
import json
from contextlib import suppress
from inspect import signature
from typing import TYPE_CHECKING, Any

from tvfsql.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column
    from pyspark.sql import types as T


def arrow_schema(schema: T.StructType) -> pa.Schema:
    """Spark's types as those of Arrow, with instants in UTC. Since 4.2 Spark asks for their zone."""
    from pyspark.sql.pandas.types import to_arrow_schema

    asks = "timezone" in signature(to_arrow_schema).parameters
    return to_arrow_schema(schema, timezone="UTC") if asks else to_arrow_schema(schema)


def time_bucket(size: Column, ts: Column) -> Column:
    """The start of the interval of `size` that contains `ts`. Raises DataError on Spark 4.1, which cannot find it."""
    from pyspark.sql import functions as F

    if not hasattr(F, "time_bucket"):
        raise DataError("rows copied into their windows need Spark 4.2", hint="pip install 'pyspark>=4.2'")
    return F.time_bucket(size, ts)


def reported_offset(offset: Any) -> Any:
    """An offset in a report of progress, as the value of its JSON. Spark 4.1 reports Python's text of that value."""
    if isinstance(offset, str):
        for read in (json.loads, ast.literal_eval):
            with suppress(ValueError, SyntaxError):
                return read(offset)
    return offset

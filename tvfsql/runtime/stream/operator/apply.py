"""Applies a stateful operator to the output of its local phase: the DataFrame operations around the shell and
`Unpack`."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from tvfsql.plan.tables.internal_columns import CHANNEL, CONTROL, LATE, WATERMARK
from tvfsql.runtime.frames.nullable_types import nullable_type
from tvfsql.runtime.host.spark_versions import arrow_schema
from tvfsql.runtime.stream.operator.messages import OUTPUT
from tvfsql.runtime.stream.operator.protocol import Operator
from tvfsql.runtime.stream.operator.shell import OperatorShell
from tvfsql.runtime.stream.operator.unpack import Unpack
from tvfsql.runtime.stream.state.description import Description
from tvfsql.runtime.stream.time.execution import execution


def apply_operator(
    sent: DataFrame,
    operator: Operator,
    description: Description,
    schema: T.StructType,
    *,
    name: str,
    late: T.StructType | None = None,
) -> DataFrame:
    """Exchange and operator: the rows that an operator emits for the messages of `local_phase`.

    Out: the columns of `schema`. With `marks` in the operator's context control rows follow, with its output watermark
    in the columns that `with_watermarks` adds. With `late` late rows follow, as control rows with a column `$late` of
    that type. The query's progress reports the operator's counters under `name` (`progress.key_groups`).
    """
    fields = [*schema.fields]
    if operator.context.marks:
        kinds = {WATERMARK: T.TimestampNTZType(), CONTROL: T.LongType(), CHANNEL: T.StringType()}
        fields += [T.StructField(column, kind) for column, kind in kinds.items()]
    if late is not None:
        fields.append(T.StructField(LATE, late))
    result = T.StructType.fromJson(nullable_type(T.StructType(fields).jsonValue()))
    unpack = Unpack(operator, arrow_schema(result))
    return execution().operate(sent, OperatorShell(operator, description), OUTPUT, name, unpack, result)

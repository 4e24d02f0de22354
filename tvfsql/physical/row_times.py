"""Checks of the times of rows, below the operators that need a time."""

from __future__ import annotations

from dataclasses import replace

from tvfsql.options import Options
from tvfsql.options.known import NULL_TIMES
from tvfsql.options.words import NullTimes
from tvfsql.physical.copied_rows import is_proctime
from tvfsql.physical.operators import RowTimeCheck, TableSourceScan
from tvfsql.plan import nodes
from tvfsql.plan.node import Node


def checked(source: Node, time: str, options: Options) -> Node:
    """A check of a time column over an operator: rows without a time fail, or are dropped and counted."""
    if isinstance(source, nodes.Expand):  # so that each row is checked and counted once
        return replace(source, input=checked(source.input, time, options))
    if is_proctime(source, time):  # processing time is never NULL
        return source
    return RowTimeCheck(source, time, _nulls(source, options), options.streaming)


def _nulls(source: Node, options: Options) -> NullTimes:
    """What becomes of rows without a time. In batch over tables of CREATE TABLE without WATERMARK, to which the option
    does not apply, they are dropped and counted, as in Flink.
    """
    tables = [node.source for node in source.walk() if isinstance(node, TableSourceScan)]
    drops = not options.streaming and NULL_TIMES.key not in options.values and bool(tables)
    declared = all(table.connector is not None and table.watermark is None for table in tables)
    return NullTimes.DROP if drops and declared else options[NULL_TIMES]

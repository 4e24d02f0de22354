"""Late rows: counted in the first open window (`tvfsql.late`), or written to a table (`tvfsql.late-output`).

Source: semantics.md#late-rows.
"""

from __future__ import annotations

from dataclasses import replace

from tvfsql.catalog import Catalog, Table
from tvfsql.errors import OptionError, UnsupportedError, did_you_mean
from tvfsql.options import LATE_OUTPUT, LATE_RECORDS, Options
from tvfsql.physical.operators import (
    Calc,
    Exchange,
    LateOutput,
    StreamSliceMerge,
    StreamSlices,
    TableSourceScan,
    WatermarkAssigner,
)
from tvfsql.physical.words import noun
from tvfsql.plan.columns import LATE, WINDOW_COLUMNS
from tvfsql.plan.deduplicate import Deduplicate
from tvfsql.plan.interval_join import IntervalJoin
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Item, Scan, Sink
from tvfsql.plan.scalar import Scalar, column, quoted, template
from tvfsql.plan.sharing import Shared
from tvfsql.plan.stream import StreamContext
from tvfsql.plan.types import ddl


def refuse_adjusting(plan: Node, options: Options) -> None:
    """Raise OptionError or UnsupportedError if late rows of a logical plan cannot count in other windows."""
    hint = f"RESET '{LATE_RECORDS.key}'"
    if options[LATE_OUTPUT]:
        raise OptionError(f"{LATE_RECORDS.key} = 'adjust' leaves no late rows for {LATE_OUTPUT.key}", hint=hint)
    for node in plan.walk():
        if isinstance(node, Scan) and node.sign:
            reason = f"{LATE_RECORDS.key} = 'adjust' needs insert-only input, but {node.table} is a changelog"
            raise UnsupportedError(reason, span=node.span, hint=hint)
        if isinstance(node, Deduplicate | IntervalJoin) and not node.proctime:
            reason = f"{LATE_RECORDS.key} = 'adjust' only applies to windows, not to {noun(node)}"
            raise UnsupportedError(reason, span=node.span, hint=hint)


def with_late_output(plan: Node, catalog: Catalog, options: Options) -> Node:
    """Add the late rows of a stream to its plan. Raises OptionError if the table cannot store them, and
    UnsupportedError if the plan is more than a window aggregate over a table.
    """
    name = options[LATE_OUTPUT]
    found = catalog.find(name)
    if not isinstance(found, Table) or found.connector is None:
        hint = did_you_mean(name, catalog.names(Table)) or f"CREATE TABLE {name} (...) WITH (...)"
        known = "is a view" if found else "does not exist"
        raise OptionError(f"table {name} of {LATE_OUTPUT.key} {known}", hint=hint)
    for sink in (node for node in plan.walk() if isinstance(node, Sink)):
        target = catalog.get(sink.table)
        if isinstance(target, Table) and target.connector and target.connector.path == found.connector.path is not None:
            hint = f"CREATE TABLE ... WITH ('path' = '{found.connector.path}-late', ...)"
            raise OptionError(f"table {found.name} of {LATE_OUTPUT.key} has the same path as {target.name}", hint=hint)
    return _apart(plan, found)


def _apart(node: Node, table: Table) -> Node:
    """Separate late rows below the sink; for a shared stream, where its micro-batches are split."""
    if isinstance(node, Sink | Shared) or any(isinstance(below, Shared) for below in node.walk()):
        return node.over(lambda child: _apart(child, table))
    return LateOutput(_passed_on(node, table), table)


def _passed_on(node: Node, table: Table) -> Node:
    """Pass late rows through the operators. They are NULL in every column but LATE."""
    match node:
        case Calc(source, items, conditions):
            below = _passed_on(source, table)
            kept = items or tuple(Item(part.name, column(part.name, part.type)) for part in node.schema)
            return Calc(below, (*kept, Item(LATE, column(LATE))), tuple(map(_or_late, conditions)))
        case StreamSliceMerge(context=StreamContext(proctime=True)):
            raise UnsupportedError(
                "processing time has no late rows", span=node.span, hint=f"RESET '{LATE_OUTPUT.key}'"
            )
        case StreamSliceMerge(Exchange(StreamSlices() as slices, keys)):
            return replace(node.told(late=True), input=Exchange(_kept(slices, table), keys))
    raise UnsupportedError(
        f"{LATE_OUTPUT.key} only works with a single window aggregate over a table",
        span=node.span,
        hint=f"RESET '{LATE_OUTPUT.key}'",
    )


def _or_late(condition: Scalar) -> Scalar:
    return template(f"(({{c}}) OR `{LATE}` IS NOT NULL)", {"c": condition}, "boolean")


def _kept(slices: StreamSlices, table: Table) -> StreamSlices:
    """Make the slices keep the source's row, with the columns and types of the table."""
    calc = slices.input
    if not isinstance(calc, Calc) or not isinstance(calc.input, WatermarkAssigner):
        reason = f"{LATE_OUTPUT.key} only works with a single window aggregate over a table"
        raise UnsupportedError(reason, span=slices.span, hint=f"RESET '{LATE_OUTPUT.key}'")
    assigner = calc.input
    until = assigner.input if isinstance(assigner.input, Calc) else None
    scan = until.input if until else assigner.input
    assert isinstance(scan, TableSourceScan), scan.label()
    source = scan.source
    known = {part.name: part.scalar or column(part.name, part.type) for part in source.columns}
    wanted = [part for part in table.physical if part.name not in WINDOW_COLUMNS]
    for part in wanted:
        if part.name not in known:
            raise OptionError(
                f"table {table.name} of {LATE_OUTPUT.key} has a column {part.name}, which {source.name} lacks",
                span=scan.span,
                hint=did_you_mean(part.name, (*known, *WINDOW_COLUMNS), otherwise="columns: "),
            )
    holes = {f"c{i}": known[part.name] for i, part in enumerate(wanted)}
    row = ", ".join(f"CAST({{c{i}}} AS {ddl(part.type)}) AS {quoted(part.name)}" for i, part in enumerate(wanted))
    late = template(f"array(struct({row}))", holes)
    fields = tuple(part for part in source.physical if part.name in late.columns or part in scan.fields)
    hidden = tuple(part for part in scan.fields if part not in source.physical)
    scan = replace(scan, fields=(*fields, *hidden))
    read = replace(assigner, input=replace(until, input=scan) if until else scan)
    return replace(slices.told(late=True), input=Calc(read, (*calc.items, Item(LATE, late)), calc.conditions))

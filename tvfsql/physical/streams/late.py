"""Late rows: counted in the first open window (`tvfsql.late`), or written to tables (`tvfsql.late-output`).

A row travels to its operator with the columns of its late table, in the column LATE. If it is late, it leaves the
operator as a control row. So it passes all operators above, as every control row does, and is separated where rows are
written. Source: semantics.md#late-rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tvfsql.catalog import Catalog, Table
from tvfsql.errors import OptionError, UnsupportedError, did_you_mean
from tvfsql.options import Options
from tvfsql.options.known import LATE_OUTPUT, LATE_RECORDS
from tvfsql.options.words import LateRecords
from tvfsql.physical.operators import (
    Calc,
    Exchange,
    LateOutput,
    ProcessingTimeAssigner,
    RowTimeCheck,
    StreamDeduplicate,
    StreamOperator,
    StreamSort,
    StreamTopN,
    StreamUnion,
    TableSourceScan,
    ToChangelog,
    UpsertMaterialize,
    WatermarkAssigner,
)
from tvfsql.physical.row_operators import RowOperator, StreamChangelogNormalize, StreamCurrentWatermark
from tvfsql.physical.streams.inputs import handing_marks_on, mark_items
from tvfsql.physical.window_operators import StreamSliceMerge, StreamSlices, WindowExpand
from tvfsql.physical.words import noun
from tvfsql.plan import changelogs, nodes
from tvfsql.plan.analysis.sharing import Shared
from tvfsql.plan.gaps import GridFill
from tvfsql.plan.joins import IntervalJoin, TemporalJoin
from tvfsql.plan.node import Field, Node
from tvfsql.plan.nodes import Item, Scan, Sink
from tvfsql.plan.over import OverPartials
from tvfsql.plan.patterns import PatternMatch
from tvfsql.plan.rank import Deduplicate
from tvfsql.plan.tables.internal_columns import CONTROL, LATE, MARKS, WINDOW_COLUMNS, WINDOW_NAME
from tvfsql.plan.values.scalar import Scalar, column, quoted, template, text
from tvfsql.plan.values.types import STRING, TIMESTAMP, TIMESTAMP_LTZ
from tvfsql.plan.window import Session, Several

TABLE_NAME = "table_name"  # the column of a late table with the name of the row's table
_WINDOW_TIMES = dict.fromkeys(WINDOW_COLUMNS, (TIMESTAMP,)) | {"window_time": (TIMESTAMP, TIMESTAMP_LTZ)}
# The operators that pass rows on, and control rows as they are.
PASSING = (
    Exchange, RowTimeCheck, ToChangelog, WindowExpand, nodes.Expand, nodes.Unnest, StreamTopN, StreamDeduplicate,
    StreamSort, UpsertMaterialize,
)  # fmt: skip


def refuse_adjusting(plan: Node, options: Options) -> None:
    """Raise UnsupportedError if late rows of a logical plan cannot count in other windows."""
    hint = f"RESET '{LATE_RECORDS.key}'"
    for node in plan.walk():
        if isinstance(node, Scan) and node.sign:
            reason = f"{LATE_RECORDS.key} = 'adjust' needs insert-only input, but {node.table} is a changelog"
            raise UnsupportedError(reason, span=node.span, hint=hint)
        if isinstance(node, TemporalJoin | nodes.TemporalSort | OverPartials | GridFill | PatternMatch) or (
            isinstance(node, Deduplicate | IntervalJoin) and not node.proctime
        ):
            reason = f"{LATE_RECORDS.key} = 'adjust' only applies to windows, not to {noun(node)}"
            raise UnsupportedError(reason, span=node.span, hint=hint)


def with_late_output(plan: Node, catalog: Catalog, options: Options) -> Node:
    """Add the late rows of a stream to its plan, if it has tables for them. Raises OptionError if a table cannot store
    them, and UnsupportedError if no row can be late, or an operator cannot pass them on.
    """
    asked = options[LATE_OUTPUT]
    scans = [node for node in plan.walk() if isinstance(node, TableSourceScan) and node.streaming]
    names = {scan.source.name: asked if scan.source.late_output is None else scan.source.late_output for scan in scans}
    tables = {name: _table(name, plan, catalog) for name in dict.fromkeys((*names.values(), asked)) if name}
    if not tables:
        return plan
    if options[LATE_RECORDS] is LateRecords.ADJUST:
        reason = f"{LATE_RECORDS.key} = 'adjust' leaves no late rows for {LATE_OUTPUT.key}"
        raise OptionError(reason, hint=f"RESET '{LATE_RECORDS.key}'")
    operators = [node for node in plan.walk() if isinstance(node, StreamSliceMerge | RowOperator)]
    if not any(_drops(node) for node in operators):
        if not asked:
            return plan  # a table's option is for all its readers
        clock = any(node.context.proctime for node in operators)
        reason = "processing time has no late rows" if clock else "no operator of this query drops late rows"
        span = operators[0].span if operators else plan.span
        raise UnsupportedError(reason, span=span, hint=f"RESET '{LATE_OUTPUT.key}'")
    if normalized := next((node for node in operators if isinstance(node, StreamChangelogNormalize)), None):
        raise UnsupportedError(
            f"{LATE_OUTPUT.key} does not work with changes by key: a row that another one replaces came earlier",
            span=normalized.span,
            hint=f"RESET '{LATE_OUTPUT.key}'",
        )
    if query := next((node for node in plan.walk() if isinstance(node, changelogs.FromChangelog)), None):
        raise UnsupportedError(
            f"{LATE_OUTPUT.key} does not work with FROM_CHANGELOG over a query",
            span=query.span,
            hint=f"RESET '{LATE_OUTPUT.key}', or FROM_CHANGELOG over a table",
        )
    of_names = {isinstance(node.window, Several) for node in operators if isinstance(node, StreamSliceMerge)}
    owned = tuple((name, tables[table]) for name, table in names.items() if table)
    rows = _LateRows(owned, all(names.values()), True in of_names)
    if not rows.tables:
        return plan
    if rows.named:
        rows.refuse_unnamed(all(of_names), plan)
    rows.refuse_one_place()
    rows.refuse_missing_columns(scans)
    return _apart(plan, rows)


def _drops(node: StreamOperator) -> bool:
    """Whether rows can be late for an operator."""
    return not node.context.proctime and not isinstance(node, StreamCurrentWatermark)


def _table(name: str, plan: Node, catalog: Catalog) -> Table:
    """The table of that name. Raises OptionError if late rows cannot be written there."""
    found = catalog.find(name)
    if not isinstance(found, Table) or found.connector is None:
        hint = did_you_mean(name, catalog.names(Table)) or f"CREATE TABLE {name} (...) WITH (...)"
        known = "is a view" if found else "does not exist"
        raise OptionError(f"table {name} of {LATE_OUTPUT.key} {known}", hint=hint)
    for sink in (node for node in plan.walk() if isinstance(node, Sink)):
        target = catalog.get(sink.table)
        if not isinstance(target, Table) or target.connector is None:
            continue
        if target.connector.path == found.connector.path is not None:
            hint = f"CREATE TABLE ... WITH ('path' = '{found.connector.path}-late', ...)"
            raise OptionError(f"table {found.name} of {LATE_OUTPUT.key} has the same path as {target.name}", hint=hint)
        if target.connector.by_number == found.connector.by_number != "":  # it would pass for a repeated micro-batch
            reason = f"table {found.name} of {LATE_OUTPUT.key} is where INSERT INTO {target.name} writes"
            raise OptionError(reason, hint="another table for late rows")
    for part in found.physical:
        if part.name in WINDOW_COLUMNS and part.type not in _WINDOW_TIMES[part.name]:
            hint = f"{part.name} TIMESTAMP(3) in CREATE TABLE {found.name}"
            raise OptionError(f"{part.name} of {found.name} is a time, not {part.type.flink}", hint=hint)
    return found


def _apart(node: Node, rows: _LateRows) -> Node:
    """Separate late rows below the sink; for a shared stream, where its micro-batches are split."""
    if isinstance(node, Sink | Shared) or any(isinstance(below, Shared) for below in node.walk()):
        return node.over(lambda child: _apart(child, rows))
    refused = next((other for other in _above(node) if not _passes(other)), None)
    if refused is not None:
        reason = f"{LATE_OUTPUT.key} does not work with {noun(refused)} after windows"
        raise UnsupportedError(reason, span=refused.span, hint=f"RESET '{LATE_OUTPUT.key}'")
    return LateOutput(rows.passed_on(handing_marks_on(node)), rows.distinct, rows.every)


def _above(node: Node) -> Iterator[Node]:
    """The operators above the last stateful ones and above sources."""
    if isinstance(node, StreamOperator | TableSourceScan):
        return
    yield node
    for child in (node.left,) if isinstance(node, nodes.LookupJoin) else node.children:
        yield from _above(child)


def _passes(node: Node) -> bool:
    union = isinstance(node, nodes.SetOperation) and node.kind == "union" and node.all
    return union or isinstance(node, (*PASSING, Calc, nodes.LookupJoin))


@dataclass(frozen=True)
class _LateRows:
    """The column LATE of a plan: a struct with a field for each table of late rows. `tables`: the names of sources,
    each with the table for its late rows. `every`: no source lacks one. `named`: the windows of an operator have names.
    """

    tables: tuple[tuple[str, Table], ...]
    every: bool
    named: bool = False

    @property
    def distinct(self) -> tuple[Table, ...]:
        """The tables, each once."""
        return tuple(dict.fromkeys(table for _, table in self.tables))

    def refuse_one_place(self) -> None:
        """Raise OptionError if two tables are stored at one place. A micro-batch is written there once: the rows of the
        second table would replace those of the first, or pass for a repetition.
        """
        known = dict[str, Table]()
        for table in self.distinct:
            place = (table.connector.path or table.connector.by_number) if table.connector else ""
            if place and known.setdefault(place, table) is not table:
                both = f"{known[place].name} and {table.name} of {LATE_OUTPUT.key}"
                raise OptionError(f"tables {both} are stored at the same place", hint="one table for both")

    @property
    def of_windows(self) -> tuple[str, ...]:
        """The columns of a table that the operator fills."""
        return (*WINDOW_COLUMNS, WINDOW_NAME) if self.named else tuple(WINDOW_COLUMNS)

    def refuse_unnamed(self, every: bool, plan: Node) -> None:
        """Raise OptionError if a table has `window_name`, but some windows have no name, or if it is no STRING."""
        for table in self.distinct:
            part = next((part for part in table.physical if part.name == WINDOW_NAME), None)
            if part is not None and part.type != STRING:
                hint = f"{WINDOW_NAME} STRING in CREATE TABLE {table.name}"
                raise OptionError(f"{WINDOW_NAME} of {table.name} is a STRING, not {part.type.flink}", hint=hint)
            if part is not None and not every:
                raise OptionError(
                    f"table {table.name} of {LATE_OUTPUT.key} has a column {WINDOW_NAME}, which some windows lack",
                    span=plan.span,
                    hint="a query for each, with a table for its late rows",
                )

    def refuse_missing_columns(self, scans: Sequence[TableSourceScan]) -> None:
        """Raise OptionError if a table has a column that none of its sources can fill."""
        for table in self.distinct:
            names = [name for name, of_name in self.tables if of_name == table]
            read = [scan for scan in scans if scan.source.name in names]
            known = [part.name for scan in read for part in scan.source.columns]
            for part in table.physical:
                if part.name in (*known, *self.of_windows, TABLE_NAME):
                    continue
                lacking = f"{' and '.join(names)} {'lack' if len(names) > 1 else 'lacks'}"
                raise OptionError(
                    f"table {table.name} of {LATE_OUTPUT.key} has a column {part.name}, which {lacking}",
                    span=read[0].span,
                    hint=did_you_mean(part.name, (*known, *self.of_windows, TABLE_NAME), otherwise="columns: "),
                )

    def passed_on(self, node: Node) -> Node:
        """The same rows, which have MARKS, with LATE."""
        match node:
            case WatermarkAssigner():
                return self.passed_on(Calc(node, ()))
            case Calc(WatermarkAssigner() as assigner, items, conditions):
                of_row = self._of_source(_scan(assigner).source)
                items = (*(items or _all(node)), Item(LATE, of_row))
                return Calc(_reading(assigner, of_row), items, conditions)
            case ProcessingTimeAssigner():
                return Calc(node, (*_all(node), Item(LATE, self._of_source(None))))
            case Calc(source, items):
                return replace(node, input=self.passed_on(source), items=(*items, _LATE) if items else ())
            case StreamSliceMerge(Exchange(StreamSlices() as slices, keys)):
                self._refuse_instants(node)
                made = replace(slices.told(late=True), input=self._of_slices(slices))
                return replace(node.told(late=True), input=Exchange(made, keys))
            case StreamOperator():
                return node.told(late=True).over(self.passed_on)
            case StreamUnion(sides):
                return StreamUnion(tuple(self._in_order(side) for side in sides))
            case nodes.LookupJoin(left):
                return replace(node, left=self.passed_on(left))
        assert isinstance(node, PASSING), node.label()
        return node.over(self.passed_on)

    def _refuse_instants(self, node: StreamSliceMerge) -> None:
        """Raise OptionError if a table stores instants, but the times of the windows have no zone."""
        for table in self.distinct if not (node.zone or node.context.proctime) else ():
            if any(part.name == "window_time" and part.type == TIMESTAMP_LTZ for part in table.physical):
                hint = f"window_time TIMESTAMP(3) in CREATE TABLE {table.name}"
                raise OptionError(f"window_time of {table.name} is TIMESTAMP(3) here", span=node.span, hint=hint)

    def _in_order(self, side: Node) -> Node:
        """A side of a union, whose columns correspond by position: LATE last."""
        made = self.passed_on(side)
        return made if isinstance(made, Calc) and made.items else Calc(made, (*_all(side), _LATE))

    def _of_slices(self, slices: StreamSlices) -> Node:
        """The rows of a window aggregate. Of the copies that grouping sets make of a row, one has LATE: all are late,
        or none. For sessions each has, because these differ by key.
        """
        rows = self.passed_on(slices.input)
        if not (isinstance(rows, Calc) and isinstance(rows.input, nodes.Expand)) or isinstance(slices.window, Session):
            return rows
        one = f"CASE WHEN {{id}} = {rows.input.sets[-1]} THEN {{late}} END"
        late = template(one, {"id": column(rows.input.id), "late": column(LATE)})
        return replace(rows, items=tuple(Item(LATE, late) if item.name == LATE else item for item in rows.items))

    def _of_source(self, source: Table | None) -> Scalar:
        """LATE of the rows of a source; NULL if it has no table for them."""
        holes: dict[str, Scalar] = {}
        own = dict(self.tables).get(source.name) if source is not None else None
        kinds = {
            table: ", ".join(f"{quoted(part.name)}: {part.type.ddl}" for part in table.physical)
            for table in self.distinct
        }
        if own is None or source is None:
            of_tables = ", ".join(f"{quoted(table.name)}: STRUCT<{kinds[table]}>" for table in self.distinct)
            return text(f"CAST(NULL AS STRUCT<{of_tables}>)")
        values = []
        for table in self.distinct:
            of_table = f"CAST(NULL AS STRUCT<{kinds[table]}>)"
            if table == own:
                of_table = f"struct({', '.join(self._field(part, source, holes) for part in table.physical)})"
            values.append(f"{of_table} AS {quoted(table.name)}")
        return template(f"CASE WHEN `{CONTROL}` IS NULL THEN struct({', '.join(values)}) END", holes)

    def _field(self, part: Field, source: Table, holes: dict[str, Scalar]) -> str:
        """A column of a late table, of a row of the source. The operator fills the window's columns."""
        found = next((each for each in source.columns if each.name == part.name), None)
        value = "NULL"
        if part.name not in self.of_windows and found is not None:
            hole = f"c{len(holes)}"
            holes[hole] = found.scalar or column(found.name, found.type)
            value = f"{{{hole}}}"
        elif part.name == TABLE_NAME:
            value = "'" + source.name.replace("\\", "\\\\").replace("'", "\\'") + "'"
        return f"CAST({value} AS {part.type.ddl}) AS {quoted(part.name)}"


_LATE = Item(LATE, column(LATE))


def _all(node: Node) -> tuple[Item, ...]:
    """The columns of an operator, with MARKS last."""
    own = (Item(part.name, column(part.name, part.type)) for part in node.schema if part.name not in (*MARKS, LATE))
    return (*own, *mark_items(node))


def _scan(assigner: WatermarkAssigner) -> TableSourceScan:
    scan = assigner.input.input if isinstance(assigner.input, Calc) else assigner.input
    assert isinstance(scan, TableSourceScan), scan.label()
    return scan


def _reading(assigner: WatermarkAssigner, late: Scalar) -> WatermarkAssigner:
    """The same operator, whose source also reads the columns of `late`."""
    scan = _scan(assigner)
    fields = tuple(part for part in scan.source.physical if part.name in late.columns or part in scan.fields)
    hidden = tuple(part for part in scan.fields if part not in scan.source.physical)
    scan = replace(scan, fields=(*fields, *hidden))
    return replace(assigner, input=replace(assigner.input, input=scan) if isinstance(assigner.input, Calc) else scan)

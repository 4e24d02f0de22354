"""Compiles statements: binds, plans and lowers them. The INSERTs of a set share common parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from tvfsql.api.compiled import Compiled
from tvfsql.bind.flink.beyond import note_clause
from tvfsql.bind.flink.zone import in_local_zone
from tvfsql.bind.query import QueryBinder
from tvfsql.bind.statements.insert import bind_insert
from tvfsql.bind.windows.gaps import refuse_unfilled
from tvfsql.catalog import Catalog, Table
from tvfsql.catalog.connectors import Managed
from tvfsql.errors import Hint, OptionError, OtherMode, Span, TvfSqlError, UnsupportedError
from tvfsql.options import Options
from tvfsql.options.known import INTERVAL, REAL_TIME, REUSE, RUNTIME_MODE, ZONE
from tvfsql.physical import lower
from tvfsql.physical.refused.kept_values import refuse_arguments
from tvfsql.physical.refused.real_time import refuse_in_real_time
from tvfsql.physical.row_operators import StreamKeepRow
from tvfsql.physical.streams.firing import firing_of, refuse_idle_emit, with_emit
from tvfsql.physical.streams.micro_batch import goes_by_micro_batch
from tvfsql.plan.aggregate.call import mergeable
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.analysis.several_windows import Together, over_several_windows
from tvfsql.plan.analysis.sharing import (
    Shared,
    as_tree,
    common_trunks,
    over_shared,
    reads_written,
    share,
    told_once,
    trunks,
)
from tvfsql.plan.node import Node, functions_in
from tvfsql.plan.nodes import Aggregate, Filter, Project, Scan, SetOperation
from tvfsql.plan.stream import Firing
from tvfsql.plan.values.user_function import UserFunction
from tvfsql.plan.window_nodes import WindowTableFunction
from tvfsql.planner import Planner
from tvfsql.rules import PHASES
from tvfsql.rules.windows.two_phase import is_its_only_slice
from tvfsql.syntax import ast, statements

ONE_PASS = "aggregate_windows_in_one_pass"


def compile_statement(
    statement: ast.Query | statements.Insert, source: str, catalog: Catalog, mode: str, options: Options
) -> Compiled:
    """Bind, plan, lower and emit one statement of the script `source`. Raises TvfSqlError."""
    with _placed(statement.span, source):
        try:
            return _bound(statement, catalog, mode, options).compiled(source)
        except UnsupportedError as error:
            if isinstance(error.advice, OtherMode):
                error.advice = _advice_that_works(
                    error.advice, lambda other: _bound(statement, catalog, other, options).compiled(source)
                )
            raise


def _advice_that_works(advice: OtherMode, compiled: Callable[[str], object]) -> Hint | None:
    """The other mode, with what that mode needs; without it if that mode refuses the query too."""
    try:
        compiled(advice.mode)
    except UnsupportedError as refusal:
        if not isinstance(refusal.advice, OtherMode):
            return advice.in_this_mode or refusal.advice
        needed = refusal.advice.in_this_mode
        if advice.mode == "batch" and needed:
            return replace(advice, detail=f" with {needed}{advice.detail}")
        return advice.in_this_mode or needed or None
    except TvfSqlError:
        return advice
    return advice


def compile_set(
    inserts: Sequence[statements.Insert], source: str, catalog: Catalog, mode: str, options: Options
) -> tuple[Compiled, ...]:
    """Compile the INSERTs of a set, which share common parts, in the same way. Raises TvfSqlError."""
    bound = []
    for insert in inserts:
        with _placed(insert.span, source):
            bound.append(_bound(insert, catalog, mode, options))
    made: dict[int, Compiled] = {}
    if options[REUSE]:
        batch = [each for each in bound if each.mode != "streaming"]
        for each, plan in zip(batch, _shared_in_batch(batch, source), strict=True):
            each.logical = plan
        numbers = {node.number for each in batch for node in each.logical.walk() if isinstance(node, Shared)}
        alike: dict[Firing | None, list[_Bound]] = {}  # one stream emits at the same times for all that share it
        for each in bound:
            if each.mode == "streaming":
                alike.setdefault(firing_of(each.options), []).append(each)
        for streams in alike.values():
            made |= _of_one_stream(streams, source, len(numbers) + len(made) + 1)
            rest = [each for each in streams if id(each) not in made]
            made |= _of_several_windows(rest, source, len(numbers) + len(made) + 1)
    compiled = [made.get(id(each)) or each.compiled(source) for each in bound]
    _refuse_shared_folders(compiled)
    physical = told_once([each.physical for each in compiled])
    return tuple(replace(each, physical=plan) for each, plan in zip(compiled, physical, strict=True))


def _refuse_shared_folders(inserts: Sequence[Compiled]) -> None:
    """Raise UnsupportedError if two streams of a set write to one folder, because Spark keeps one file log per
    folder.
    """
    written: set[str] = set()
    for insert in inserts:
        path = insert.sink.connector.path if insert.sink and insert.sink.connector else None
        shared = insert.sink is not None and isinstance(insert.sink.connector, Managed)
        if insert.mode == "streaming" and path is not None and not shared:
            if path in written:
                raise UnsupportedError(
                    f"two streams of a statement set cannot both write to {path}",
                    span=insert.ast.table.span if isinstance(insert.ast, statements.Insert) else insert.ast.span,
                    hint="one INSERT with UNION ALL",
                )
            written.add(path)


def _of_one_stream(bound: Sequence[_Bound], source: str, number: int) -> dict[int, Compiled]:
    """The INSERTs, by identity, that share a stream and compute their rows from its micro-batches.

    Their operators above the stream must keep no state, which planning shows. `number` is that of the first stream.
    """
    made: dict[int, Compiled] = {}
    for part in common_trunks([each.logical for each in bound]):
        together: dict[int, Compiled] = {}
        filled: set[str] = set()  # a second INSERT into one of these would pass for a repeated micro-batch
        for each in bound:
            if id(each) in made or each.by_number in filled:
                continue
            if compiled := each.over_micro_batches(part, number, source):
                together[id(each)] = compiled
                filled |= {each.by_number} - {""}
        if len(together) > 1:
            made |= together
            number += 1
    return made


def _shared_in_batch(bound: Sequence[_Bound], source: str) -> list[Node]:
    """The plans of INSERTs, with what several of them have in common above a Shared."""
    plans = [each.logical for each in bound]
    for together in over_several_windows(plans, _stays_apart):
        if reads_written(together.common, plans) or not _is_worth_keeping(together, bound[0].catalog):
            continue
        tried = [together.plans.get(place, plan) for place, plan in enumerate(plans)]
        shared = share(tried)
        try:
            compiled = [replace(bound[place], logical=shared[place]).compiled(source) for place in together.plans]
        except UnsupportedError:  # together they are refused, but may be accepted each by itself
            continue
        if all(_is_made_once(together, each) for each in compiled):
            plans = tried
    return share(plans)


def _of_several_windows(bound: Sequence[_Bound], source: str, number: int) -> dict[int, Compiled]:
    """The INSERTs, by identity, that aggregate the same rows in several ways, if one operator computes all."""
    made: dict[int, Compiled] = {}
    for together in over_several_windows([each.logical for each in bound]):
        over = {place: replace(bound[place], logical=plan) for place, plan in together.plans.items()}
        if len(together.windows) == 1 and any(firing_of(each.options) for each in over.values()):
            continue  # an INSERT would write a result again when one of another INSERT changes
        compiled = _of_one_stream([*over.values()], source, number + len(made))
        if len(compiled) == len(over) and all(_is_made_once(together, each) for each in compiled.values()):
            made |= {id(bound[place]): compiled[id(each)] for place, each in over.items()}
    return made


def _stays_apart(call: AggCall) -> bool:
    """Whether a call in batch would make others of the same rows slower."""
    return call.distinct or not mergeable(call)


def _is_worth_keeping(together: Together, catalog: Catalog) -> bool:
    """Whether to keep the common rows in batch may cost less than to compute them for each INSERT. To read some columns
    of Parquet twice costs little. Spark makes windows that are their only slice without Python. The rows of one window
    are kept as they are, and there may be more of them than of the table."""
    if _reads_columns(together.common, catalog):
        return False
    if len(together.windows) > 1:
        return not all(map(is_its_only_slice, together.windows))
    return together.windows[0].copies == 1 and not any(map(_stays_apart, together.calls))


def _reads_columns(node: Node, catalog: Catalog) -> bool:
    """Whether the rows are only read, computed and filtered, from tables of which a reader takes single columns."""
    parts = [part for part in node.walk() if not isinstance(part, Aggregate | WindowTableFunction | SetOperation)]
    tables = [catalog.get(part.table) for part in parts if isinstance(part, Scan)]
    plain = all(isinstance(part, Scan | Project | Filter) for part in parts)
    return plain and all(isinstance(one, Table) and one.connector and one.connector.reads_columns for one in tables)


def _is_made_once(together: Together, compiled: Compiled) -> bool:
    """Whether an INSERT reads what one operator computes for all of them."""
    return len(together.windows) == 1 or any(step.rule == ONE_PASS for step in compiled.steps)


@dataclass
class _Bound:
    """A bound statement."""

    statement: ast.Query | statements.Insert
    logical: Node
    table: Table | None
    catalog: Catalog
    mode: str
    options: Options
    endless: str | None

    @property
    def by_number(self) -> str:
        return self.table.connector.by_number if self.table and self.table.connector else ""

    def over_micro_batches(self, part: Node, number: int, source: str) -> Compiled | None:
        """Compile the statement over a stream that it shares with others; None if it cannot share it."""
        target = self.table.connector if self.table else None
        if part not in trunks(self.logical) or target is None or not target.takes_micro_batches:
            return None
        try:
            made = replace(self, logical=over_shared(self.logical, part, number)).compiled(source)
        except UnsupportedError:  # it is refused as part of one stream, but may be accepted by itself
            return None
        if any(map(_is_final_last_row, made.physical.walk())):
            alone = self.compiled(source)
            if sum(map(_is_final_last_row, alone.physical.walk())) < sum(map(_is_final_last_row, made.physical.walk())):
                return None  # alone it has last rows at once
        return made if goes_by_micro_batch(made.physical) else None

    def compiled(self, source: str) -> Compiled:
        span = self.statement.span
        planner = Planner(PHASES, self.options)
        with _placed(span, source):
            if self.options.streaming:
                refuse_arguments(self.logical)
            optimized = planner.plan(self.logical)
            physical = as_tree(lower(optimized, self.catalog, self.options))
            if (emit := _emit(self.statement)) and self.options.streaming:
                refuse_idle_emit(physical, emit)
            if self.endless and self.options.streaming and self.options[REAL_TIME]:
                refuse_in_real_time(physical, self.table, self.options[INTERVAL])
        return Compiled(
            sql=source[span.start : span.end],
            ast=self.statement,
            logical=self.logical,
            steps=tuple(planner.steps),
            optimized=optimized,
            physical=physical,
            sink=self.table,
            mode=self.mode,
            unbounded=self.endless,
            options=self.options.of_streams,
            zone=self.options[ZONE],
            spark=self.options.spark,
        )


def _is_final_last_row(node: Node) -> bool:
    return isinstance(node, StreamKeepRow) and node.order.descending


def _bound(statement: ast.Query | statements.Insert, catalog: Catalog, mode: str, options: Options) -> _Bound:
    table: Table | None = None
    options = options.with_value(RUNTIME_MODE.key, mode)
    with in_local_zone(options):
        if isinstance(statement, statements.Insert):
            logical: Node = bind_insert(statement, catalog, options)
        else:
            logical = QueryBinder(catalog, options).bind(statement).node
    if mode == "streaming" and not any(isinstance(node, Scan) for node in logical.walk()):
        return _bound(statement, catalog, "batch", options)  # it reads no table, like INSERT INTO t VALUES
    if isinstance(statement, statements.Insert):
        found = catalog.get(statement.table.text)
        table = found if isinstance(found, Table) else None
    _refuse_namesakes(logical)
    refuse_unfilled(logical)
    endless = _unbounded(logical, catalog)
    if mode == "automatic":
        mode = "streaming" if endless else "batch"
        if endless:
            return _bound(statement, catalog, mode, options)  # which reads the changes of tables, not their rows
        options = options.with_value(RUNTIME_MODE.key, mode)
    emit = _emit(statement)
    if emit is not None:
        note_clause("EMIT", emit.span)
    return _Bound(statement, logical, table, catalog, mode, with_emit(options, emit), endless)


def _emit(statement: ast.Query | statements.Insert) -> ast.Emit | None:
    return (statement.query if isinstance(statement, statements.Insert) else statement).emit


@contextmanager
def _placed(statement: Span, source: str) -> Iterator[None]:
    """Give errors about a whole statement the place of its first word. Errors about options get no place."""
    try:
        yield
    except TvfSqlError as error:
        if error.span is None and not isinstance(error, OptionError):
            first = re.compile(r"\w+|.").match(source, statement.start)
            error.span = Span(*first.span()) if first else statement
        raise


def _refuse_namesakes(plan: Node) -> None:
    """Raise UnsupportedError for two functions with the same name: a table may use one that was dropped since."""
    known: dict[str, UserFunction] = {}
    for function in functions_in(plan):
        other = known.setdefault(function.name.lower(), function)
        if other != function:
            message = f"two functions are named {function.name}: {other.path} and {function.path}"
            raise UnsupportedError(message, hint="DROP the table that uses the old one, and CREATE it again")


def _unbounded(plan: Node, catalog: Catalog) -> str | None:
    """The name of the plan's first unbounded table; None if all are bounded."""
    for node in plan.walk():
        table = catalog.find(node.table) if isinstance(node, Scan) else None
        if isinstance(table, Table) and table.connector is not None and table.connector.endless:
            return table.name
    return None

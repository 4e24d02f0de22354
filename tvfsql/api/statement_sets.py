"""Compiles the INSERTs of a statement set, which share common parts: on streams in one query, in batch as rows that are
kept. Source: docs/sql/statements.md#statement-sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tvfsql.api.compiled import Compiled
from tvfsql.api.compiling import Bound, bind, with_place
from tvfsql.catalog import Catalog, Table
from tvfsql.catalog.connectors import Managed
from tvfsql.errors import UnsupportedError
from tvfsql.options import Options
from tvfsql.options.known import REUSE
from tvfsql.physical.row_operators import StreamKeepRow
from tvfsql.physical.streams.firing import firing_of
from tvfsql.physical.streams.micro_batch import goes_by_micro_batch
from tvfsql.plan.aggregate.call import mergeable
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.analysis.several_windows import Together, over_several_windows
from tvfsql.plan.analysis.sharing import (
    Shared,
    common_trunks,
    over_shared,
    share,
    tables_read,
    tables_written,
    told_once,
    trunks,
)
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Aggregate, Filter, Project, Scan, SetOperation
from tvfsql.plan.stream import Firing
from tvfsql.plan.window_nodes import WindowTableFunction
from tvfsql.rules.windows.two_phase import is_its_only_slice
from tvfsql.syntax import statements

ONE_PASS = "aggregate_windows_in_one_pass"


def compile_set(
    inserts: Sequence[statements.Insert], source: str, catalog: Catalog, mode: str, options: Options
) -> tuple[Compiled, ...]:
    """Compile the INSERTs of a set, which share common parts, in the same way. Raises TvfSqlError."""
    bound = []
    for insert in inserts:
        with with_place(insert.span, source):
            bound.append(bind(insert, catalog, mode, options))
    made: dict[int, Compiled] = {}
    if options[REUSE]:
        batch = [each for each in bound if each.mode != "streaming"]
        for each, plan in zip(batch, _shared_in_batch(batch, source), strict=True):
            each.logical = plan
        numbers = {node.number for each in batch for node in each.logical.walk() if isinstance(node, Shared)}
        alike: dict[Firing | None, list[Bound]] = {}  # one stream emits at the same times for all that share it
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


def _of_one_stream(bound: Sequence[Bound], source: str, number: int) -> dict[int, Compiled]:
    """The INSERTs, by identity, that share a stream and compute their rows from its micro-batches.

    Their operators above the stream must keep no state, which planning shows. `number` is that of the first stream.
    """
    made: dict[int, Compiled] = {}
    for part in common_trunks([each.logical for each in bound]):
        together: dict[int, Compiled] = {}
        filled: set[str] = set()  # a second INSERT into one of these would pass for a repeated micro-batch
        for each in bound:
            if id(each) in made or _by_number(each) in filled:
                continue
            if compiled := _over_micro_batches(each, part, number, source):
                together[id(each)] = compiled
                filled |= {_by_number(each)} - {""}
        if len(together) > 1:
            made |= together
            number += 1
    return made


def _shared_in_batch(bound: Sequence[Bound], source: str) -> list[Node]:
    """The plans of INSERTs, with what several of them have in common above a Shared."""
    plans = [each.logical for each in bound]
    for together in over_several_windows(plans, _stays_apart):
        if tables_read(together.common) & tables_written(plans) or not _is_worth_keeping(together, bound[0].catalog):
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


def _of_several_windows(bound: Sequence[Bound], source: str, number: int) -> dict[int, Compiled]:
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


def _over_micro_batches(each: Bound, part: Node, number: int, source: str) -> Compiled | None:
    """Compile an INSERT over a stream that it shares with others; None if it cannot share it."""
    target = each.table.connector if each.table else None
    if part not in trunks(each.logical) or target is None or not target.takes_micro_batches:
        return None
    try:
        made = replace(each, logical=over_shared(each.logical, part, number)).compiled(source)
    except UnsupportedError:  # it is refused as part of one stream, but may be accepted by itself
        return None
    if any(map(_is_final_last_row, made.physical.walk())):
        alone = each.compiled(source)
        if sum(map(_is_final_last_row, alone.physical.walk())) < sum(map(_is_final_last_row, made.physical.walk())):
            return None  # alone it has last rows at once
    return made if goes_by_micro_batch(made.physical) else None


def _by_number(each: Bound) -> str:
    return each.table.connector.by_number if each.table and each.table.connector else ""


def _is_final_last_row(node: Node) -> bool:
    return isinstance(node, StreamKeepRow) and node.order.descending

"""A physical plan becomes a Python module: `query(spark)` gives the rows, `insert(spark)` writes them.

The text is what runs. Names and literals of the SQL reach it only through `literal`, or in comments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tvfsql.catalog import Table
from tvfsql.emit.emitter import emit
from tvfsql.emit.functions import declare, imported
from tvfsql.emit.script import PARAMETERS, Chain, Script, module
from tvfsql.emit.sinks import insert, late_output, stream_insert, stream_inserts, take
from tvfsql.physical.operators import LateOutput, TableSourceScan
from tvfsql.plan.function import UserFunction
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Sink
from tvfsql.plan.sharing import by_itself, shared_by

Query = tuple[str, Node, Table | None]  # its SQL, its physical plan, the table that it fills


def program(queries: Sequence[Query]) -> str:
    """The module that runs queries.

    On streams `insert(spark)` gives the DataStreamWriter, for the caller to start. Where late rows are kept, rows of
    `query(spark)` have one column more, and `late_output(rest)` gives what tells them apart in each micro-batch.
    Rows that several queries share are those of `shared(spark)`. In batch they are kept when the first query asks;
    `inserts(spark)` runs all INSERTs, and then lets them go. On streams `query(shared_rows)` takes a micro-batch of
    them, and `insert(spark)` writes into all tables.
    """
    plans = [plan for _, plan, _ in queries]
    shared = {plan: f"shared{f'_{i + 1}' if i else ''}" for i, plan in enumerate(shared_by(plans))}
    modules = imported([*plans, *shared])
    made = _Module(modules, {plan: f"{name}(spark)" for plan, name in shared.items()})
    made.names |= {*PARAMETERS, *modules.values(), *shared.values()}
    for plan, name in shared.items():
        made.shared_rows(name, plan, [other for other in plans if plan in shared_by([other])])
    numbered = [(f"_{i + 1}" if i else "", *query) for i, query in enumerate(queries)]
    for number, _, plan, table in numbered:
        of = next(iter(shared_by([plan])), None)
        if of is None or not _is_stream(plan):
            made.query(number, plan, table)
            continue
        together = [(n, other, to) for n, _, other, to in numbered if of in shared_by([other])]
        if together[0][0] == number:
            made.stream(of, together)
    if made.inserts:
        made.functions.append(_inserts(made.inserts, made.kept))
        made.main.append("inserts(spark)")
    comment = [line for i, (sql, _, _) in enumerate(queries) for line in [""] * bool(i) + sql.splitlines()]
    return module(comment, made.imports, made.functions, made.main)


@dataclass
class _Module:
    """The functions that have been written, and what runs where the module is run by itself. `modules` has the names of
    the user's functions, `shared` the rows of shared plans."""

    modules: Mapping[UserFunction, str]
    shared: Mapping[Node, str]
    names: set[str] = field(default_factory=set)
    imports: set[tuple[str, str]] = field(default_factory=set)
    functions: list[str] = field(default_factory=list)
    main: list[str] = field(default_factory=lambda: ["spark = SparkSession.builder.getOrCreate()"])
    inserts: list[str] = field(default_factory=list)  # in batch, where some rows are shared

    @property
    def kept(self) -> list[str]:
        """The shared rows that are kept: those in batch."""
        return [rows for plan, rows in self.shared.items() if not _is_stream(plan)]

    def shared_rows(self, name: str, plan: Node, readers: Iterable[Node]) -> None:
        """`shared(spark)`: rows that are computed once; in batch they are kept until they are let go."""
        script = self._script()
        stream = _is_stream(plan)
        for part in (plan, *(readers if stream else ())):
            declare(self.modules, by_itself(part), script)
        rows = emit(plan, script)
        if not stream:
            script.need("functools", "cache")
            rows = script.assign(rows, Chain(rows).then("persist"))
        script.give_back(rows)
        self._add(script, *([] if stream else ["@cache"]), f"def {name}(spark: SparkSession) -> DataFrame:")

    def query(self, number: str, plan: Node, table: Table | None) -> None:
        """`query(spark)`, and `insert(spark)` for an INSERT."""
        script = self._script()
        declare(self.modules, by_itself(plan), script)
        rows = plan.input if isinstance(plan, Sink) else plan
        script.give_back(emit(rows, script))
        self._add(script, f"def query{number}(spark: SparkSession) -> DataFrame:")
        stream = _is_stream(plan)
        if isinstance(rows, LateOutput):
            self.functions += late_output(number, rows.table, script)
        if isinstance(plan, Sink):
            assert table is not None
            self.functions += (stream_insert if stream else insert)(number, plan, table, script)
            if self.kept and not stream:
                self.inserts.append(f"insert{number}(spark)")
            else:
                self.main.append(f"insert{number}(spark){_start(number) if stream else ''}")
        elif isinstance(rows, LateOutput):
            show = f"late_output{number}(lambda rows, _: rows.show(truncate=False))"
            self.main.append(f"query{number}(spark).writeStream.foreachBatch({show}){_start(number)}")
        elif stream:
            self.main.append(f'query{number}(spark).writeStream.format("console"){_start(number)}')
        else:
            self.main.append(f"query{number}(spark).show(truncate=False)")
        self.imports |= script.imports

    def stream(self, of: Node, together: Sequence[tuple[str, Node, Table | None]]) -> None:
        """`query(shared_rows)` for each INSERT over the micro-batches of one stream, and `insert(spark)` for all."""
        first = together[0][0]
        for number, plan, table in together:
            assert isinstance(plan, Sink) and table is not None
            script = Script(names={*self.names, "shared_rows"}, shared={of: "shared_rows"})
            script.give_back(emit(plan.input, script))
            self._add(script, f"def query{number}(shared_rows: DataFrame) -> DataFrame:")
            self.functions.append(take(f"write{number}", table, script))
            self.imports |= script.imports
        script = self._script()
        late = of.table if isinstance(of, LateOutput) else None
        self.functions += stream_inserts([number for number, _, _ in together], self.shared[of], late, script)
        self.imports |= script.imports
        self.main.append(f"insert{first}(spark){_start(first)}")

    def _script(self) -> Script:
        return Script(names={*self.names}, shared=self.shared)

    def _add(self, script: Script, *head: str) -> None:
        self.functions.append("\n".join([*head, *script.lines]))
        self.imports |= script.imports


def _is_stream(plan: Node) -> bool:
    parts = (node for part in (plan, *shared_by([plan])) for node in part.walk())
    return any(isinstance(node, TableSourceScan) and node.streaming for node in parts)


def _start(number: str) -> str:
    """How a stream is started where the module is run by itself: over all that its sources have now."""
    return f'.option("checkpointLocation", "checkpoint{number}").trigger(availableNow=True).start().awaitTermination()'


def _inserts(calls: Sequence[str], shared: Iterable[str]) -> str:
    """`inserts(spark)`: all INSERTs, one after the other."""
    lines = ["def inserts(spark: SparkSession) -> None:", "    try:", *(f"        {call}" for call in calls)]
    return "\n".join([*lines, "    finally:", *(f"        {rows}.unpersist()" for rows in shared)])

"""A physical plan as a Python module: `query(spark)` returns the rows, `insert(spark)` writes them.

This text is what runs. Names and literals of the SQL reach it only through `literal`, or in comments.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tvfsql import runtime
from tvfsql.catalog import Table
from tvfsql.emit.jobs import (
    CHECKPOINT,
    OF_LETTERS,
    first_rows,
    imports,
    is_stream,
    job_arguments,
    job_text,
    letter_arguments,
    letter_scans,
)
from tvfsql.emit.operators import emit
from tvfsql.emit.python_module import PARAMETERS, Call, Chain, PythonModule, literal, module_text, option_value
from tvfsql.emit.tables.sinks import (
    dead_letters,
    has_instants,
    insert,
    late_output,
    stream_insert,
    stream_inserts,
    take,
    with_op,
    zone_argument,
)
from tvfsql.emit.tables.sources import STREAM
from tvfsql.options import StreamOptions
from tvfsql.physical.operators import LateOutput
from tvfsql.plan import window
from tvfsql.plan.aggregate.call import whole
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.analysis.sharing import by_itself, shared_by
from tvfsql.plan.node import Node, functions_in, instances
from tvfsql.plan.nodes import Sink
from tvfsql.plan.values.scalar import free_name
from tvfsql.plan.values.user_function import UserFunction
from tvfsql.runtime import stream
from tvfsql.secrets import OF_ENVIRONMENT


@dataclass(frozen=True)
class Query:
    """A query of a program: its SQL, its physical plan, the table that it fills, and the number of its statement in the
    script. Streams of one statement start together. `spark`: Spark's settings that are set before it. `zone`: the
    `table.local-time-zone` in which its instants are shown."""

    sql: str
    plan: Node
    table: Table | None = None
    statement: int = 0
    options: StreamOptions = field(default_factory=StreamOptions)
    spark: Mapping[str, str] = field(default_factory=dict)
    zone: str = "UTC"


def program(queries: Sequence[Query], checkpoint: str = CHECKPOINT) -> str:
    """The module that runs queries. `checkpoint`: the folder for the state of its streams, where it is run by itself.

    On streams `insert(spark)` returns the DataStreamWriter that `run_streams` starts. With a late output, rows of
    `query(spark)` have one more column, and `late_output(rest)` returns a function that writes the late rows of each
    micro-batch.

    `shared(spark)` has the rows that several queries share. In batch they are cached at the first use; `inserts(spark)`
    runs all INSERTs and then releases them. On streams `query(shared_rows)` gets a micro-batch of them, and
    `insert(spark)` writes into all tables.
    """
    made = _made(queries, checkpoint)
    comment = [line for i, query in enumerate(queries) for line in [""] * bool(i) + query.sql.splitlines()]
    return module_text(comment, made.imports | made.main.imports, made.functions, made.main.lines)


def observed_operators(queries: Sequence[Query]) -> dict[str, Node]:
    """The stateful operators of a stream, by the names under which its progress reports their metrics."""
    return _made(queries, CHECKPOINT).observed


def _made(queries: Sequence[Query], checkpoint: str) -> _Module:
    plans = [query.plan for query in queries]
    shared = {plan: f"shared{f'_{i + 1}' if i else ''}" for i, plan in enumerate(shared_by(plans))}
    modules = imported([*plans, *shared])
    made = _Module(modules, {plan: f"{name}(spark)" for plan, name in shared.items()})
    made.main = _Main(checkpoint, {key: value for query in queries for key, value in query.spark.items()})
    made.names |= {*PARAMETERS, *modules.values(), *shared.values()}
    for plan, name in shared.items():
        made.shared_rows(name, plan, [other for other in plans if plan in shared_by([other])])
    numbered = [(f"_{i + 1}" if i else "", query) for i, query in enumerate(queries)]
    for number, query in numbered:
        of = next(iter(shared_by([query.plan])), None)
        if of is None or not is_stream(query.plan):
            made.query(number, query)
            continue
        together = [(n, other) for n, other in numbered if of in shared_by([other.plan])]
        if together[0][0] == number:
            made.stream(of, together)
    if made.inserts:
        made.functions.append(_inserts(made.inserts, made.kept))
        made.main.add(queries[-1].statement, "inserts(spark)")
    return made


# the docstring of a stream's `query(spark)`, for code that embeds it without the rest
UNSTARTED = '''    """The rows of a stream, which `run_streams` starts.

    Started in another way it has no end of its input, which fires the last windows, no idle sources,
    and no processing-time triggers. Its checkpoint and Spark's state store (RocksDB) are then yours.
    """'''


@dataclass
class _Main:
    """The code that runs if the module is run as a script, by statement: first its batch code, then its streams."""

    checkpoint: str = CHECKPOINT
    spark: Mapping[str, str] = field(default_factory=dict)  # Spark's settings
    batch: dict[int, list[str]] = field(default_factory=dict)
    jobs: dict[int, list[tuple[str, Mapping[str, Any], bool, str]]] = field(default_factory=dict)

    def add(self, statement: int, line: str) -> None:
        self.batch.setdefault(statement, []).append(line)

    def start(self, build: str, *queries: Query, letters: str = "") -> None:
        """Start one stream that runs all the queries. `build` is the code that makes its writer; `letters` makes the
        writer of its dead letters, "" if it has none.
        """
        first = queries[0]
        plans, sinks = [query.plan for query in queries], [query.table for query in queries]
        arguments = job_arguments(plans, sinks, first.options)
        jobs = self.jobs.setdefault(first.statement, [])
        jobs.append((build, arguments, first.table is not None, ""))
        if letters:
            jobs.append((letters, letter_arguments(plans, first.options), first.table is not None, OF_LETTERS))

    @property
    def imports(self) -> set[tuple[str, str]]:
        jobs = [arguments for of in self.jobs.values() for _, arguments, *_ in of]
        from_environment = any(OF_ENVIRONMENT.search(value) for value in self.spark.values())
        needed = {("tvfsql.runtime", "from_environment")} if from_environment else set()
        return needed | (imports(jobs) if jobs else set())

    @property
    def session(self) -> str:
        """The expression that creates the session."""
        module = PythonModule()
        configs = (f".config({literal(key)}, {option_value(value, module)})" for key, value in self.spark.items())
        return f"SparkSession.builder{''.join(configs)}.getOrCreate()"

    @property
    def lines(self) -> list[str]:
        lines, number = [f"spark = {self.session}"], 0
        for statement in sorted({*self.batch, *self.jobs}):
            lines += self.batch.get(statement, ())
            texts = []
            for build, arguments, kept, suffix in self.jobs.get(statement, ()):
                number += not suffix  # dead letters have that of their stream
                texts.append(job_text(build, arguments, f"{self.checkpoint}/{number}{suffix}" if kept else None))
            lines += [f"run_streams(spark, {', '.join(texts)}, program=__file__)"] if texts else []
        return lines


@dataclass
class _Module:
    """The functions written so far, and the code that runs if the module is run as a script. `modules` has the names of
    users' functions, `shared` the names of the rows of shared plans.
    """

    modules: Mapping[UserFunction, str]
    shared: Mapping[Node, str]
    names: set[str] = field(default_factory=set)
    imports: set[tuple[str, str]] = field(default_factory=set)
    functions: list[str] = field(default_factory=list)
    main: _Main = field(default_factory=_Main)
    inserts: list[str] = field(default_factory=list)  # batch INSERTs, if some rows are shared
    beside: dict[str, str] = field(default_factory=dict)  # functions that others call
    observed: dict[str, Node] = field(default_factory=dict)  # stateful operators, by the name of their metrics

    @property
    def kept(self) -> list[str]:
        """The shared rows that are cached: those in batch."""
        return [rows for plan, rows in self.shared.items() if not is_stream(plan)]

    def shared_rows(self, name: str, plan: Node, readers: Iterable[Node]) -> None:
        """`shared(spark)`: rows that are computed once. In batch they are cached until they are released."""
        module = self._module()
        stream = is_stream(plan)
        for part in (plan, *(readers if stream else ())):
            declare(self.modules, by_itself(part), module)
        rows = emit(plan, module)
        if not stream:
            module.need("functools", "cache")
            rows = rows.then("persist")
        module.give_back(rows)
        head = f"def {name}(spark: SparkSession) -> DataFrame:"
        self._add(module, *([head, UNSTARTED] if stream else ["@cache", head]))

    def query(self, number: str, query: Query) -> None:
        """`query(spark)`, with `insert(spark)` for an INSERT."""
        plan, table = query.plan, query.table
        module = self._module(query.zone)
        declare(self.modules, by_itself(plan), module)
        stream = is_stream(plan)
        limit = first_rows(plan)
        rows = limit.input if limit is not None else plan.input if isinstance(plan, Sink) else plan
        module.give_back(emit(rows, module))
        self._add(module, f"def query{number}(spark: SparkSession) -> DataFrame:", *([UNSTARTED] if stream else []))
        if isinstance(rows, LateOutput):
            self.functions += late_output(number, rows.tables, module)
        if isinstance(plan, Sink):
            assert table is not None
            self.functions += (stream_insert if stream else insert)(number, plan, with_op(table, plan), module)
            if stream:
                self.main.start(f"insert{number}", query, letters=self.letters(number, query))
            elif self.kept:
                self.inserts.append(f"insert{number}(spark)")
            else:
                self.main.add(query.statement, f"insert{number}(spark)")
        elif stream:
            late = f", late_output{number}" if isinstance(rows, LateOutput) else ""
            build = f"{module.need(STREAM, 'printed')}(query{number}{late}{zone_argument(rows.schema, module)})"
            self.main.start(build, query, letters=self.letters(number, query))
        else:
            self.main.add(query.statement, _shown(f"query{number}(spark)", rows, module))
        self.imports |= module.imports

    def stream(self, of: Node, together: Sequence[tuple[str, Query]]) -> None:
        """`query(shared_rows)` for each INSERT over the micro-batches of one stream, and one `insert(spark)` for
        all.
        """
        first = together[0][0]
        for number, query in together:
            plan, table = query.plan, query.table
            assert isinstance(plan, Sink) and table is not None
            names = {*self.names, "shared_rows"}
            module = PythonModule(names=names, shared={of: "shared_rows"}, beside=self.beside, zone=query.zone)
            module.give_back(emit(plan.input, module))
            self._add(module, f"def query{number}(shared_rows: DataFrame) -> DataFrame:")
            self.functions.append(take(f"write{number}", with_op(table, plan), module))
            self.imports |= module.imports
        module = self._module(together[0][1].zone)
        late = of.tables if isinstance(of, LateOutput) else ()
        self.functions += stream_inserts([number for number, _ in together], self.shared[of], late, module)
        self.imports |= module.imports
        queries = [query for _, query in together]
        self.main.start(f"insert{first}", *queries, letters=self.letters(first, *queries))

    def letters(self, number: str, *queries: Query) -> str:
        """Write `dead_letters(spark)` if the stream can have some; return its name, "" otherwise."""
        scans = letter_scans([query.plan for query in queries])
        if not scans:
            return ""
        module = self._module(queries[0].zone)
        module.of_dead_letters = True
        self.functions += dead_letters(number, scans, module)
        self.imports |= module.imports
        return f"dead_letters{number}"

    def _module(self, zone: str = "UTC") -> PythonModule:
        return PythonModule(
            names={*self.names}, shared=self.shared, beside=self.beside, observed=self.observed, zone=zone
        )

    def _add(self, module: PythonModule, *head: str) -> None:
        self.functions += (text for text in self.beside.values() if text not in self.functions)
        self.functions.append("\n".join([*head, *module.lines]))
        self.imports |= module.imports


def _shown(rows: str, plan: Node, module: PythonModule) -> str:
    """The statement that prints the rows of a SELECT. Spark's own would print instants in the zone of its session."""
    if not has_instants(plan.schema):
        return f"{rows}.show(truncate=False)"
    return f"{module.need('tvfsql.runtime', 'show_rows')}({rows}, {literal(module.zone)})"


def _inserts(calls: Sequence[str], shared: Iterable[str]) -> str:
    """`inserts(spark)`: all INSERTs in order."""
    lines = ["def inserts(spark: SparkSession) -> None:", "    try:", *(f"        {call}" for call in calls)]
    return "\n".join([*lines, "    finally:", *(f"        {rows}.unpersist()" for rows in shared)])


# User functions in a program: imported by name, and registered with Spark.


OF_SPARK = ("DataFrame", "SparkSession", "Window", "DataStreamWriter", "Callable")
OF_PROGRAMS = re.compile(r"(shared|history|query|insert|write|(write_)?late\d*|late_output)(_\d+)?|inserts|cache")


def imported(plans: Iterable[Node]) -> dict[UserFunction, str]:
    """The name of each function in the program: its name in its module, unless that clashes."""
    names: dict[UserFunction, str] = {}
    for function in dict.fromkeys(found for plan in plans for found in called_by(plan)):
        same = next((name for known, name in names.items() if known.path == function.path), None)
        taken = set(names.values())
        names[function] = same or free_name(_apart(function.object), lambda name, taken=taken: name in taken)  # type: ignore[misc]
    return names


def called_by(plan: Node) -> Iterator[UserFunction]:
    """Yield the functions that a program of this plan calls: those in the plan, and those that aggregates over rows are
    computed with.
    """
    yield from functions_in(plan)
    for call in instances(plan, AggCall):
        yield from functions_in(whole(call))


def declare(names: Mapping[UserFunction, str], plan: Node, module: PythonModule) -> None:
    """Write the statements that register the functions of a plan with Spark."""
    for function in dict.fromkeys(called_by(plan)):
        if function.of_flink:
            known = module.need(function.module, names[function])
            register = Chain("spark.udf").then("register", literal(function.name), known)
            module.lines += module.statement(register)
            continue
        result = literal(function.result.spark)
        variable = _variable(function.plain, names[function], module)
        called = f"{module.need('tvfsql.runtime', 'OfRows')}({variable})" if function.of_rows else variable
        if function.deterministic:
            register = Chain("spark.udf").then("register", literal(function.name), called, result)
        else:
            made = Chain("F").then("udf", called, result).then("asNondeterministic")
            register = Chain("spark.udf").then("register", literal(function.name), made)
        module.lines += module.statement(register)


def _variable(function: UserFunction, name: str, module: PythonModule) -> str:
    """Return the variable that holds a function, called `name` in the program. Its assignment is written once."""
    if function not in module.functions:
        module.need(function.module, name if name == function.object else f"{function.object} as {name}")
        kind = module.need("tvfsql.runtime", "AggregateFunction" if function.aggregate else "ScalarFunction")
        wanted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", function.name).lower()
        variable = module.name(f"{wanted}_function" if wanted in module.names else wanted)
        module.functions[function] = variable
        arguments = (literal(function.name), name, literal(function.result.spark))
        module.assign(variable, Chain("", (Call(kind, arguments),)))
    return module.functions[function]


def _apart(name: str) -> str:
    """Return the name, with an underscore appended if the program or Python uses it already."""
    known = any(hasattr(module, name) for module in (runtime, stream, window, builtins))
    ours = known or name in (*PARAMETERS, *OF_SPARK) or OF_PROGRAMS.fullmatch(name)
    return f"{name}_" if ours else name

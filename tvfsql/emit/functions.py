"""User functions in a program: imported by name, and registered with Spark."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable, Iterator, Mapping

from tvfsql import runtime
from tvfsql.emit.python_module import PARAMETERS, Call, Chain, PythonModule, literal
from tvfsql.plan import window
from tvfsql.plan.aggregate.call import whole
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.node import Node, functions_in, instances
from tvfsql.plan.values.scalar import free_name
from tvfsql.plan.values.user_function import UserFunction
from tvfsql.runtime import stream

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

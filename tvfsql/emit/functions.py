"""The user's functions in a program: imported by their names, and registered with Spark."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable, Mapping

from tvfsql import runtime
from tvfsql.emit.script import PARAMETERS, Call, Chain, Script, literal
from tvfsql.plan import window
from tvfsql.plan.function import UserFunction, functions_in
from tvfsql.plan.node import Node
from tvfsql.plan.scalar import free_name
from tvfsql.runtime import stream

OF_SPARK = ("DataFrame", "SparkSession", "Window", "DataStreamWriter", "Callable")
OF_PROGRAMS = re.compile(r"(shared|query|insert|write|late|write_late|late_output)(_\d+)?|inserts|cache")


def imported(plans: Iterable[Node]) -> dict[UserFunction, str]:
    """What each function of the plans is called in the program: as in its module, if nothing else is called so."""
    names: dict[UserFunction, str] = {}
    for function in dict.fromkeys(found for plan in plans for found in functions_in(plan)):
        same = next((name for known, name in names.items() if known.path == function.path), None)
        taken = set(names.values())
        names[function] = same or free_name(_apart(function.object), lambda name, taken=taken: name in taken)  # type: ignore[misc]
    return names


def declare(names: Mapping[UserFunction, str], plan: Node, script: Script) -> None:
    """Write the statements that make the functions of a plan known to Spark."""
    for function in dict.fromkeys(functions_in(plan)):
        result = literal(function.result)
        variable = _variable(function.plain, names[function], script)
        called = f"{script.need('tvfsql.runtime', 'OfRows')}({variable})" if function.of_rows else variable
        if function.deterministic:
            register = Chain("spark.udf").then("register", literal(function.name), called, result)
        else:
            made = Chain("F").then("udf", called, result).then("asNondeterministic")
            register = Chain("spark.udf").then("register", literal(function.name), made)
        script.lines += script.statement(register)


def _variable(function: UserFunction, name: str, script: Script) -> str:
    """The variable that holds a function, called `name` in the program; it is written once."""
    if function not in script.functions:
        script.need(function.module, name if name == function.object else f"{function.object} as {name}")
        kind = script.need("tvfsql.runtime", "AggregateFunction" if function.aggregate else "ScalarFunction")
        wanted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", function.name).lower()
        variable = script.name(f"{wanted}_function" if wanted in script.names else wanted)
        script.functions[function] = variable
        arguments = (literal(function.name), name, literal(function.result))
        script.assign(variable, Chain("", (Call(kind, arguments),)))
    return script.functions[function]


def _apart(name: str) -> str:
    """The name, or with a stroke behind it, if the program or Python means something else by it."""
    known = any(hasattr(module, name) for module in (runtime, stream, window, builtins))
    ours = known or name in (*PARAMETERS, *OF_SPARK) or OF_PROGRAMS.fullmatch(name)
    return f"{name}_" if ours else name

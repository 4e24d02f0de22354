"""A Flink call in a tree, with the Spark SQL that computes it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp
from sqlglot.generator import Generator

from tvfsql.plan.values.types import UNKNOWN, SqlType
from tvfsql.plan.values.user_function import MANY, UserFunction

KIND = "kind"  # the key in `meta` of the type of a node, which will not change
SOURCE = "source"  # the key in `meta` of what a column is, however it is qualified
USER = "function"  # the key in `meta` under which a call has the function of the user or the runtime
RUNTIME = "tvfsql.runtime.functions"
OPERATORS = (exp.Binary, exp.Unary, exp.Connector, exp.Between, exp.In, exp.Is, exp.Interval, exp.Escape)


class Made(exp.Expression, exp.Func):
    """Spark SQL with {0}, {1}, ... in place of the arguments. `this` is the text, `kind` the type of its value."""

    arg_types = {"this": True, "expressions": False}
    is_var_len_args = True

    @property
    def template(self) -> str:
        return str(self.this)

    @property
    def kind(self) -> SqlType:
        return self.meta.get(KIND) or UNKNOWN


def made(template: str, arguments: Sequence[exp.Expr], kind: SqlType) -> Made:
    """Make the node for a template and its arguments."""
    new = Made(this=template, expressions=list(arguments))
    new.meta[KIND] = kind
    return new


def runtime_call(name: str, arguments: Sequence[exp.Expr], result: SqlType) -> exp.Anonymous:
    """A call of a runtime function, which emitted programs register with Spark."""
    call = exp.Anonymous(this=name, expressions=list(arguments))
    call.meta[USER] = UserFunction(name, RUNTIME, name, result, (0, MANY), of_flink=True)
    return call


def filled(call: Made, writer: Generator) -> str:
    """Return the text of a call. An argument gets parentheses, unless it is a plain operand or stands between
    commas.
    """
    arguments = [(writer.sql(argument), isinstance(argument, OPERATORS)) for argument in call.expressions]

    def put(hole: re.Match[str]) -> str:
        text, is_operator = arguments[int(hole[2])]
        set_off = hole[1] in ("(", ", ") and hole[3] in (")", ",")
        return hole[1] + (f"({text})" if is_operator and not set_off else text)

    return re.sub(r"((?:\(|, |))\{(\d+)\}(?=(.?))", put, call.template)

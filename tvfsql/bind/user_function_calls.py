"""Calls of user functions in sqlglot's trees: a call has its function in `meta`."""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar

from sqlglot import exp

from tvfsql.bind.flink.lowered_call import USER
from tvfsql.errors import Span, from_to, wrong_number
from tvfsql.plan.values.user_function import MANY, UserFunction
from tvfsql.syntax.places import span_of

USERS = "functions"  # the key in `meta` under which any other call has the names of all user functions
Tree = TypeVar("Tree")


def with_functions(statement: Tree, functions: Mapping[str, UserFunction]) -> Tree:
    """Attach these functions to their calls in a statement, or in a part of one."""
    if not functions:
        return statement
    if isinstance(statement, exp.Expr):
        tree = statement.copy()
        for node in tree.find_all(exp.Anonymous):
            if function := functions.get(str(node.name).lower()):
                node.meta[USER] = function
            else:
                node.meta[USERS] = tuple(function.name for function in functions.values())
        return tree
    if isinstance(statement, tuple):
        parts = tuple(with_functions(part, functions) for part in statement)
        return typing.cast(Tree, parts)
    if is_dataclass(statement) and not isinstance(statement, type):
        new = {field.name: with_functions(getattr(statement, field.name), functions) for field in fields(statement)}
        return typing.cast(Tree, replace(statement, **new))
    return statement


def check_arguments(function: UserFunction, arguments: Sequence[object], span: Span) -> None:
    """Raise BindError if a call of a user function has too few or too many arguments."""
    least, most = function.arguments
    given = len(arguments)
    if not least <= given <= most:
        taken = from_to(least, None if most == MANY else most)
        raise wrong_number(function.name, taken, given, least if given < least else most, span)


def user_of(node: exp.Expr) -> UserFunction | None:
    """The user function that a node calls; None if it calls none."""
    function: UserFunction | None = node.meta.get(USER) if isinstance(node, exp.Anonymous) else None
    return function


def users_in(tree: exp.Expr) -> tuple[UserFunction, ...]:
    """The user functions that a tree calls, each once."""
    return tuple(dict.fromkeys(filter(None, map(user_of, tree.find_all(exp.Anonymous)))))


def of_lists(tree: exp.Expr, span: Span) -> exp.Expr:
    """The tree with users' aggregates in Spark's form: functions of the list of their rows."""

    def listed(node: exp.Expr) -> exp.Expr:
        call = node
        while isinstance(call, exp.Filter | exp.Window):
            call = call.this
        user = user_of(call)
        if user is None or not user.aggregate or isinstance(node.parent, exp.Filter | exp.Window):
            return node
        arguments = call.expressions
        distinct = bool(arguments) and isinstance(arguments[0], exp.Distinct)
        arguments = arguments[0].expressions if distinct else arguments
        check_arguments(user, arguments, span_of(call, span))
        row = exp.Struct(expressions=[exp.alias_(part.copy(), f"x{i}") for i, part in enumerate(arguments)])
        rows: exp.Expr = exp.ArrayAgg(this=exp.Distinct(expressions=[row]) if distinct else row)
        around = node.copy()
        if node is call:
            around = rows
        else:
            next(around.find_all(exp.Anonymous)).replace(rows)
        made = exp.Anonymous(this=user.name, expressions=[around])
        made.meta[USER] = user
        return made

    return tree.transform(listed)

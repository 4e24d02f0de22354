"""CREATE FUNCTION: loads and inspects the user's Python code, and finds its calls in queries."""

from __future__ import annotations

import importlib
import inspect
import keyword
import os
import re
import sys
import types
import typing
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from tvfsql.bind.flink import by_name
from tvfsql.bind.spark_text.functions import functions, is_known
from tvfsql.errors import BindError, Span, SqlSyntaxError, UnsupportedError, nearest
from tvfsql.functions import DETERMINISTIC, RETURNS
from tvfsql.plan.aggregate.table import AGGREGATES
from tvfsql.plan.values.types import BIGINT, BOOLEAN, BYTES, DATE, DOUBLE, STRING, TIMESTAMP, Array, Map, Row, SqlType
from tvfsql.plan.values.types import Decimal as DecimalType
from tvfsql.plan.values.user_function import MANY, UserFunction
from tvfsql.syntax import statements
from tvfsql.syntax.types.words import parse_type

AGGREGATE = ("create_accumulator", "accumulate", "get_value")  # the methods of an aggregate; merge is optional
OF_ROWS = "of_rows"  # the method of an aggregate over all rows of a window
_appended: set[str] = set()  # folders of scripts that this process has added to Python's search path
SIGNATURES = {
    "create_accumulator": "def create_accumulator(self)",
    "accumulate": "def accumulate(self, accumulator, value)",
    "get_value": "def get_value(self, accumulator)",
}
SEVERAL = (list, Iterator, Iterable, Generator)  # type hints of an ARRAY
HINTS: dict[Any, SqlType] = {
    bool: BOOLEAN,
    int: BIGINT,
    float: DOUBLE,
    str: STRING,
    bytes: BYTES,
    Decimal: DecimalType(38, 18),
    date: DATE,
    datetime: TIMESTAMP,
}


def bind_function(create: statements.CreateFunction, folder: str) -> UserFunction:
    """Return the function that a CREATE FUNCTION names. Its module is imported, if need be from `folder`. Raises
    BindError.
    """
    if create.language != "PYTHON":
        raise _other_language(create)
    _check_name(create.name.text, create.name.span)
    module, _, name = create.path.rpartition(".")
    parts = [*module.split("."), name]
    if not module or not all(part.isidentifier() and not keyword.iskeyword(part) for part in parts):
        hint = "AS 'module.name', a function or class at the top level of a module"
        raise BindError(f"{create.path!r} is not the path of a Python function", span=create.path_span, hint=hint)
    place = os.path.abspath(folder)
    found = _loaded(module, name, place, create.path_span)
    described = _described(create.name.text, module, name, found, create.path_span)
    source = getattr(sys.modules[parts[0]], "__file__", None) or ""
    at = os.path.abspath(os.path.dirname(_top(source)))
    _check_same(parts[0], source, place, create.path_span)
    return replace(described, folder=at) if at in {place, *_appended} else described


def _other_language(create: statements.CreateFunction) -> BindError:
    """The error for a function that is not declared as one of Python, by what its path looks like."""
    *_, name = create.path.split(".")
    if create.language or name[:1].isupper():
        what = f"LANGUAGE {create.language}" if create.language else f"{create.path}, which looks like a class of Java,"
        hint = f"write it in Python, def {create.name.text}(...): AS 'module.{create.name.text}' LANGUAGE PYTHON"
        return BindError(f"{what} is not supported: functions are in Python", span=create.path_span, hint=hint)
    return BindError("LANGUAGE PYTHON is missing", span=create.path_span, hint=f"AS '{create.path}' LANGUAGE PYTHON")


def _top(source: str) -> str:
    """The file of a module, the folder of a package."""
    return os.path.dirname(source) if os.path.basename(source) == "__init__.py" else source


def _check_same(module: str, source: str, folder: str, span: Span) -> None:
    """Check that an imported module is the one beside the script. Raises BindError.

    Python imports a name once, so that the function of a script would come from the module of another script.
    """
    own = next(filter(os.path.exists, (os.path.join(folder, module, "__init__.py"), f"{folder}/{module}.py")), None)
    if own is None or not source or os.path.realpath(own) == os.path.realpath(source):
        return
    with open(own, "rb") as mine, open(source, "rb") as other:
        if mine.read() != other.read():
            hint = f"rename {os.path.basename(_top(own))}, or run this script in a process of its own"
            problem = f"Python has already imported another module {module}, from {_top(source)}"
            raise BindError(problem, span=span, hint=hint)


def function_of(name: str, found: Any) -> UserFunction:
    """Describe a Python function or class as the SQL function `name`. Raises BindError."""
    _check_name(name, None)
    module, path = str(getattr(found, "__module__", None)), str(getattr(found, "__qualname__", type(found).__name__))
    if getattr(sys.modules.get(module), path, None) is not found:
        raise BindError(
            f"{path} cannot be imported from {module}, as generated programs do",
            hint="define it at the top level of a module, under its own name",
        )
    return _described(name, module, path, found, None)


def _check_name(name: str, span: Span | None) -> None:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise BindError(f"{name} is not a valid name of a function", span=span, hint="use letters, digits and _")
    if is_known(name):
        spark = name.lower() in functions() and name.upper() not in {*by_name(), *AGGREGATES}
        problem = f"{name} is the name of a function of Spark" if spark else f"function {name} already exists"
        raise BindError(problem, span=span, hint=f"CREATE FUNCTION my_{name.lower()}")


def _loaded(module: str, name: str, folder: str, span: Span) -> Any:
    """Import the object; `folder` is appended to Python's search path. Raises BindError."""
    if folder not in map(os.path.abspath, sys.path):
        sys.path.append(folder)
        _appended.add(folder)
        importlib.invalidate_caches()
    try:
        loaded = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{module}.".startswith(f"{error.name}."):
            hint = f"put {error.name.replace('.', '/')}.py beside the script, or its folder into PYTHONPATH"
            raise BindError(f"there is no Python module {error.name}", span=span, hint=hint) from None
        raise _broken(module, error, span) from error
    except Exception as error:
        raise _broken(module, error, span) from error
    if not hasattr(loaded, name):
        own = [known for known, value in vars(loaded).items() if callable(value) and not known.startswith("_")]
        close = nearest(name, own)
        at = os.path.basename(str(getattr(loaded, "__file__", None) or "Python itself"))
        hint = f"did you mean '{module}.{close}'?" if close else f"{module} is {at}"
        raise BindError(f"module {module} has no {name}", span=span, hint=hint)
    return getattr(loaded, name)


def _broken(module: str, error: Exception, span: Span) -> BindError:
    text = " ".join(str(error).split())
    return BindError(f"module {module} cannot be imported: {type(error).__name__}: {text}", span=span)


def _described(name: str, module: str, path: str, found: Any, span: Span | None) -> UserFunction:
    """Describe the object for plans. Raises BindError if SQL cannot call it."""
    of_aggregate = [part for part in (OF_ROWS, *AGGREGATE) if callable(getattr(found, part, None))]
    where = f"{module}.{path}"
    if isinstance(found, type):
        _check_made_without_arguments(found, where, span)
        if not of_aggregate and not callable(getattr(found, "eval", None)):
            hint = "def eval(self, value) for a function, def accumulate(self, accumulator, value) for an aggregate"
            raise BindError(f"class {where} has neither eval() nor accumulate()", span=span, hint=hint)
    if OF_ROWS in of_aggregate:
        return _of_rows(name, module, path, found, span)
    if of_aggregate:
        return _aggregate(name, module, path, found, span)
    called = getattr(found, "eval", found)
    if not callable(called):
        raise BindError(f"{where} is not a function, it is {_a(type(found).__name__)}", span=span)
    result = _result(found, called, where, span)
    arguments = _arguments(called, where, span, 1 if isinstance(found, type) else 0)
    return UserFunction(name, module, path, result, arguments, deterministic=getattr(found, DETERMINISTIC, True))


def _aggregate(name: str, module: str, path: str, found: Any, span: Span | None) -> UserFunction:
    where = f"{module}.{path}"
    for part in AGGREGATE:
        if not callable(getattr(found, part, None)):
            raise BindError(f"aggregate {where} has no {part}()", span=span, hint=SIGNATURES[part])
    result = _result(found, found.get_value, where, span)
    of_self = 1 if isinstance(found, type) else 0
    least, most = _arguments(found.accumulate, where, span, of_self + 1)
    if not most:
        raise BindError(
            f"accumulate() of {where} has no parameter for a value", span=span, hint=SIGNATURES["accumulate"]
        )
    return UserFunction(
        name,
        module,
        path,
        result,
        (max(least, 1), most),
        aggregate=True,
        merges=callable(getattr(found, "merge", None)),
    )


def _of_rows(name: str, module: str, path: str, found: Any, span: Span | None) -> UserFunction:
    """An aggregate that is called with all rows of a window."""
    where = f"{module}.{path}"
    result = _result(found, found.of_rows, where, span)
    least, most = _arguments(found.of_rows, where, span, 1 if isinstance(found, type) else 0)
    if not most:
        hint = "def of_rows(self, values)"
        raise BindError(f"of_rows() of {where} has no parameter for a column", span=span, hint=hint)
    return UserFunction(name, module, path, result, (max(least, 1), most), aggregate=True)


def _check_made_without_arguments(found: type, where: str, span: Span | None) -> None:
    try:
        inspect.signature(found).bind()
    except TypeError:
        raise BindError(
            f"class {where} cannot be created without arguments", span=span, hint="def __init__(self)"
        ) from None
    except ValueError:  # written in C: its signature is unknown
        return


def _arguments(called: Callable[..., Any], where: str, span: Span | None, own: int) -> tuple[int, int]:
    """The fewest and most arguments in SQL. The first `own` parameters do not come from SQL."""
    try:
        parameters = [*inspect.signature(called).parameters.values()]
    except ValueError:
        return 0, MANY
    named = [part for part in parameters if part.kind is part.KEYWORD_ONLY and part.default is part.empty]
    if named:
        raise BindError(f"parameter {named[0].name} of {where} is keyword-only, which SQL cannot pass", span=span)
    positional = [part for part in parameters if part.kind in (part.POSITIONAL_ONLY, part.POSITIONAL_OR_KEYWORD)]
    least = sum(part.default is part.empty for part in positional[own:])
    open_ended = any(part.kind is part.VAR_POSITIONAL for part in parameters)
    return least, MANY if open_ended else max(0, len(positional) - own)


def _result(found: Any, called: Callable[..., Any], where: str, span: Span | None) -> SqlType:
    """The result type that the object declares, by @returns or by a type hint."""
    said = getattr(found, RETURNS, None) or getattr(called, RETURNS, None)
    if said is not None:
        try:
            return parse_type(str(said))
        except (SqlSyntaxError, UnsupportedError) as error:
            message = f"@returns of {where}: {error.message}"
            raise BindError(message, span=span, hint=error.advice) from None
    try:
        hint = typing.get_type_hints(called).get("return")
    except (NameError, TypeError):
        hint = None
    kind = _of_hint(hint)
    if kind is None:
        what = (
            "has no return type"
            if hint is None
            else f"returns {getattr(hint, '__name__', hint)}, which is not an SQL type"
        )
        raise BindError(f"{where} {what}", span=span, hint="@tvfsql.functions.returns('DOUBLE') above it")
    return kind


def _of_hint(hint: Any) -> SqlType | None:
    """The SQL type of a type hint; None if there is none. X | None is X, because every SQL type allows NULL."""
    if hint in HINTS:
        return HINTS[hint]
    origin, parts = typing.get_origin(hint), [part for part in typing.get_args(hint) if part is not type(None)]
    if origin in (typing.Union, types.UnionType) and len(parts) == 1:
        return _of_hint(parts[0])
    kinds = [_of_hint(part) for part in parts]
    if None in kinds or not kinds:
        return None
    known = [kind for kind in kinds if kind is not None]
    if origin in SEVERAL:
        return Array(known[0])
    if origin is tuple:
        return Row(tuple((f"f{i}", kind) for i, kind in enumerate(known)))
    if origin is dict and len(known) == 2:
        return Map(*known)
    return None


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"

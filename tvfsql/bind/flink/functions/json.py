"""Flink's JSON functions. The runtime computes them, because Spark's differ in paths and in the digits of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from tvfsql.bind.flink.beyond import note_argument
from tvfsql.bind.flink.function import Function, of_runtime, require_text, same
from tvfsql.bind.flink.functions.arguments import family_of
from tvfsql.bind.flink.lowered_call import runtime_call
from tvfsql.errors import BindError, UnsupportedError
from tvfsql.plan.values.types import BOOLEAN, DOUBLE, INT, STRING, VARIANT, Array, Interval, SqlType
from tvfsql.runtime.functions.paths import path_of
from tvfsql.syntax.calls import Words

TypeOf = Callable[[exp.Expr], SqlType]
# JSON_VALUE ... RETURNING: the runtime's name for it, and the type of the result
RETURNING = {
    "": ("json_value", STRING),
    "VARCHAR": ("json_value", STRING),
    "TEXT": ("json_value", STRING),
    "DOUBLE": ("json_value_double", DOUBLE),
    "INT": ("json_value_int", INT),
    "BOOLEAN": ("json_value_boolean", BOOLEAN),
}
WRAPPER = {"WITHOUT": "NEVER", "WITH CONDITIONAL": "UNLESS ARRAY"}
IN_JSON = "json"  # the key in `meta` of an argument that is JSON already

JSON = (
    of_runtime("JSON_STRING(value)", STRING, takes="s i l d p b ts tz bi a m r"),
    of_runtime("JSON_QUOTE(string)", STRING, "writes characters beyond U+FFFF as two escapes"),
    of_runtime("JSON_UNQUOTE(string)", STRING),
    Function("JSON(string)", "{0}", STRING, takes=""),
    same("PARSE_JSON(json)", VARIANT),
    same("TRY_PARSE_JSON(json)", VARIANT),
)


def of_json(call: Words, type_of: TypeOf) -> exp.Expr:
    """JSON_VALUE, JSON_QUERY, JSON_EXISTS, JSON_OBJECT and JSON_ARRAY."""
    if call.name in ("JSON_VALUE", "JSON_QUERY", "JSON_EXISTS"):
        require_text(call.name, type_of(call.expressions[0]))
    match call.name:
        case "JSON_VALUE":
            return _value(call)
        case "JSON_QUERY":
            return _query(call)
        case "JSON_EXISTS":
            error = [exp.Literal.string(what)] if (what := call.option("ON ERROR")) else []
            return runtime_call("json_exists", [*_text_and_path(call), *error], BOOLEAN)
        case "JSON_OBJECTAGG" | "JSON_ARRAYAGG":
            nulls = call.option("ON NULL") or ("NULL" if call.name == "JSON_OBJECTAGG" else "ABSENT")
            name = "json_object_of" if call.name == "JSON_OBJECTAGG" else "json_array_of"
            options = [exp.Literal.string(nulls), exp.Literal.string(call.option("RAW") or "v")]
            return runtime_call(name, [*options, call.expressions[0]], STRING)
        case "JSON_OBJECT":
            for key in call.expressions[::2]:
                require_text("a key of JSON_OBJECT", type_of(key))
            return _built("json_object", call, type_of, call.expressions[1::2], call.option("ON NULL") or "NULL")
    return _built("json_array", call, type_of, call.expressions, call.option("ON NULL") or "ABSENT")


def raw(text: exp.Expr) -> exp.Expr:
    """JSON(x): marks a text that is JSON already."""
    new = runtime_call("json_raw", [text], STRING)
    new.meta[IN_JSON] = True
    return new


def is_json(node: exp.Is, type_of: TypeOf) -> exp.Expr:
    """x IS JSON [VALUE | OBJECT | ARRAY | SCALAR]."""
    require_text("IS JSON", type_of(node.this))
    kind = node.expression.name or "VALUE"
    return runtime_call("is_json", [node.this, exp.Literal.string(kind.upper())], BOOLEAN)


def _text_and_path(call: Words) -> list[exp.Expr]:
    text, path = call.expressions[:2]
    if isinstance(path, exp.Literal) and path.is_string:
        try:
            path_of(path.name)
        except ValueError as error:
            raise UnsupportedError(
                str(error), hint="'$.a', '$.a[0]', '$.a[*].b', '$..b', each with lax or strict"
            ) from error
    return [text, path]


def _value(call: Words) -> exp.Expr:
    kind = (call.option("RETURNING") or "").upper()
    if kind not in RETURNING:
        raise UnsupportedError(
            f"JSON_VALUE cannot return {kind}", hint="CAST(JSON_VALUE(x, '$.a') AS BIGINT), or RETURNING STRING"
        )
    name, result = RETURNING[kind]
    if not call.option("ON EMPTY") and not call.option("ON ERROR"):
        return runtime_call(name, _text_and_path(call), result)
    nothing = exp.Null() if result == STRING else exp.cast(exp.Null(), result.spark)
    behaviour: list[exp.Expr] = []
    for when in ("ON EMPTY", "ON ERROR"):
        what = call.option(when) or "NULL"
        default = call.expressions[int(what)] if what.isdecimal() else nothing
        behaviour += [
            exp.Literal.string("DEFAULT" if what.isdecimal() else what),
            exp.cast(default.copy(), result.spark),
        ]
    return runtime_call(name, [*_text_and_path(call), *behaviour], result)


def _query(call: Words) -> exp.Expr:
    returning = (call.option("RETURNING") or "").upper()
    array = returning.startswith("ARRAY")
    if returning not in ("", "VARCHAR", "TEXT") and not array:
        raise UnsupportedError(f"JSON_QUERY cannot return {returning}", hint="RETURNING ARRAY<STRING>")
    wrapper = call.option("WRAPPER") or "WITHOUT"
    how = next((how for words, how in WRAPPER.items() if wrapper.startswith(words)), "ALWAYS")
    options = [how, call.option("ON EMPTY") or "NULL", call.option("ON ERROR") or "NULL"]
    options = [] if options == ["NEVER", "NULL", "NULL"] else options
    name, result = ("json_query_array", Array(STRING)) if array else ("json_query", STRING)
    return runtime_call(name, [*_text_and_path(call), *map(exp.Literal.string, options)], result)


def _built(name: str, call: Words, type_of: TypeOf, values: Sequence[exp.Expr], nulls: str) -> exp.Expr:
    for value in values:
        if isinstance(kind := type_of(value), Interval):
            raise BindError(f"{call.name} takes no INTERVAL", hint="CAST(x AS STRING)")
        if family_of(kind) in ("dt", "tm"):
            note_argument(call.name, value, kind, "STRING")
    marks = "".join("j" if _is_built(value) else "v" for value in values)
    new = runtime_call(name, [exp.Literal.string(nulls), exp.Literal.string(marks), *call.expressions], STRING)
    new.meta[IN_JSON] = True
    return new


def _is_built(value: exp.Expr) -> bool:
    return bool(value.unnest().meta.get(IN_JSON))

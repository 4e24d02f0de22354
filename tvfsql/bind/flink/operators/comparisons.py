"""Comparisons that Spark makes differently: of rows, maps, times of two types, and with the rows of a subquery.

Every form of comparison goes through here: operators, BETWEEN, IN, CASE x WHEN, NULLIF, rows of values, and USING.
Where a TIMESTAMP_LTZ is compared, the others become instants in the local zone (`as_instants`); maps are compared by
pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp

from tvfsql.bind.flink.lowered_call import SOURCE, Made, made
from tvfsql.bind.flink.operators.cast_pairs import class_of
from tvfsql.bind.flink.operators.casts import as_text
from tvfsql.bind.flink.operators.common_type import other_time, text_as_instant
from tvfsql.bind.flink.time.wall_clock import CLOCK, INSTANT
from tvfsql.errors import BindError, UnsupportedError
from tvfsql.plan.values import types
from tvfsql.plan.values.types import DATE, TIMESTAMP, TIMESTAMP_LTZ, SqlType, goes_with

TypeOf = Callable[[exp.Expr], SqlType]
ENTRIES = "ARRAY_SORT(MAP_ENTRIES({}))"
HAS_NULL = "EXISTS(MAP_VALUES({0}), value -> value IS NULL)"  # such a map equals no other


def of_rows(node: exp.Binary) -> bool:
    """Whether it is (a, b) = (c, d), (a, b) <> (c, d) or ROW(a, b) = ROW(c, d)."""
    if isinstance(node.left, exp.Tuple) and isinstance(node.right, exp.Tuple):
        return True
    return isinstance(node, exp.EQ) and all(
        isinstance(side, Made) and side.template.startswith("NAMED_STRUCT('EXPR$0'") for side in (node.left, node.right)
    )


def tuples(node: exp.Binary, type_of: TypeOf) -> exp.Expr:
    """(a, b) = (c, d) compares column by column; it is NULL if one of them is NULL. (a, b) <> (c, d) is TRUE then, as
    in Flink.
    """
    if isinstance(node, exp.EQ):
        return exp.paren(_same(node.left, node.right, exp.EQ, type_of))
    return exp.not_(exp.paren(_same(node.left, node.right, exp.NullSafeEQ, type_of)))


def one_of_tuples(node: exp.In, type_of: TypeOf) -> exp.Expr:
    """(a, b) IN ((c, d), ...)."""
    if not all(isinstance(each, exp.Tuple) for each in node.expressions):
        raise BindError("rows can only be compared with rows of as many values", hint="(a, b) IN ((1, 2), (3, 4))")
    for each in node.expressions:
        for one, other in zip(node.this.expressions, each.expressions, strict=False):
            if type_of(one) == types.FLOAT:  # compares FLOATs
                other.replace(exp.cast(other.copy(), "float"))
    return exp.paren(exp.or_(*(_same(node.this, each, exp.EQ, type_of) for each in node.expressions), copy=False))


def _same(left: exp.Expr, right: exp.Expr, sign: type[exp.Binary], type_of: TypeOf) -> exp.Expr:
    first, second = len(left.expressions), len(right.expressions)
    if first != second:
        raise BindError(f"a row of {first} values cannot be compared with one of {second}", hint="(a, b) = (1, 2)")
    pairs = zip(left.expressions, right.expressions, strict=True)
    return exp.and_(*(_equal(a, b, type_of, sign) for a, b in pairs), copy=False)


def _equal(left: exp.Expr, right: exp.Expr, type_of: TypeOf, sign: type[exp.Binary] = exp.EQ) -> exp.Expr:
    """left = right, lowered."""
    pair = sign(this=left.copy(), expression=right.copy())
    return compared(pair, type_of) or pair


def one_of_query(node: exp.In, type_of: TypeOf) -> exp.Expr | None:
    """x IN (SELECT ...) as a value. Without an equal row it is NULL if x or a row is NULL, where Spark has FALSE. None
    in a condition, where both mean the same.
    """
    _as_instants_of_query(node, type_of)
    if _is_condition(node):
        return None
    if isinstance(node.this.unnest(), exp.Tuple):
        raise UnsupportedError(
            "(a, b) IN (SELECT ...) is only supported in conditions", hint="WHERE (a, b) IN (SELECT ...)"
        )
    query = node.args["query"].unnest()
    value = exp.to_identifier("$0", quoted=True)
    names = exp.TableAlias(this=exp.to_identifier("$in", quoted=True), columns=[value])
    nulls = exp.select("1").from_(exp.Subquery(this=query.copy(), alias=names)).where(exp.column(value).is_(exp.null()))
    parts = [node.copy(), node.this, exp.Exists(this=query.copy()), exp.Exists(this=nulls)]
    unknown = "({1} IS NULL AND {2}) OR {3}"  # rows that do not depend on x: Spark looks for them once
    return made(f"CASE WHEN {{0}} THEN TRUE WHEN {unknown} THEN NULL ELSE FALSE END", parts, types.BOOLEAN)


def _is_condition(node: exp.Expr) -> bool:
    """Whether AND and OR alone connect it, or its negation, to WHERE, HAVING or ON."""
    while isinstance(node.parent, exp.Paren):
        node = node.parent
    if isinstance(node.parent, exp.Not):
        node = node.parent
    while isinstance(node.parent, exp.Connector | exp.Paren):
        node = node.parent
    return isinstance(node.parent, exp.Where | exp.Having | exp.Join)


def compared(node: exp.Binary, type_of: TypeOf) -> exp.Expr | None:
    """A comparison whose sides Spark would bring to another type. Maps are equal if their entries are, in any order."""
    if not isinstance(node, exp.NullSafeEQ | exp.NullSafeNEQ):
        exact_floats(node, ("this", "expression"), type_of)
    as_instants([node.left, node.right], type_of)
    kinds = (type_of(node.left), type_of(node.right))
    if kinds == (types.FLOAT, types.DOUBLE):  # compares as the first
        node.set("expression", exp.cast(node.right.copy(), "float"))
    return _of_maps(node) if any(map(_is_map, kinds)) else None


def as_instants(values: Sequence[exp.Expr], type_of: TypeOf) -> None:
    """If one of these values, which are compared with each other, is a TIMESTAMP_LTZ, replace the wall-clock times and
    the text among them by instants. Raises UnsupportedError for a value that may be one of them, because its type is
    not known, and for values that hold a TIMESTAMP_LTZ where another one holds something else.
    """
    first, *others = ([*type_of(value).walk()][1:] for value in values)
    if any(INSTANT in pair and len({*pair}) > 1 for other in others for pair in zip(first, other, strict=False)):
        reason = "a TIMESTAMP_LTZ inside a value is not compared with a time of another type"
        raise UnsupportedError(reason, hint="CAST(x AS ARRAY<TIMESTAMP_LTZ(3)>)")
    if all(type_of(value) != INSTANT for value in values):
        return
    for value in values:
        kind = type_of(value)
        if kind == types.UNKNOWN and not isinstance(value.unnest(), exp.Null | exp.Placeholder):
            raise UnsupportedError(
                "a TIMESTAMP_LTZ is compared in the local time zone, but the type of the other value is only known to "
                "Spark",
                hint="CAST(x AS TIMESTAMP_LTZ(3))",
            )
        if (template := _instant(kind)) is not None:
            value.replace(made(template, [value.copy()], INSTANT))


def _instant(kind: SqlType) -> str | None:
    """SQL for the instant that a value stands for beside a TIMESTAMP_LTZ; None if it is one, or none is defined."""
    return other_time("{0}", INSTANT) if kind == CLOCK else text_as_instant("{0}") if kind == types.STRING else None


def _as_instants_of_query(node: exp.In, type_of: TypeOf) -> None:
    """The same for x IN (SELECT ...), and for each column of rows; the times of the query become what x is."""
    operand = node.this.unnest()
    operands = operand.expressions if isinstance(operand, exp.Tuple) else [node.this]
    columns = [select.expressions for select in _selects(node.args["query"])]
    for at, value in enumerate(operands):
        items = [items[at].unalias() for items in columns if at < len(items) and not items[0].is_star]
        if len(items) == len(columns) and type_of(value) == CLOCK:
            for item in (item for item in items if type_of(item) == INSTANT):
                item.replace(made(other_time("{0}", CLOCK), [item.copy()], CLOCK))
        elif len(items) == len(columns):
            as_instants([value, *items], type_of)
        elif INSTANT in (kinds := {type_of(value), type_of(node.args["query"])}) and len(kinds) > 1:
            raise UnsupportedError(
                "IN compares a TIMESTAMP_LTZ with the columns of *, one of which has another type",
                hint="IN (SELECT CAST(ts AS TIMESTAMP_LTZ(3)) FROM ...)",
            )


def _selects(query: exp.Expr) -> Iterator[exp.Select]:
    """The SELECTs whose rows a query has."""
    match query.unnest():
        case exp.SetOperation() as operation:
            yield from _selects(operation.left)
            yield from _selects(operation.right)
        case exp.Subquery() as inner:
            yield from _selects(inner.this)
        case exp.Select() as select:
            yield select


def _is_map(kind: SqlType) -> bool:
    """Whether values of this type are maps that can be compared."""
    return isinstance(kind, types.Map) and all(map(types.is_orderable, kind.parts))


def one_of_values(node: exp.In, type_of: TypeOf) -> exp.Expr | None:
    """x IN (a, b, ...); None if Spark compares the values in the same way."""
    if isinstance(node.this.unnest(), exp.Null):  # Spark wants values of one type even then
        return made("CAST(NULL AS BOOLEAN)", [], types.BOOLEAN)
    values = [node.this, *node.expressions]
    kinds = {*map(type_of, values)}
    if type_of(node.this) == types.FLOAT:  # compares FLOATs
        node.set("expressions", [exp.cast(each.copy(), "float") for each in node.expressions])
    elif types.is_integer(kind := type_of(node.this)):  # Flink cuts the fractions in the list
        cut = (types.is_number(type_of(each)) and not types.is_integer(type_of(each)) for each in node.expressions)
        pairs = zip(node.expressions, cut, strict=True)
        node.set("expressions", [exp.cast(each.copy(), kind.spark) if fraction else each for each, fraction in pairs])
    elif type_of(node.this) == types.STRING:
        node.set("expressions", [_text_of(each, type_of, node.this.unnest()) for each in node.expressions])
        return None
    elif any(map(_is_map, kinds)):
        return exp.paren(exp.or_(*(_equal(node.this, each, type_of) for each in node.expressions), copy=False))
    as_instants(values, type_of)
    return None


def _text_of(value: exp.Expr, type_of: TypeOf, wanted: exp.Expr) -> exp.Expr:
    """A value of a list in which a STRING is looked for: Flink casts numbers to text, Spark the text to numbers. A
    literal is a CHAR of its length, so the text is cut to that.
    """
    kind = type_of(value)
    if not types.is_number(kind):
        return value
    text = as_text("{0}", kind) or "CAST({0} AS STRING)"
    if isinstance(wanted, exp.Literal):
        text = f"RPAD({text}, {len(wanted.name)}, ' ')"
    return made(text, [value.copy()], types.STRING)


def null_if_equal(node: exp.Nullif, type_of: TypeOf) -> exp.Expr | None:
    """NULLIF(x, y); None if Spark compares the values in the same way."""
    kinds = {type_of(node.this), type_of(node.expression)}
    refuse_float_literals([node.this, node.expression], "NULLIF", type_of)
    if (len(kinds) == 1 and not any(map(_is_map, kinds))) or not (INSTANT in kinds or any(map(_is_map, kinds))):
        return None
    same = _equal(node.this, node.expression, type_of)
    return made("IF({0}, NULL, {1})", [same, node.this.copy()], type_of(node.this))


def when_equal(node: exp.Case, type_of: TypeOf) -> None:
    """The comparisons of CASE x WHEN y; maps are compared by CASE WHEN x = y."""
    branches = node.args["ifs"]
    for branch in branches:
        refuse_float_literals([node.this, branch.this], "CASE x WHEN", type_of)
    if any(_is_map(type_of(value)) for value in (node.this, *(branch.this for branch in branches))):
        for branch in branches:
            branch.set("this", _equal(node.this, branch.this, type_of))
        node.set("this", None)
        return
    as_instants([node.this, *(branch.this for branch in branches)], type_of)


def exact_floats(node: exp.Expr, sides: Sequence[str], type_of: TypeOf) -> None:
    """Make the literals that are cast to FLOAT doubles, as Flink compares them, unless all sides are FLOATs."""
    if all(type_of(node.args[side]) == types.FLOAT for side in sides):
        return
    for side in sides:
        tree = node.args[side].unnest()
        if type_of(tree) == types.FLOAT and (value := literal_cast(tree)) is not None:
            node.set(side, exp.cast(value.copy(), "double"))


def literal_cast(tree: exp.Expr) -> exp.Expr | None:
    """The number in a CAST of a literal."""
    if not isinstance(tree, exp.Cast | Made):
        return None
    value = (tree.expressions[0] if isinstance(tree, Made) else tree.this).unnest()
    return value if isinstance(value.this if isinstance(value, exp.Neg) else value, exp.Literal) else None


def refuse_float_literals(sides: Sequence[exp.Expr], where: str, type_of: TypeOf) -> None:
    """Refuse a literal that is cast to FLOAT beside a number of another type, which Flink compares as it is written."""
    kinds = {type_of(side) for side in sides}
    for side in sides:
        if type_of(side) == types.FLOAT and kinds != {types.FLOAT} and literal_cast(side.unnest()) is not None:
            raise UnsupportedError(
                f"{where} cannot compare a FLOAT literal with a number of another type", hint="CAST(x AS FLOAT)"
            )


def _of_maps(node: exp.Binary) -> exp.Expr | None:
    a, b = ENTRIES.replace("{}", "{0}"), ENTRIES.replace("{}", "{1}")
    template = {
        exp.EQ: f"({a} = {b} AND (NOT {HAS_NULL} OR {{1}} IS NULL))",
        exp.NEQ: f"({a} <> {b} OR ({HAS_NULL} AND {{1}} IS NOT NULL))",
        exp.NullSafeEQ: f"({a} <=> {b} AND NOT COALESCE({HAS_NULL}, FALSE))",
        exp.NullSafeNEQ: f"(NOT {a} <=> {b} OR COALESCE({HAS_NULL}, FALSE))",
    }.get(type(node))
    if template is None:
        return None
    if _is_same(node.left, node.right):  # Flink does not look at the values then
        template = template.replace(HAS_NULL, "FALSE")
    return made(template, [node.left, node.right], types.BOOLEAN)


def _is_same(left: exp.Expr, right: exp.Expr) -> bool:
    """Whether two values are one expression, also if only one column is qualified."""
    source = left.meta.get(SOURCE)
    return left == right or (source is not None and source == right.meta.get(SOURCE))


def refuse_dates_and_times(name: str, values: list[exp.Expr], type_of: TypeOf) -> None:
    """Refuse COALESCE, GREATEST and the like of DATEs and TIMESTAMPs, which Flink turns into dates."""
    kinds = {type_of(value) for value in values}
    if types.DATE in kinds and kinds & {CLOCK, INSTANT}:
        raise UnsupportedError(f"{name} cannot mix DATE and TIMESTAMP", hint=f"{name}(ts, CAST(dt AS TIMESTAMP(3)))")


def refuse_mixed(name: str, values: list[exp.Expr], type_of: TypeOf) -> None:
    """Refuse COALESCE, GREATEST and the like of values of two classes, such as a number and a text."""
    kinds = [type_of(value) for value in values if not isinstance(value.unnest(), exp.Null)]
    if mixed := _mixed(kinds):
        one, other = mixed
        raise BindError(f"{name} cannot mix {one.flink} and {other.flink}", hint=f"{name}(CAST(x AS STRING), ...)")


def refuse_mixed_branches(values: list[exp.Expr], type_of: TypeOf) -> None:
    """The same for the values of CASE, in which a text beside a number, time or BOOLEAN is converted."""
    kinds = [type_of(value) for value in values if not isinstance(value.unnest(), exp.Null)]
    nested = any(isinstance(kind, types.Array | types.Map | types.Row | types.Interval) for kind in kinds)
    if mixed := _mixed([kind for kind in kinds if kind != types.STRING or nested]):
        one, other = mixed
        raise BindError(f"CASE cannot mix {one.flink} and {other.flink}", hint="... THEN CAST(x AS STRING)")


def _mixed(kinds: Sequence[SqlType]) -> tuple[SqlType, SqlType] | None:
    """Two of these types that have no common one; None without such."""
    classes = {"moment" if kind in (DATE, TIMESTAMP, TIMESTAMP_LTZ) else class_of(kind): kind for kind in kinds if kind}
    if len(classes) > 1:
        one, other, *_ = classes.values()
        return one, other
    return next(((kinds[0], kind) for kind in kinds[1:] if not goes_with(kinds[0], kind)), None)


def is_right_side(node: exp.Expr) -> bool:
    """Whether a predicate is the right side of an operator. For Flink and Spark `a = b IS NULL` is `(a = b) IS NULL`;
    in the tree of sqlglot `b IS NULL` is an operand. Parentheses around a part of it would change its meaning.
    """
    while isinstance(node.parent, exp.Not | exp.Predicate) and node.arg_key == "this":
        node = node.parent
    above = node.parent
    return isinstance(above, exp.Binary) and not isinstance(above, exp.Connector) and node.arg_key == "expression"

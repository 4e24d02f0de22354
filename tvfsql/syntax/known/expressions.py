"""The operators, literals, names and types that are understood."""

from __future__ import annotations

from sqlglot import exp

from tvfsql.syntax.calls import Words
from tvfsql.syntax.known.clauses import Known, Table, known

WORDS = "bind.spark_text.text"
FLINK = "bind.flink"
TYPES = "syntax.types"
BINARY = known("this expression")


def _each(what: Known, *kinds: type[exp.Expr]) -> Table:
    return dict.fromkeys(kinds, what)


NAMES: Table = {
    exp.Identifier: known("this quoted"),
    exp.Column: known("this table db catalog", "bind.scalar"),
    exp.Dot: known("this", expression=(exp.Identifier,)),
    exp.Alias: known("this alias", "bind.query"),
    exp.Aliases: known("this expressions"),
    exp.Star: known("except_", "bind.query"),  # EXCEPT is refused by syntax.sql, or is Spark's own
    exp.Var: known("this"),
}
LITERALS: Table = {
    exp.Literal: known("this is_string"),
    exp.Boolean: known("this"),
    exp.Null: known(),
    exp.Interval: known("this unit"),
    exp.IntervalSpan: known("this expression"),
    exp.HexString: known("this"),
    exp.UnicodeString: known("this escape", FLINK),
    exp.National: known("this", FLINK),
    exp.Tuple: known("expressions"),
    exp.Array: known("expressions"),
    exp.Struct: known("expressions"),
    exp.PropertyEQ: BINARY,  # a field of STRUCT(x AS a)
}
OPERATORS: Table = {
    **_each(BINARY, exp.And, exp.Or, exp.Add, exp.Sub, exp.Mul, exp.Mod, exp.IntDiv),
    **_each(BINARY, exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.GT, exp.GTE, exp.LT, exp.LTE),
    **_each(BINARY, exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor),
    **_each(known("this"), exp.Not, exp.Neg, exp.BitwiseNot, exp.Paren, exp.Exists),
    exp.Div: known("this expression safe", WORDS),
    exp.DPipe: known("this expression safe"),
    exp.Between: known("this low high symmetric"),
    exp.In: known("this expressions query"),
    exp.Is: known("this", expression=(exp.Null, exp.Boolean, exp.Not, exp.JSON)),
    exp.JSON: known("this", FLINK),
    exp.SimilarTo: known("this expression", FLINK),
    exp.Overlaps: known("this expression", FLINK),
    Words: known("this expressions options written", FLINK),
    exp.Like: known("this expression negate"),
    exp.ILike: known("this expression negate"),
    exp.RegexpLike: known("this expression"),
    exp.Escape: BINARY,
    exp.Case: known("this ifs default"),
    exp.If: known("this true false"),
    exp.Bracket: known("this expressions"),
    exp.Lambda: known("this expressions"),
    exp.Cast: known("this to", TYPES),
    exp.TryCast: known("this to safe", TYPES),
}
T = exp.DType
TYPE_NAMES = (
    T.BOOLEAN, T.TINYINT, T.SMALLINT, T.INT, T.BIGINT, T.FLOAT, T.DOUBLE, T.DECIMAL, T.CHAR, T.VARCHAR, T.TEXT,
    T.BINARY, T.VARBINARY, T.DATE, T.TIME, T.TIMESTAMP, T.TIMESTAMPNTZ, T.TIMESTAMPLTZ, T.TIMESTAMPTZ, T.ARRAY,
    T.MAP, T.STRUCT,
)  # fmt: skip
TYPE_NODES: Table = {
    exp.DataType: known("expressions nested", TYPES, this=TYPE_NAMES),
    exp.DataTypeParam: known("this", TYPES),
    exp.ColumnDef: known("this kind", TYPES),
}
EXPRESSIONS: Table = {**NAMES, **LITERALS, **OPERATORS, **TYPE_NODES}

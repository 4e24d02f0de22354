"""Types of columns as CREATE TABLE declares them."""

from __future__ import annotations

from dataclasses import dataclass

from tvfsql.plan.values.types import SqlType, fields, split_kinds


@dataclass(frozen=True)
class DeclaredType:
    """A type, with what its `kind` leaves out: NOT NULL, the fractional digits of a TIMESTAMP, and the `length` of a
    text or of bytes, to which CHAR and BINARY (`fixed`) are padded. `parts` are the named fields of a ROW, the element
    of an ARRAY, or the key and the value of a MAP.
    """

    kind: SqlType
    nullable: bool = True
    digits: int | None = None
    parts: tuple[tuple[str, DeclaredType], ...] = ()
    length: int | None = None
    fixed: bool = False

    @property
    def sized(self) -> str | None:
        """The type, as a CAST has it, to which INSERT cuts or pads values; None if it leaves them as they are. The
        milliseconds of a TIMESTAMP(3) are not cut from microseconds.
        """
        if self.length is not None:
            text = self.kind == "string"
            word = ("CHAR" if text else "BINARY") if self.fixed else ("VARCHAR" if text else "VARBINARY")
            return f"{word}({self.length})"
        if self.digits is not None and self.digits < 3:
            return f"{'TIMESTAMP' if self.kind == 'timestamp_ntz' else 'TIMESTAMP_LTZ'}({self.digits})"
        return None


def undeclared(kind: SqlType) -> DeclaredType:
    """The type of a column that a query made: all of it may be NULL, and a TIMESTAMP has any digits."""
    outer, bracket, inner = kind.partition("<")
    if not bracket:
        return DeclaredType(kind)
    named = fields(kind) if outer == "struct" else {}
    parts = named.items() if named else [("", part) for part in split_kinds(inner[:-1])]
    return DeclaredType(kind, parts=tuple((name, undeclared(part)) for name, part in parts))

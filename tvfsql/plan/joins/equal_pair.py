"""What all joins share: the names of their kinds, and pairs of columns that must be equal."""

from __future__ import annotations

from dataclasses import dataclass

from tvfsql.plan.node import Node
from tvfsql.plan.values.scalar import Ref, Scalar, column, template
from tvfsql.plan.values.types import BOOLEAN

# Flink's names for the kinds of joins.
KINDS = {
    "inner": "InnerJoin",
    "left": "LeftOuterJoin",
    "right": "RightOuterJoin",
    "full": "FullOuterJoin",
    "semi": "LeftSemiJoin",
    "anti": "LeftAntiJoin",
}


@dataclass(frozen=True)
class EqualPair:
    """A column of the left side that must equal one of the right. If `null_safe`, NULLs equal each other."""

    left: str
    right: str
    null_safe: bool = False

    @classmethod
    def of(cls, condition: Scalar, left: Node, right: Node) -> EqualPair | None:
        """Return the pair, if a condition between two relations is just the equality of two columns; else None."""
        match condition.parts:
            case (Ref(one), str(sign), Ref(other)) if sign.strip() in ("=", "IS NOT DISTINCT FROM"):
                one, other = (one, other) if one in left.columns else (other, one)
                if one in left.columns and other in right.columns:
                    return cls(one, other, sign.strip() != "=")
        return None

    @property
    def condition(self) -> Scalar:
        sign = "IS NOT DISTINCT FROM" if self.null_safe else "="
        pattern = f"{{l}} {sign} {{r}}"
        return template(pattern, {"l": column(self.left), "r": column(self.right)}, BOOLEAN, atomic=False)

    def __str__(self) -> str:
        return self.condition.sql

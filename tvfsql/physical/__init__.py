"""The physical plan."""

from tvfsql.physical.lower import lower

__all__ = ["lower"]

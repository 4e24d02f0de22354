"""Binds statements that are no queries."""

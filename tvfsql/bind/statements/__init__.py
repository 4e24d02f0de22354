"""Binds statements that are not queries."""

"""Columns and DataFrame operations that batch and streams share: window columns, changelogs, dropped rows, schemas.

What only one of the two needs is in `batch` or `stream`.
"""

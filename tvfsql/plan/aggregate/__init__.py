"""Aggregate functions, and calls of them."""

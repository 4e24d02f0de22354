"""Rescale: divides the state of a stopped stream among another number of key groups and tasks.

Spark's rewriter of state reads and writes the files; what the rows of the state mean is known here. Source:
architecture.md#rescale.
"""

"""Window operators of streams: slicing windows, sessions, early and late firing, and the functions for emitted code.

Operators that keep single rows by key are in `rows`.
"""

"""Window operators of streams: slicing windows, sessions, early and late firing, and what emitted code calls.

Operators that keep single rows by key are in `rows`.
"""

"""The user's Python functions where they run: calls, checks of what they return, errors that name the function.

How their accumulators merge is in `merge`.
"""

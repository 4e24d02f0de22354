"""The user's Python functions at run time: calls, checks of their results, errors that name the function.

How accumulators merge is in `merge`.
"""

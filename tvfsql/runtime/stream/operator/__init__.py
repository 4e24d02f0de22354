"""What every stateful operator shares: the interface that it implements, the processor around it, and its messages.

The operators are in `windows` and `rows`. What they keep between micro-batches is in `state`.
"""

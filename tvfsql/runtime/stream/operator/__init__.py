"""The frame that every stateful operator runs in: what it implements, the processor around it, and what it emits.

The operators themselves are in `windows` and `rows`; what they keep between micro-batches is in `state`.
"""

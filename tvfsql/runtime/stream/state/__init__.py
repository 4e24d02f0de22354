"""The state of a key group: stores of Arrow chunks, timers, their layout in RocksDB, and the operator's description.

The operators that use it are in `windows` and `rows`.
"""

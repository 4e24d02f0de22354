"""Runs in the background: `run --detach`, and ps, stop, restart and logs.

No process of ours watches them. A run notes in its checkpoint what was started and how it ended, and locks that file
while it lives; the state folder of the user has the paths of these checkpoints.
"""

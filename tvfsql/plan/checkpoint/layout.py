"""The versions of the layout of state in checkpoints.

2: each chunk of rows is an entry of its own. 3: small chunks share blocks (`stream/state/chunk_blocks.py`).
"""

from __future__ import annotations

LAYOUT = 3  # what this release writes; increment it when earlier releases can no longer read the state
READ = (2, 3)  # what it reads

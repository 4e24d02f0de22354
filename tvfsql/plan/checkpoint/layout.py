"""The version of the layout of state in checkpoints."""

from __future__ import annotations

LAYOUT = 1  # increment it when a release can no longer read the state of earlier ones, or they that of this one

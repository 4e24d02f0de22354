"""Plans and the state of a checkpoint: what a manifest says, and how a changed query goes on from it."""

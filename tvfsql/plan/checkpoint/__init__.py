"""What a checkpoint records about its stream."""

"""What is known about a plan from its operators alone."""

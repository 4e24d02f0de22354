"""What streams reject, with the reason and a fix."""

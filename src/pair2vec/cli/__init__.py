"""What the command shows on a terminal."""

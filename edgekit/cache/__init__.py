"""What the board keeps between starts."""

"""Lower precisions, each a pass."""

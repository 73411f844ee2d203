"""From a model's outputs to what its task is about: one decoder per output format, on numpy alone."""

TASKS = ("detect", "segment", "pose", "obb", "classify", "semantic", "depth", "raw")

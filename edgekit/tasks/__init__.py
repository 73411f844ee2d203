"""From a model's outputs to detections or probabilities: one decoder per output format, on numpy alone."""

TASKS = ("detect", "classify", "raw")

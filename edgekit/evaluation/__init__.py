"""Data sets, metrics, and a model's score: on the host."""

from edgekit.evaluation.datasets import Dataset, open_dataset
from edgekit.evaluation.evaluation import Evaluation, evaluate

__all__ = ["Dataset", "Evaluation", "evaluate", "open_dataset"]

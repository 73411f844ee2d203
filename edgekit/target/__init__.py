"""Targets: what a board and its onnxruntime can run, each a YAML profile that is found by name.

>>> from edgekit import target
>>> target.load("cpu-arm64").provider.name
'CPUExecutionProvider'
"""

from edgekit.target.description import describe
from edgekit.target.finding import Survey, find_all, load, operator_list, survey, validate
from edgekit.target.operators import OperatorList
from edgekit.target.problem import Problem
from edgekit.target.profile import Fact, Image, Limits, Meaning, Plugin, Precision, Provider, Scheme, Target

__all__ = [
    "Fact",
    "Image",
    "Limits",
    "Meaning",
    "OperatorList",
    "Plugin",
    "Precision",
    "Problem",
    "Provider",
    "Scheme",
    "Survey",
    "Target",
    "describe",
    "find_all",
    "load",
    "operator_list",
    "survey",
    "validate",
]

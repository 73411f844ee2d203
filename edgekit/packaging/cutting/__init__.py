"""Ending a graph before its selection: for targets that run neither NonMaxSuppression nor TopK, nor what is behind."""

from edgekit.packaging.cutting.agreement import agreement
from edgekit.packaging.cutting.cut import Cut, cut
from edgekit.packaging.cutting.region import selects

__all__ = ["Cut", "agreement", "cut", "selects"]

"""The range of each activation, measured on images that are streamed: memory does not grow with their number."""

from edgekit.packaging.calibration.data import CalibrationData
from edgekit.packaging.calibration.methods import METHODS, Average, Entropy, Method, MinMax, Percentile
from edgekit.packaging.calibration.range import Range
from edgekit.packaging.calibration.ranges import Feeds, calibrate

__all__ = [
    "METHODS",
    "Average",
    "CalibrationData",
    "Entropy",
    "Feeds",
    "Method",
    "MinMax",
    "Percentile",
    "Range",
    "calibrate",
]

"""What would run where, before anything is packaged."""

from edgekit.packaging.check.checking import check
from edgekit.packaging.check.coverage import Coverage
from edgekit.packaging.check.finding import Finding
from edgekit.packaging.check.verdict import Verdict

__all__ = ["Coverage", "Finding", "Verdict", "check"]

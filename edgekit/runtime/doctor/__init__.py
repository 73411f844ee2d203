"""What this machine can run, and what it lacks. Nothing here needs onnxruntime or numpy to be installed."""

from edgekit.runtime.doctor.diagnosis import Diagnosis, Verdict, diagnose

__all__ = ["Diagnosis", "Verdict", "diagnose"]

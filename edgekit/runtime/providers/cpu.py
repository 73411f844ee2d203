"""onnxruntime's own CPU provider: it takes no options from Python, and reads no variables."""

from edgekit.runtime.providers.known import Known

NAME = "CPUExecutionProvider"
KNOWN = Known(NAME, "onnxruntime", install="pip install onnxruntime")

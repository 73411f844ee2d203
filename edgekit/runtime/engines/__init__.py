"""Other things than onnxruntime that run an ONNX model, in the place of its session."""

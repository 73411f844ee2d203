"""What can be said of a model file before anything parses it."""

from __future__ import annotations

from pathlib import Path

from edgekit.errors import ModelError, UsageError

# Formats that are not ONNX, and the command that gets from there to it.
EXPORTS = {
    ".pt": "yolo export model={name} format=onnx",
    ".pth": "torch.onnx.export(model, (example,), '{stem}.onnx') in Python",
    ".tflite": "python -m tf2onnx.convert --tflite {name} --output {stem}.onnx",
    ".h5": "python -m tf2onnx.convert --keras {name} --output {stem}.onnx",
    ".keras": "python -m tf2onnx.convert --keras {name} --output {stem}.onnx",
    ".pb": "python -m tf2onnx.convert --saved-model FOLDER --output {stem}.onnx",
    ".mlpackage": "yolo export model={stem}.pt format=onnx (a Core ML package has no way back to ONNX)",
    ".mlmodel": 'python -c "import coremltools, onnxmltools; onnxmltools.utils.save_model(onnxmltools.convert_coreml('
    "coremltools.utils.load_spec('{name}')), '{stem}.onnx')\"",
    ".xml": "export ONNX from the original model (OpenVINO IR has no way back to ONNX)",
    ".engine": "yolo export model={stem}.pt format=onnx (a TensorRT engine has no way back to ONNX)",
}
LFS_POINTER = b"version https://git-lfs"
FETCH_LFS = "git lfs pull"
FETCH_AGAIN = "download or export it again"


def check(path: Path) -> None:
    """Refuse what is certainly no ONNX file, in a sentence that says what it is.

    Raises:
        ModelError: another format, empty, a Git LFS pointer, or not ONNX at all.
        UsageError: there is no such file.
    """
    suffix = path.suffix.lower()
    if suffix in EXPORTS:
        command = EXPORTS[suffix].format(name=path.name, stem=path.stem)
        raise ModelError(f"{path} is a {suffix} model, edgekit reads ONNX", hint=command)
    if not path.exists():
        raise UsageError(f"{path} does not exist")
    if path.is_dir():
        raise ModelError(f"{path} is a folder, not a model file")
    head = path.open("rb").read(len(LFS_POINTER))
    if not head:
        raise ModelError(f"{path} is empty: {FETCH_AGAIN}")
    if head == LFS_POINTER:
        raise ModelError(
            f"{path} is a Git LFS pointer, the model itself is not here: fetch it with {FETCH_LFS}", hint=FETCH_LFS
        )
    # field 1 of ModelProto, ir_version, is what every exporter writes first; .ort is a flatbuffer
    if head[0] != 0x08 and suffix != ".ort":
        raise ModelError(f"{path} is not an ONNX file: {FETCH_AGAIN}")

"""Images in and out: from a file, bytes or an object to a BGR array, and from an array to a file.

OpenCV decodes and encodes where it is installed, Pillow where it is not; `.npy` arrays need neither.
"""

from __future__ import annotations

import contextlib
import io
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgekit.errors import DependencyError, EdgekitError, UsageError

INSTALL_VISION = 'pip install "edgekit[vision]"'
JPEG_QUALITY = 95
WRITABLE = (".jpg", ".jpeg", ".png", ".bmp", ".webp")

_NPY = b"\x93NUMPY"
_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8\xff"
_LFS = b"version https://git-lfs"
# what Pillow raises on damaged files, by format
_PILLOW_FAILURES = (OSError, SyntaxError, ValueError, EOFError, IndexError, KeyError, TypeError, MemoryError)


def opencv() -> Any | None:
    """The cv2 module; None where it is not installed or cannot load."""
    try:
        import cv2
    except ImportError:  # also a missing libGL, or a build for another numpy
        return None
    return cv2


def pillow() -> Any | None:
    """The PIL package with what is used of it; None where it is not installed or cannot load."""
    try:
        import PIL.Image
        import PIL.ImageOps
    except ImportError:
        return None
    return PIL


def read(source: Path | str | bytes, *, name: str | None = None) -> NDArray[np.uint8]:
    """An image as (H, W, 3) uint8, BGR, upright, without alpha; 16-bit ones keep their upper 8 bits.

    Args:
        source: a file, or the content of one.
        name: what errors call it; the path if not given.

    Raises:
        UsageError: it is missing, empty, truncated, a folder, or not an image.
        DependencyError: neither OpenCV nor Pillow is here, and it is not a `.npy` array.
    """
    if isinstance(source, bytes):
        name, data = name or "the image", source
    else:
        name = name or str(source)
        data = _content(Path(source), name)
    if not data:
        raise UsageError(f"{name} is empty")
    if data.startswith(_NPY):
        return _from_npy(data, name)
    if name.lower().endswith(".npy"):
        raise UsageError(f"{name} is not a .npy file", hint='write it with numpy.save("image.npy", image)')
    if data.startswith(_LFS):
        raise UsageError(f"{name} is a Git LFS pointer, not the image itself", hint="git lfs pull")
    if _is_truncated(data):
        raise UsageError(f"{name} is truncated: its end is missing", hint="copy it again")
    return _decode(data, name)


def as_image(value: Any, *, name: str = "the image") -> NDArray[np.uint8]:
    """What a caller hands over as (H, W, 3) uint8, BGR, contiguous; an array that already is comes back as it is.

    Args:
        value: a BGR array (H, W, 3), a grey one (H, W) or (H, W, 1), one with alpha (H, W, 4), or a PIL image.

    Raises:
        UsageError: another type, dtype or rank.
    """
    if _is_pillow_image(value):
        image = _from_pillow(pillow(), value)
        if image is None:
            raise UsageError(f"{name} has mode {value.mode}, which has no 8-bit colours", hint='image.convert("RGB")')
        return image
    if not isinstance(value, np.ndarray):
        raise UsageError(f"{name} is a {type(value).__name__}, must be a numpy array or a PIL image")
    if value.ndim not in (2, 3) or (value.ndim == 3 and value.shape[2] not in (1, 3, 4)):
        raise UsageError(f"{name} has shape {value.shape}, must be (height, width, 3) in BGR order, or (height, width)")
    if value.dtype != np.uint8:
        raise UsageError(f"{name} is {value.dtype}, must be uint8 in 0..255")
    if 0 in value.shape:
        raise UsageError(f"{name} has shape {value.shape}: no pixels")
    if value.ndim == 2:
        value = value[:, :, None]
    if value.shape[2] == 1:
        value = np.broadcast_to(value, (*value.shape[:2], 3))
    return np.ascontiguousarray(value[:, :, :3])


def write(path: Path | str, image: NDArray[np.uint8]) -> None:
    """Write a BGR or grey image in the format of the name's ending; whoever reads the file sees all of it or none.

    Raises:
        UsageError: no format has this ending.
        DependencyError: neither OpenCV nor Pillow is here.
        EdgekitError: it cannot be encoded or stored.
    """
    path = Path(path)
    if path.suffix.lower() not in WRITABLE:
        raise UsageError(
            f"{path}: pictures are written as {', '.join(WRITABLE)}, not {path.suffix or 'without ending'}"
        )
    _store(path, _encode(path, image))


def write_array(path: Path | str, array: NDArray[Any]) -> None:
    """Write an `.npy` file; whoever reads it sees all of it or none.

    Raises:
        EdgekitError: it cannot be stored.
    """
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    _store(Path(path), buffer.getvalue())


def _store(path: Path, data: bytes) -> None:
    beside = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("xb") as file:
            file.write(data)
        beside.replace(path)
    except OSError as e:
        raise EdgekitError(f"{path} cannot be written: {e.strerror or e}") from e
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


def writable(folder: Path | str) -> None:
    """Check that files can be created in `folder`, or that it can be made; leaves nothing behind.

    Raises:
        UsageError: they cannot.
    """
    folder = Path(folder)
    missing: list[Path] = []
    probe = folder / f".{secrets.token_hex(8)}.tmp"
    try:
        missing = [f for f in (folder, *folder.parents) if not f.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        # permission bits do not tell: the file system may be read-only, or the user root
        probe.touch(exist_ok=False)
    except OSError as e:
        in_the_way = isinstance(e, (FileExistsError, NotADirectoryError))
        reason = "a file is in its place" if in_the_way else e.strerror or e
        raise UsageError(f"{folder} cannot be written to: {reason}", hint="choose another folder") from e
    finally:
        with contextlib.suppress(OSError):
            probe.unlink(missing_ok=True)
        for made in missing:
            with contextlib.suppress(OSError):
                made.rmdir()


def missing_opencv(what: str) -> DependencyError:
    """The error for a step that needs OpenCV where it is not here."""
    return DependencyError(f"{what} needs OpenCV, which is not installed", hint=INSTALL_VISION)


def missing_vision(what: str) -> DependencyError:
    """The error for a step that needs OpenCV or Pillow where neither is here."""
    return DependencyError(f"{what} needs OpenCV or Pillow, and neither is installed", hint=INSTALL_VISION)


def _content(path: Path, name: str) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as e:
        raise UsageError(f"{name} does not exist") from e
    except OSError as e:
        if path.is_dir():  # opening a folder is a PermissionError on Windows
            raise UsageError(f"{name} is a folder, not an image") from e
        raise UsageError(f"{name} cannot be read: {e.strerror or e}") from e
    except ValueError as e:  # a NUL in the name
        raise UsageError(f"{name!r} is not a file name") from e


def _from_npy(data: bytes, name: str) -> NDArray[np.uint8]:
    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError, MemoryError, OverflowError) as e:
        raise UsageError(f"{name} is truncated or damaged: numpy cannot load it", hint="save it again") from e
    return as_image(array, name=name)


def _is_truncated(data: bytes) -> bool:
    """Whether a JPEG or PNG lacks its end: OpenCV 4 fills what is missing of a JPEG with grey and says nothing."""
    if data.startswith(_PNG):
        return data.rfind(b"IEND") < 0
    if data.startswith(_JPEG):
        scan = _jpeg_scan(data)
        return scan < 0 or data.rfind(b"\xff\xd9", scan) < 0
    return False


def _jpeg_scan(data: bytes) -> int:
    """Where a JPEG's pixels start, -1 if nowhere. A thumbnail in the segments before has an end marker of its own."""
    at = 2
    while at + 4 <= len(data):
        if data[at] != 0xFF:
            at += 1  # padding between segments
        elif data[at + 1] == 0xDA:
            return at
        elif data[at + 1] in (0xFF, 0x00, 0x01) or 0xD0 <= data[at + 1] <= 0xD8:
            at += 1  # fill bytes, and markers without a length
        else:
            at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return -1


def _decode(data: bytes, name: str) -> NDArray[np.uint8]:
    cv2, pil = opencv(), pillow()
    if cv2 is None and pil is None:
        raise missing_vision(f"reading {name}")
    image = None
    if cv2 is not None:
        image = _decode_opencv(cv2, data)
    if image is None and pil is not None:
        image = _decode_pillow(pil, data)  # knows some formats more
    if image is None:
        if _looks_like_an_image(data):
            raise UsageError(
                f"{name} is a damaged image, or of a kind that cannot be decoded here",
                hint="save it again as PNG or JPEG",
            )
        raise UsageError(f"{name} is not an image")
    return image


def _decode_opencv(cv2: Any, data: bytes) -> NDArray[np.uint8] | None:
    with _quiet(cv2):
        try:
            image: NDArray[np.uint8] | None = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
        except cv2.error:  # more pixels than OpenCV takes
            return None
    return image


def _decode_pillow(pil: Any, data: bytes) -> NDArray[np.uint8] | None:
    try:
        return _from_pillow(pil, pil.Image.open(io.BytesIO(data)))
    except (*_PILLOW_FAILURES, pil.Image.DecompressionBombError):
        return None


def _from_pillow(pil: Any, image: Any) -> NDArray[np.uint8] | None:
    """A PIL image as a BGR array; None for the modes without 8-bit colours."""
    image = pil.ImageOps.exif_transpose(image)
    if image.mode.startswith("I"):  # 16-bit grey; Pillow's own conversion clips instead of scaling
        grey = (np.clip(np.asarray(image), 0, 65535) >> 8).astype(np.uint8)
        return np.ascontiguousarray(np.broadcast_to(grey[:, :, None], (*grey.shape, 3)))
    if image.mode in ("F", "LAB"):
        return None
    if image.mode == "P":
        image = image.convert("RGBA")  # straight to RGB warns where the palette has alpha
    return np.ascontiguousarray(np.asarray(image.convert("RGB"))[:, :, ::-1])


def _is_pillow_image(value: Any) -> bool:
    module = sys.modules.get("PIL.Image")  # whoever has such an image has loaded it
    return module is not None and isinstance(value, module.Image)


def _looks_like_an_image(data: bytes) -> bool:
    starts = (_PNG, _JPEG, b"BM", b"GIF8", b"II*\0", b"MM\0*", b"P5", b"P6")
    return data.startswith(starts) or data[8:12] in (b"WEBP",) or data[4:8] == b"ftyp"


def _encode(path: Path, image: NDArray[np.uint8]) -> bytes:
    cv2, pil = opencv(), pillow()
    suffix = path.suffix.lower()
    if cv2 is not None:
        options = [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY] if suffix in (".jpg", ".jpeg") else []
        with _quiet(cv2):
            try:
                done, encoded = cv2.imencode(suffix, image, options)
            except cv2.error:
                done = False
        if done:
            return bytes(encoded)
    elif pil is not None:
        buffer = io.BytesIO()
        kind = {".jpg": "JPEG"}.get(suffix, suffix[1:].upper())
        try:
            pixels = image if image.ndim == 2 else np.ascontiguousarray(image[:, :, ::-1])
            pil.Image.fromarray(pixels).save(buffer, kind, quality=JPEG_QUALITY)
            return buffer.getvalue()
        except _PILLOW_FAILURES:
            pass
    else:
        raise missing_vision(f"writing {path}")
    height, width = image.shape[:2]
    raise EdgekitError(f"{path}: a picture of {width}x{height} cannot be written as {suffix[1:]}", hint="try .png")


@contextlib.contextmanager
def _quiet(cv2: Any) -> Iterator[None]:
    """OpenCV's own log lines say less than the error that follows."""
    log = cv2 if hasattr(cv2, "setLogLevel") else cv2.utils.logging  # OpenCV 4 and 5
    before = log.getLogLevel()
    log.setLogLevel(0)
    try:
        yield
    finally:
        log.setLogLevel(before)

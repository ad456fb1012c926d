"""Frames as Pillow images. ``Image.open`` and ``save`` do not change unless :func:`register` is called.

>>> from zoetrope import pillow
>>> with pillow.open("party.gif") as image:
...     image.seek(3)
...     image.convert("RGB").save("3.jpg")

Images have the mode RGBA, and each frame is composited as in a browser. ``format`` is ``"GIF"`` or ``"PNG"``, as in
Pillow. A pickled or deeply copied image keeps only the pixels of its current frame. This module needs NumPy and Pillow
10.2 or later.

``info`` has the following keys of Pillow, if the file has a value for them: ``duration`` (the time in ms for which the
frame is shown), ``loop`` (the loop count as stored), ``icc_profile`` and ``xmp``; for GIF also ``version``,
``background`` and ``comment``; for PNG also ``dpi`` or ``aspect``, ``gamma``, ``chromaticity``, ``srgb``, ``exif`` and
texts. It has no other keys, such as ``transparency``, ``interlace``, ``extension`` or ``disposal``. The static image of
an APNG is skipped if it is not a frame, so ``default_image`` is always False.

After ``register(save=True)``, ``image.save(file, save_all=True, append_images=...)`` writes GIF and APNG with Zoetrope.
Each image is shown exactly as it is, whatever was shown before it. The options are:

- ``duration`` is the time in ms for which each frame is shown: one value for all frames, or a list. Fractions are kept
  in an APNG, and rounded without drift in a GIF. Short durations are stored too, although browsers show a frame of 10
  ms or less for 100 ms; in a GIF, durations below 20 ms may be rounded to 10 ms. Consecutive frames that are equal and
  last at least 20 ms each are merged into one.
- ``loop`` is the loop count that Pillow would store: 0 plays forever; 3 plays a GIF four times and an APNG three times.
  So ``loop=image.info["loop"]`` is right if the format does not change. ``loop=None`` plays a GIF once. Without
  ``loop``, the file plays as often as the image that is saved, even if the format changes. If that image is not an
  animation, a GIF plays once and an APNG forever.
- ``disposal`` and ``optimize`` have no effect, because frames look the same with every disposal.
- ``comment`` is written to a GIF. If the comment is not UTF-8 or contains a null byte, Pillow's writer is used.

Pillow opens a path before it calls any writer. So an old file is lost if saving fails, and Ctrl-C may leave an empty
one behind. :func:`zoetrope.save` replaces a file only once the new one is complete; it also takes Pillow images.

Pillow's own writer is used if there is a single frame, if frames differ in size or have other modes than 1, L, LA, P,
PA, RGB and RGBA, and for all other options, such as ``blend``, ``default_image``, ``palette`` or ``pnginfo``.
"""

from __future__ import annotations

import functools
import itertools
import os
from contextlib import contextmanager, suppress
from fractions import Fraction
from io import BytesIO, StringIO
from typing import IO, Any, Callable, Dict, Iterator, List, Optional, Tuple, Union

try:
    import PIL
    from PIL import Image, ImageFile, ImageSequence, UnidentifiedImageError
except ModuleNotFoundError as error:
    if error.name != "PIL":
        raise
    raise ImportError("zoetrope.pillow needs Pillow: pip install 'pillow>=10.2'") from None

from . import _animation, _writing
from ._errors import LIMITS_HINT, ForkedError, LimitError, OutOfMemoryError, UnwritableError, ZoetropeError
from ._jobs import describe
from ._writer_arguments import exact_seconds, plays_of_loop

# Earlier versions of Pillow expect the size, mode and tiles of a plugin in other attributes.
if tuple(int(part) for part in PIL.__version__.split(".")[:2]) < (10, 2):
    raise ImportError(
        f"zoetrope.pillow needs Pillow 10.2 or later, not {PIL.__version__}: pip install -U pillow")

FORMAT = "ZOETROPE"
_STARTS = (b"GIF87a", b"GIF89a", b"\x89PNG\r\n\x1a\n")


#: The kinds of damage which mean that the data of a frame ends early. Other kinds of damage lie within the data.
_TRUNCATED = {
    "gif.lzw.endCodeEarly", "gif.lzw.noData", "gif.lzw.truncated", "png.short", "png.truncated"}


class DecompressionBombError(LimitError, Image.DecompressionBombError):
    """The file exceeds a limit. Pillow's exception of the same name is a base class of this one."""


def _bomb(error: LimitError) -> DecompressionBombError:
    """Return the exception of Pillow's type with the contents of ``error``."""
    # Neither `Image.open` nor `open` of this module has `limits=`.
    message = error.message.replace(LIMITS_HINT, "")
    return DecompressionBombError(
        error.code, message, error.frame, error.byte_offset, error.path, error.found, error.allowed)


@contextmanager
def _as_pillow_does() -> Iterator[None]:
    """Convert errors of decoding to those that Pillow raises, with the original error as the cause."""
    try:
        yield
    except LimitError as error:
        raise _bomb(error) from error
    except (OSError, ForkedError, OutOfMemoryError):
        raise
    except ZoetropeError as error:
        raise OSError(str(error)) from error


class ZoetropeImageFile(ImageFile.ImageFile):
    """A GIF, APNG or PNG, decoded frame by frame."""

    format = FORMAT
    format_description = "GIF and APNG, by Zoetrope"
    default_image = False
    # These are the values for an unpickled image, which has the pixels of one frame and no file.
    _animation: _animation.Animation
    _index = _loaded = _min_frame = 0
    n_frames = 1
    #: The number of frames that can be decoded.
    _whole = 1
    is_animated = False
    fp = None

    def _open(self) -> None:
        try:
            self._read()
        except LimitError as error:
            raise _bomb(error) from error
        except (ForkedError, OutOfMemoryError):
            # Do not let Pillow try another reader: the file is not the reason, and another reader would give other
            # pixels.
            raise
        except ZoetropeError as error:
            # After a SyntaxError, Pillow tries its own readers.
            raise SyntaxError(str(error)) from error

    def _read(self) -> None:
        assert self.fp is not None
        start = self.fp.tell()
        header = self.fp.read(13)
        self.fp.seek(start)
        animation = self._animation = _animation.open(self.fp, damage="partial")
        self.format = "GIF" if animation.format == "gif" else "PNG"
        self.custom_mimetype = f"image/{animation.format}"
        self._size = animation.size
        self._mode = "RGBA"
        self.n_frames = self._whole = len(animation)
        # As in Pillow, the number of frames includes a last frame whose data is missing. Loading that frame fails, or
        # gives the rows that the file has.
        lost = [item.frame for item in animation.damage if item.kind in ("cutFrame", "missingFrames")]
        if lost and min(frame or 0 for frame in lost) >= self._whole:
            self.n_frames += 1
        self.is_animated = self.n_frames > 1
        if animation.stored_loop_count is not None:
            self.info["loop"] = animation.stored_loop_count
        comments: List[bytes] = []
        for item in animation.metadata:
            if item.kind in ("icc_profile", "xmp"):
                self.info[item.kind] = item.value
            elif item.kind == "exif":
                self.info["exif"] = b"Exif\0\0" + item.value
            elif item.kind == "color":
                self._note_color(item.key, [int(number) for number in item.value.split()])
            elif item.kind == "text" and self.format == "GIF":
                comments.append(item.value)
            elif item.kind == "text":
                self.info[item.key] = item.value.decode("utf-8", "replace")
        if self.format == "GIF":
            self.info["version"] = header[:6]
            if comments:
                self.info["comment"] = b"\n".join(comments)
            # The background is set only if there is a global palette.
            if header[10] & 0x80:
                self.info["background"] = header[11]
        self._index = 0
        self._loaded = -1
        self._note_duration()

    def _note_color(self, key: str, numbers: List[int]) -> None:
        if key == "gamma":
            self.info["gamma"] = numbers[0] / 100000
        elif key == "chromaticities":
            self.info["chromaticity"] = tuple(number / 100000 for number in numbers)
        elif key == "srgb_intent":
            self.info["srgb"] = numbers[0]
        elif key == "density":
            x, y, unit = numbers
            if unit == 1:
                # The file stores pixels per metre.
                self.info["dpi"] = (x * 0.0254, y * 0.0254)
            elif unit == 0:
                self.info["aspect"] = (x, y)

    def _note_duration(self) -> None:
        frame = self._animation.frames[min(self._index, self._whole - 1)]
        # Set the duration of a still image only if the file stores one.
        if self.is_animated or frame.delay[0]:
            duration = frame.duration_ns / 1e6
            # Pillow uses an int for GIF.
            self.info["duration"] = round(duration) if self.format == "GIF" else duration

    def __getstate__(self) -> List[Any]:
        return [*super().__getstate__(), self.format, self.custom_mimetype]

    def __setstate__(self, state: List[Any]) -> None:
        *state, self.format, self.custom_mimetype = state
        super().__setstate__(state)

    def seek(self, frame: int) -> None:
        # This raises EOFError if the frame does not exist.
        if self._seek_check(frame):
            self._check_open()
            self._index = frame
            # Load the frame again later, because `thumbnail` or the program may have changed the pixels.
            self._loaded = -1
            if self._size != self._animation.size:
                self._size = self._animation.size
                self.im = Image.new(self.mode, self.size, None).im
            with _as_pillow_does():
                self._note_duration()

    def tell(self) -> int:
        return self._index

    def load(self) -> Any:
        if self._loaded != self._index:
            self._check_open()
            with _as_pillow_does():
                decoded = self._animation.decode(min(self._index, self._whole - 1))
                pixels, damage = decoded.pixels, decoded.damage
            if self._index >= self._whole and not ImageFile.LOAD_TRUNCATED_IMAGES:
                raise OSError(f"image file is truncated (frame {self._index} is missing)")
            if damage and not damage.is_tolerated and not ImageFile.LOAD_TRUNCATED_IMAGES:
                words = (
                    "image file is truncated" if damage.kind in _TRUNCATED
                    else "broken data stream when reading image file")
                raise OSError(f"{words} ({describe(damage)})")
            if self.fp and getattr(self, "_exclusive_fp", False):
                self.fp.close()
            self.fp = BytesIO(pixels.tobytes())
            self.tile = [ImageFile._Tile("raw", (0, 0, *self.size), 0, "RGBA")]
            pixel = super().load()
            # Set this last, because loading may fail or be interrupted.
            self._loaded = self._index
            if not self.is_animated:
                # As Pillow does, keep no file open: a program may load thousands of images.
                self._close_animation()
            return pixel
        return super().load()

    def _check_open(self) -> None:
        if self._animation.closed:
            raise ValueError("Operation on closed image")

    def close(self) -> None:
        super().close()
        self._close_animation()

    def __exit__(self, *arguments: object) -> None:
        super().__exit__(*arguments)
        # Pillow closes the file only if it opened it.
        if getattr(self, "_exclusive_fp", False):
            self._close_animation()

    def _close_animation(self) -> None:
        # An unpickled image has no animation.
        if hasattr(self, "_animation"):
            self._animation.close()

    def load_seek(self, pos: int) -> None:
        """Do nothing, because the pixels are not read from the file."""


def _accept(prefix: bytes) -> bool:
    return prefix.startswith(_STARTS)


def open(  # noqa: A001: pillow.open
    source: Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, IO[bytes]],
) -> ZoetropeImageFile:
    """Open a file as a Pillow image.

    :param source: a path, the file's bytes, or a binary file object, which is read from its start.
    :raises UnidentifiedImageError: if the source is not an image. The cause of this error is a :class:`ZoetropeError`.
    :raises DecompressionBombError: if a limit is exceeded.
    :raises OSError: if the file cannot be read.
    :raises ForkedError: in a process that was forked after the library was used.
    :raises OutOfMemoryError: if the system cannot provide memory.
    :raises ValueError: if the source is a StringIO.
    :raises TypeError: if the source is any other object that cannot be opened.

    Loading a frame raises :class:`DecompressionBombError`, or an OSError if the frame cannot be decoded or if its
    data is damaged and ``ImageFile.LOAD_TRUNCATED_IMAGES`` is not set.
    """
    if isinstance(source, StringIO):
        raise ValueError("StringIO cannot be used to open an image. Binary data must be used instead.")
    if isinstance(source, (bytes, bytearray, memoryview)):
        source = BytesIO(source)
    elif not isinstance(source, (str, os.PathLike)) and not hasattr(source, "read"):
        raise TypeError(
            f"source must be a path, bytes or a binary file object, not {type(source).__name__}")
    elif not isinstance(source, (str, os.PathLike)) and hasattr(source, "seek"):
        # Start at the first byte, as `Image.open` does.
        with suppress(OSError):
            source.seek(0)
    try:
        return ZoetropeImageFile(source)
    except SyntaxError as error:
        raise UnidentifiedImageError(str(error)) from error.__cause__


#: The options of ``save`` that have the same effect as in Pillow, or no effect on the result. A call with any other
#: option is left to Pillow.
_OPTIONS = {
    "GIF": {"append_images", "comment", "disposal", "duration", "loop", "optimize", "interlace"},
    "PNG": {"append_images", "disposal", "duration", "loop", "optimize", "compress_level", "compress_type"},
}
#: The keys of an image's ``info`` that Pillow's writer would also put into the file.
_INFO = {"GIF": set(), "PNG": {"icc_profile", "transparency", "blend", "default_image"}}
_MODES = {"1", "L", "LA", "P", "PA", "RGB", "RGBA"}
#: The writers of Pillow, which are kept while those of this module replace them.
_pillow_writers: Dict[str, Callable[..., None]] = {}


def _save_all(container: str, image: Any, file: IO[bytes], filename: Union[str, bytes]) -> None:
    """Write several frames. ``container`` is ``"GIF"`` or ``"PNG"``."""
    if image.encoderinfo.get("append_images") is not None:
        # Convert an iterator to a list, because iterating consumes it, and Pillow's writer may need it afterwards.
        image.encoderinfo["append_images"] = list(image.encoderinfo["append_images"])
    request = _frames_to_save(container, image)
    if request is not None:
        frames, durations = request
        comment = _comment(image) if container == "GIF" else ""
        try:
            _writing.save(
                file, frames, durations=durations, plays=_plays(container, image),
                format="gif" if container == "GIF" else "apng", exact_delays=True,
                texts={"Comment": comment} if comment else None)
            return
        except UnwritableError:
            # This happens, for example, for more plays than a GIF can store. Nothing has been written yet.
            pass
    _pillow_writers[container](image, file, filename)


def _frames_to_save(container: str, image: Any) -> Optional[Tuple[List[Any], List[Fraction]]]:
    """Return the frames and their durations in seconds, or None if Pillow should write the file."""
    told = {key: value for key, value in image.encoderinfo.items() if value is not None}
    kept = {key for key in _INFO[container] if image.info.get(key)}
    if image.mode in ("P", "L", "RGB"):
        # The transparent colour is not lost, because the image is converted to RGBA below.
        kept -= {"transparency"}
    if not told.keys() <= _OPTIONS[container] | {"save_all"} or kept:
        return None
    if container == "GIF" and _comment(image) is None:
        return None
    duration = told.get("duration")
    to_list = getattr(duration, "tolist", None)
    if to_list is not None:
        # Convert a NumPy array to a list.
        duration = to_list()
    frames: List[Any] = []
    durations: List[Fraction] = []
    # `thumbnail` changes the size of one frame, and seeking to the next frame changes it back.
    size = image.size
    for source in itertools.chain([image], told.get("append_images", [])):
        for frame in ImageSequence.Iterator(source):
            if frame.mode not in _MODES or frame.size != size:
                return None
            index = len(frames)
            shown = duration[index:index + 1] if isinstance(duration, (list, tuple)) else [duration]
            if not shown:
                raise ValueError(f"duration has {index} values, but there are more frames")
            milliseconds = frame.info.get("duration") if shown[0] is None else shown[0]
            durations.append(exact_seconds(milliseconds or 0, "duration") / 1000)
            is_plain = frame.mode in ("L", "RGB") and "transparency" not in frame.info
            # Make a copy, because the next frame may be drawn over this one.
            frames.append(frame.copy() if is_plain else frame.convert("RGBA"))
    return (frames, durations) if len(frames) > 1 else None


def _comment(image: Any) -> Optional[str]:
    """Return the comment of a GIF, or an empty string.

    The result is None if the comment is not text, in which case only Pillow can store it.
    """
    comment = image.encoderinfo.get("comment", image.info.get("comment")) or ""
    try:
        text = comment.decode() if isinstance(comment, bytes) else str(comment)
        text.encode()
    except UnicodeError:
        return None
    return None if "\0" in text else text


def _plays(container: str, image: Any) -> Optional[int]:
    """Return the total number of plays, or None for forever."""
    loop = image.encoderinfo.get("loop")
    if loop is not None:
        return plays_of_loop(loop, container == "GIF")
    if container == "GIF" and "loop" in image.encoderinfo:
        # For a loop of None, Pillow stores no loop count.
        return 1
    animation = getattr(image, "_animation", None)
    if isinstance(animation, _animation.Animation):
        return animation.plays
    loop = image.info.get("loop")
    if loop is None:
        return 1 if container == "GIF" else None
    # A copy of an image has the `info` of the original but not its format. Only images of a GIF have a version in
    # `info`. For any other copy, Pillow stores the loop count unchanged.
    is_of_gif = image.format == "GIF" or image.format is None and (container == "GIF" or "version" in image.info)
    return plays_of_loop(loop, is_of_gif)


def register(*, first: bool = False, save: bool = False) -> None:
    """Make the format known to ``Image.open(file, formats=["ZOETROPE"])``.

    :param first: whether to use this reader also for every ``Image.open`` in this process that opens a GIF or PNG and
        does not pass ``formats``.
    :param save: whether to use this package also for every ``save(..., save_all=True)`` of several frames as GIF or PNG
        in this process.
    """
    # Load Pillow's own readers now. Otherwise Pillow would later put them first.
    Image.preinit()
    Image.register_open(FORMAT, ZoetropeImageFile, _accept)
    # Remove the name from the list, because each call of `register_open` appends it again.
    Image.ID[:] = [name for name in Image.ID if name != FORMAT]
    Image.ID.insert(0 if first else len(Image.ID), FORMAT)
    if save:
        # Make sure that Pillow has imported its plugins, whose writers are replaced below.
        Image.init()
    for container in _OPTIONS:
        if save and container not in _pillow_writers:
            _pillow_writers[container] = Image.SAVE_ALL[container]
            Image.SAVE_ALL[container] = functools.partial(_save_all, container)
        elif not save and container in _pillow_writers:
            Image.SAVE_ALL[container] = _pillow_writers.pop(container)


def unregister() -> None:
    """Undo :func:`register`."""
    Image.ID[:] = [name for name in Image.ID if name != FORMAT]
    Image.OPEN.pop(FORMAT, None)
    for container in list(_pillow_writers):
        Image.SAVE_ALL[container] = _pillow_writers.pop(container)

"""A plugin for the v3 API of imageio. Only calls that pass it, or its registered name, as ``plugin`` use it.

>>> import imageio.v3 as iio
>>> import zoetrope.imageio
>>> frames = iio.imread("party.gif", plugin=zoetrope.imageio.Plugin)            # N×H×W×4
>>> zoetrope.imageio.register()
>>> first = iio.imread("party.gif", index=0, mode="RGB", plugin="zoetrope")
>>> iio.imwrite("copy.png", frames, plugin="zoetrope", duration=40, loop=0)     # ms

The name is case-sensitive. In the v2 API, the name is passed as ``format``:
``mimsave("copy.gif", frames, format="zoetrope")``.
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional, Sequence, SupportsFloat, Union

import numpy as np
from imageio.config.plugins import PluginConfig, known_plugins
from imageio.core.request import URI_FILENAME, InitializationError, IOMode, Request
from imageio.core.v3_plugin_api import ImageProperties, PluginV3

from . import _animation, _writing
from ._arrays import _check_layout
from ._errors import NotAnImageError, parameter_error
from ._types import Filter, Fit, Format, Layout, Size
from ._writer_arguments import _delay, _picture, exact_rate, exact_seconds, is_pillow, plays_of_loop

_FORMATS: Dict[str, Any] = {".gif": "gif", ".png": "apng", ".apng": "apng"}


def register() -> None:
    """Make :class:`Plugin` available as ``plugin="zoetrope"``. Calls without ``plugin`` are not affected."""
    known_plugins["zoetrope"] = PluginConfig(
        name="zoetrope", class_name="Plugin", module_name="zoetrope.imageio", install_name="zoetrope")


class Plugin(PluginV3):
    """A plugin that reads and writes GIF and APNG.

    An integer ``index`` selects one frame. A slice, ``...`` or None selects several frames, which are returned as one
    N×H×W×C array.

    For reading, the options of ``imopen`` (``limits``, ``damage``, ``delays``, ``deep`` ...) are those of
    :func:`zoetrope.open`. For writing, they are those of :class:`zoetrope.Writer` (``effort``, ``colors``, ``texts``
    ...). ``exact_delays`` is true by default: every frame is stored with its duration, although browsers show a frame
    of 10 ms or less for 100 ms. The options of ``imread`` (``size``, ``fit``, ``filter``) are those of
    :meth:`zoetrope.Animation.frame`.

    The file at a path is written under a temporary name, and renamed when it is complete. Any other destination
    receives all bytes at the end.
    """

    def __init__(self, request: Request, **options: Any) -> None:
        super().__init__(request)
        if request.mode.io_mode == IOMode.write:
            format = _FORMATS.get((request.format_hint or request.extension or "").lower())
            if format is None:
                raise InitializationError("zoetrope writes .gif, .png and .apng")
            #: The writer, which the first call of `write` creates, because that call has the number of plays.
            self._writer: Optional[_writing.Writer] = None
            self._options: Dict[str, Any] = {"format": format, "exact_delays": True, **options}
            self._plays: Optional[int] = None
            self._held: List[Any] = []
            self._is_closed = False
            return
        try:
            self._animation = _animation.open(request.get_file(), **options)
        except NotAnImageError as error:
            raise InitializationError(str(error)) from error

    def _places(self, index: Any) -> Optional[range]:
        """Return the indices of the frames that ``index`` selects, or None if it selects a single frame."""
        if index is None or index is ...:
            index = slice(None)
        return range(len(self._animation))[index] if isinstance(index, slice) else None

    def read(self, *, index: Any = None, mode: Format = "RGBA", **rendering: Any) -> np.ndarray:
        """Return one frame or several frames. ``mode`` is the pixel format: ``"RGBA"``, ``"RGB"``, ``"L"`` ..."""
        places = self._places(index)
        if places is None:
            return self._animation.frame(index, format=mode, **rendering)
        return self._animation.read(places, format=mode, **rendering)

    def iter(self, *, mode: Format = "RGBA", **rendering: Any) -> Iterator[np.ndarray]:
        """Yield all frames in order, with one frame in memory at a time."""
        for index in range(len(self._animation)):
            yield self._animation.frame(index, format=mode, **rendering)

    def write(
        self, ndimage: Any, *, duration: Union[None, SupportsFloat, Sequence[SupportsFloat]] = None,
        fps: Optional[SupportsFloat] = None, loop: Optional[int] = None, plays: Optional[int] = None,
        is_batch: Optional[bool] = None,
    ) -> Optional[bytes]:
        """Append one frame or several frames.

        The file is completed when the resource is closed, or, for ``"<bytes>"``, by this call.

        :param ndimage: a uint8 or uint16 array of shape H×W, H×W×1, H×W×3 or H×W×4, or a Pillow image; or several
            frames as an N×H×W×C or N×H×W array, or a list of arrays or Pillow images.
        :param duration: how long a frame is shown, in ms: one value for all frames, or one for each frame of this call.
            Default: 100.
        :param fps: the number of frames per second, to be passed instead of ``duration``.
        :param loop: the loop count to store, as in :meth:`metadata` and in imageio's Pillow plugin: 0, the default,
            plays forever; 3 plays a GIF four times and an APNG three times.
        :param plays: the total number of plays, to be passed instead of ``loop``.
        :param is_batch: whether ``ndimage`` contains several frames. Default: true for a list, for an array with four
            axes, and for an array with three axes of which the last one is longer than 4.
        """
        if self._is_closed:
            # A new writer would replace the file.
            raise ValueError("the file is closed")
        frames = self._frames(ndimage, is_batch)
        is_gif = self._options["format"] == "gif"
        if loop is not None:
            if plays is not None:
                raise parameter_error("pass loop= or plays=, not both")
            plays = plays_of_loop(loop, is_gif)
        if fps is not None:
            if duration is not None:
                raise parameter_error("pass duration= or fps=, not both")
            duration = 1000 / exact_rate(fps)
        given: List[Any]
        if isinstance(duration, (list, tuple, np.ndarray)) and np.ndim(duration) == 1:
            given = list(duration)
            if len(given) != len(frames):
                raise parameter_error(f"there are {len(given)} durations, but {len(frames)} frames")
        else:
            given = [100 if duration is None else duration] * len(frames)
        delays = [_delay(exact_seconds(value, "duration") / 1000, "duration") for value in given]
        if self._writer is None:
            # Hold back these frames: often no other call follows, and then all frames can be surveyed. But check them
            # now, so that this call raises the error of a wrong frame.
            held = [(np.array(_picture(frame, is_gif)[1]), delay) for frame, delay in zip(frames, delays)]
            # Do not call `get_file` for a path, because it would open the file, and thereby empty it.
            is_path = self.request._uri_type == URI_FILENAME
            destination: Any = self.request.get_local_filename() if is_path else self.request.get_file()
            self._writer = _writing.Writer(
                destination, plays=plays, **self._options)
            self._plays, self._held = plays, held
        else:
            if (loop is not None or plays is not None) and plays != self._plays:
                raise parameter_error("loop and plays must be the same for all frames")
            self._flush(is_all=False)
            for frame, delay in zip(frames, delays):
                self._writer.append(frame, delay)
        if self.request.raw_uri == "<bytes>":
            self._finish()
            file: Any = self.request.get_file()
            return bytes(file.getvalue())
        return None

    def _flush(self, *, is_all: bool) -> None:
        """Append the frames of the first call, which were held back. If no other frames follow, survey them first."""
        assert self._writer is not None
        held, self._held = self._held, []
        if is_all:
            for frame, _ in held:
                self._writer.survey(frame)
        for frame, delay in held:
            self._writer.append(frame, delay)

    def _finish(self) -> None:
        writer = self._writer
        if writer is not None and not writer.closed:
            with writer:
                self._flush(is_all=writer.frame_count == 0)

    @staticmethod
    def _frames(ndimage: Any, is_batch: Optional[bool]) -> Any:
        if isinstance(ndimage, (list, tuple)):
            return ndimage
        if is_pillow(ndimage):
            return [ndimage]
        if isinstance(ndimage, Iterator):
            raise TypeError(f"ndimage is a {type(ndimage).__name__}; pass list(...), or write its frames one by one")
        array = np.asarray(ndimage)
        if is_batch is None:
            is_batch = array.ndim == 4 or array.ndim == 3 and not 1 <= array.shape[-1] <= 4
        return array if is_batch else array[None]

    def properties(
        self, index: Any = None, *, mode: Format = "RGBA", size: Optional[Size] = None, fit: Fit = "fit",
        filter: Filter = "bilinear", linear_light: bool = False, no_enlarging: bool = False, layout: Layout = "NHWC",
    ) -> ImageProperties:
        """Return the shape and the dtype of what :meth:`read` would return. This decodes nothing."""
        shape, dtype = self._animation._rendering(size, fit, filter, mode, linear_light, no_enlarging)[1:]
        places = self._places(index)
        if places is None:
            return ImageProperties(shape=shape, dtype=dtype)
        _check_layout(layout, mode)
        if layout == "NCHW":
            shape = (shape[2], *shape[:2])
        count = len(places)
        return ImageProperties(shape=(count, *shape), dtype=dtype, n_images=count, is_batch=True)

    def metadata(self, index: Any = None, exclude_applied: bool = True) -> Dict[str, Any]:
        """Return a dictionary that describes the animation.

        ``mode`` is ``"RGBA"``, and ``shape`` is the width and height. ``duration`` is how long a frame is shown, in ms,
        or a list of such values for several frames. ``loop`` is the loop count as stored, and is missing if the file
        stores none. ``plays`` is the total number of plays, or None for forever.
        """
        durations = [info.duration_ns / 1e6 for info in self._animation.frames]
        told: Dict[str, Any] = {
            "mode": "RGBA", "shape": self._animation.size,
            "plays": self._animation.plays,
            "duration": durations[slice(None) if index is None or index is ... else index],
        }
        if self._animation.stored_loop_count is not None:
            told["loop"] = self._animation.stored_loop_count
        return told

    def __exit__(self, kind: Any, *rest: Any) -> None:
        writer = getattr(self, "_writer", None)
        if kind is not None and writer is not None:
            writer.__exit__(kind, *rest)
        self.close()

    def close(self) -> None:
        # The destructor calls this method even if opening has failed.
        if hasattr(self, "_animation"):
            self._animation.close()
        try:
            if hasattr(self, "_writer"):
                self._is_closed = True
                self._finish()
        finally:
            self._writer = None
            self.request.finish()

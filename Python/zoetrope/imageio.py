"""A plugin for imageio's v3 API, used only where it is passed as ``plugin``, or by name.

>>> import imageio.v3 as iio
>>> import zoetrope.imageio
>>> frames = iio.imread("party.gif", plugin=zoetrope.imageio.Plugin)            # N×H×W×4
>>> zoetrope.imageio.register()
>>> first = iio.imread("party.gif", index=0, mode="RGB", plugin="zoetrope")
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, Optional

import numpy as np
from imageio.config.plugins import PluginConfig, known_plugins
from imageio.core.request import InitializationError, IOMode, Request
from imageio.core.v3_plugin_api import ImageProperties, PluginV3

from . import _animation
from ._errors import NotAnImageError


def register() -> None:
    """Let ``plugin="zoetrope"`` name :class:`Plugin`. imageio's choice for other calls does not change."""
    known_plugins["zoetrope"] = PluginConfig(
        name="zoetrope", class_name="Plugin", module_name="zoetrope.imageio", install_name="zoetrope")


class Plugin(PluginV3):
    """Reads GIF and APNG. ``index`` is one frame; a slice, ``...`` or None selects several, which are
    returned as one N×H×W×C array.

    The options of ``imopen`` (``limits``, ``damage``, ``delays``, ``threads``) are those of
    :func:`zoetrope.open`. The options of ``imread`` (``size``, ``fit``, ``filter``) are those of
    :meth:`zoetrope.Animation.frame`.
    """

    def __init__(self, request: Request, **options: Any) -> None:
        super().__init__(request)
        if request.mode.io_mode == IOMode.write:
            raise InitializationError("zoetrope cannot write files")
        try:
            self._animation = _animation.open(request.get_file(), **options)
        except NotAnImageError as error:
            raise InitializationError(str(error)) from error

    def _places(self, index: Any) -> Optional[range]:
        """The frames that ``index`` selects; None if it is a single frame."""
        if index is None or index is ...:
            index = slice(None)
        return range(len(self._animation))[index] if isinstance(index, slice) else None

    def read(self, *, index: Any = None, mode: _animation.Format = "RGBA", **rendering: Any) -> np.ndarray:
        """One frame or several; ``mode`` is the format: ``"RGBA"``, ``"RGB"``, ``"L"`` ..."""
        places = self._places(index)
        if places is None:
            return self._animation.frame(index, format=mode, **rendering)
        return self._animation.read(places, format=mode, **rendering)

    def iter(self, *, mode: _animation.Format = "RGBA", **rendering: Any) -> Iterator[np.ndarray]:
        """Yield frame after frame, with one frame in memory at a time."""
        for index in range(len(self._animation)):
            yield self._animation.frame(index, format=mode, **rendering)

    def write(self, *_: Any, **__: Any) -> Optional[bytes]:
        raise NotImplementedError("zoetrope cannot write files")

    def properties(self, index: Any = None, *, mode: _animation.Format = "RGBA", **rendering: Any) -> ImageProperties:
        """The shape and dtype of the result of :meth:`read`. Decodes nothing."""
        shape, dtype = self._animation._rendering(
            rendering.get("size"), rendering.get("fit", "fit"), rendering.get("filter", "bilinear"), mode,
            no_enlarging=rendering.get("no_enlarging", False))[1:]
        places = self._places(index)
        if places is None:
            return ImageProperties(shape=shape, dtype=dtype)
        count = len(places)
        return ImageProperties(shape=(count, *shape), dtype=dtype, n_images=count, is_batch=True)

    def metadata(self, index: Any = None, exclude_applied: bool = True) -> Dict[str, Any]:
        """``duration``, the time shown in ms, of one frame or as a list; and ``loop``, as stored."""
        durations = [info.duration_ns / 1e6 for info in self._animation.frames]
        told: Dict[str, Any] = {
            "mode": "RGBA", "shape": self._animation.size,
            "duration": durations[slice(None) if index is None or index is ... else index],
        }
        if self._animation.stored_loop_count is not None:
            told["loop"] = self._animation.stored_loop_count
        return told

    def close(self) -> None:
        # Also runs, from the destructor, when opening failed.
        if hasattr(self, "_animation"):
            self._animation.close()
        self.request.finish()

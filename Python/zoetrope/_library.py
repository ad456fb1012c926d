"""The shared library and its functions, as Sources/CZoetrope/zoetrope.h declares them."""

from __future__ import annotations

import ctypes
import os
from ctypes import (
    CFUNCTYPE, POINTER, Structure, byref, c_char, c_char_p, c_double, c_int32, c_int64, c_size_t,
    c_uint32, c_void_p, sizeof,
)
from pathlib import Path

ABI_VERSION = 1


class Error(Structure):
    _fields_ = [
        ("code", c_int32), ("system_error", c_int32), ("frame", c_int64), ("byte_offset", c_int64),
        ("name", c_char * 32), ("message", c_char * 456), ("limit", c_int64), ("limit_found", c_int64),
        ("limit_allowed", c_int64), ("of_destination", c_int32), ("reserved", c_int32),
    ]


class Options(Structure):
    _fields_ = [
        ("size", c_size_t), ("damage", c_int32), ("limits", c_int32), ("deep", c_int32),
        ("parallelism", c_int32), ("canvas_pixels", c_int64), ("frame_count", c_int64),
        ("live_bytes", c_int64), ("pixels_per_play", c_int64), ("metadata_bytes", c_int64),
        ("metadata_total_bytes", c_int64), ("metadata_count", c_int64), ("timeout_ns", c_int64),
        ("cancel_opening", c_void_p),
    ]


class Info(Structure):
    _fields_ = [
        ("size", c_size_t), ("format", c_int32), ("has_static_image", c_int32), ("width", c_int64),
        ("height", c_int64), ("frame_count", c_int64), ("plays", c_int64),
        ("stored_loop_count", c_int64), ("byte_count", c_int64), ("damage_count", c_int64),
        ("metadata_count", c_int64), ("largest_frame_work", c_int64),
    ]


class FrameInfo(Structure):
    _fields_ = [
        ("x", c_int64), ("y", c_int64), ("width", c_int64), ("height", c_int64),
        ("delay_numerator", c_uint32), ("delay_denominator", c_uint32), ("start_ns", c_int64),
        ("duration_ns", c_int64), ("disposal", c_int32), ("blend", c_int32),
        ("is_independent", c_int32), ("is_interlaced", c_int32), ("byte_offset", c_int64),
        ("byte_count", c_int64),
    ]


class Damage(Structure):
    _fields_ = [
        ("frame", c_int64), ("byte_offset", c_int64), ("valid_rows", c_int64),
        ("is_tolerated", c_int32), ("is_present", c_int32), ("kind", c_char * 48),
        ("detail", c_char * 176), ("reserved", c_int64 * 4),
    ]


class Metadata(Structure):
    _fields_ = [
        ("kind", c_int32), ("reserved", c_int32), ("byte_count", c_size_t), ("key", c_char * 176),
        ("reserved2", c_int64 * 4),
    ]


class Rendering(Structure):
    _fields_ = [
        ("size", c_size_t), ("format", c_int32), ("fit", c_int32), ("filter", c_int32),
        ("linear_light", c_int32), ("width", c_int32), ("height", c_int32),
        ("no_enlarging", c_int32), ("reserved", c_int32),
    ]


class Layout(Structure):
    _fields_ = [
        ("size", c_size_t), ("width", c_int64), ("height", c_int64), ("bytes_per_pixel", c_size_t),
        ("bytes_per_row", c_size_t), ("byte_count", c_size_t),
    ]


class Frame(Structure):
    _fields_ = [
        ("index", c_int64), ("dirty_x", c_int64), ("dirty_y", c_int64), ("dirty_width", c_int64),
        ("dirty_height", c_int64), ("damage", Damage), ("reserved", c_int64 * 4),
    ]


class Buffer(Structure):
    _fields_ = [
        ("pixels", c_void_p), ("byte_count", c_size_t), ("bytes_per_row", c_size_t),
        ("bytes_per_frame", c_size_t),
    ]


class Destination(Structure):
    _fields_ = [
        ("size", c_size_t), ("path", c_char_p), ("context", c_void_p), ("write", c_void_p),
        ("patch", c_void_p), ("end", c_void_p),
    ]


class WriterOptions(Structure):
    _fields_ = [
        ("size", c_size_t), ("format", c_int32), ("effort", c_int32), ("plays", c_int64),
        ("keep_identical", c_int32), ("exact_delays", c_int32), ("keep_hidden", c_int32),
        ("parallelism", c_int32), ("frame_count", c_int64), ("memory_bytes", c_int64),
        ("delays", c_int32), ("strip", c_int32), ("colors", c_int32), ("dithering", c_int32),
        ("alpha_threshold", c_int32), ("has_matte", c_int32), ("matte", c_uint32), ("reserved", c_uint32),
        ("tolerance", c_int32), ("keep_size", c_int32), ("keep_frame_rate", c_int32), ("reserved2", c_int32),
        ("max_bytes", c_int64), ("preset", c_char * 32),
    ]


class Written(Structure):
    _fields_ = [
        ("size", c_size_t), ("bytes", c_void_p), ("byte_count", c_int64), ("frame_count", c_int64),
        ("merged_count", c_int64), ("copied_count", c_int64), ("has_exact_delays", c_int32),
        ("format", c_int32), ("reduced_count", c_int64), ("partial_alpha_share", c_double),
        ("width", c_int64), ("height", c_int64), ("tolerance", c_int32), ("colors", c_int32),
        ("frame_rate", c_int32), ("is_stripped", c_int32), ("dropped_count", c_int64),
    ]


class Picture(Structure):
    _fields_ = [
        ("size", c_size_t), ("pixels", c_void_p), ("byte_count", c_size_t), ("bytes_per_row", c_size_t),
        ("width", c_int64), ("height", c_int64), ("format", c_int32), ("reserved", c_int32),
    ]


class Edit(Structure):
    _fields_ = [
        ("kind", c_int32), ("reserved", c_int32), ("start", c_int64), ("end", c_int64),
        ("number", c_double), ("x", c_int64), ("y", c_int64), ("width", c_int64), ("height", c_int64),
        ("fit", c_int32), ("filter", c_int32), ("linear_light", c_int32), ("no_enlarging", c_int32),
        ("delay_numerator", c_uint32), ("delay_denominator", c_uint32), ("indices", c_void_p),
        ("index_count", c_size_t),
    ]


class StoreOptions(Structure):
    _fields_ = [("size", c_size_t), ("byte_limit", c_int64)]


class StoredFrame(Structure):
    _fields_ = [
        ("size", c_size_t), ("pixels", c_void_p), ("bytes_per_row", c_size_t), ("width", c_int64),
        ("height", c_int64), ("is_stored", c_int32), ("reserved", c_int32), ("damage", Damage),
    ]


class StoreStatistics(Structure):
    _fields_ = [
        ("size", c_size_t), ("frame_count", c_int64), ("byte_count", c_int64), ("byte_limit", c_int64),
        ("hits", c_int64), ("misses", c_int64), ("insertions", c_int64), ("is_read_only", c_int32),
        ("reserved", c_int32),
    ]


# Handles are plain addresses, and structs are passed with `byref`, so that calls need no conversions.
_FUNCTIONS = {
    "zoetrope_abi_version": (c_uint32, []),
    "zoetrope_version": (c_char_p, []),
    "zoetrope_open_file": (c_int32, [c_char_p, c_void_p, c_void_p, c_void_p]),
    "zoetrope_open_descriptor": (c_int32, [c_int32, c_void_p, c_void_p, c_void_p]),
    "zoetrope_open_bytes": (c_int32, [c_void_p, c_size_t, c_void_p, c_void_p, c_void_p]),
    "zoetrope_close": (None, [c_void_p]),
    "zoetrope_cancel": (None, [c_void_p]),
    "zoetrope_clear_cancel": (None, [c_void_p]),
    "zoetrope_get_info": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "zoetrope_get_frames": (
        c_int32, [c_void_p, c_int32, c_int64, c_size_t, c_void_p, c_size_t, c_void_p]),
    "zoetrope_get_duration": (c_int32, [c_void_p, c_int32, c_void_p, c_void_p]),
    "zoetrope_frame_index_at": (c_int32, [c_void_p, c_int32, c_int64, c_void_p, c_void_p]),
    "zoetrope_get_damage": (c_int32, [c_void_p, c_int64, c_void_p, c_void_p]),
    "zoetrope_get_metadata": (
        c_int32, [c_void_p, c_int64, c_void_p, c_void_p, c_size_t, c_void_p]),
    "zoetrope_get_layout": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "zoetrope_frame_at_index": (
        c_int32, [c_void_p, c_int64, c_void_p, c_void_p, c_void_p, c_void_p]),
    "zoetrope_read_frames": (
        c_int32, [c_void_p, c_void_p, c_size_t, c_void_p, c_void_p, c_void_p, c_void_p]),
    "zoetrope_sample_indices": (
        c_int32, [c_void_p, c_int32, c_int32, c_size_t, c_void_p, c_void_p, c_void_p]),
    "zoetrope_frame_png": (
        c_int32, [c_void_p, c_int64, c_void_p, c_void_p, c_void_p, c_void_p]),
    "zoetrope_bytes_count": (c_size_t, [c_void_p]),
    "zoetrope_bytes_copy": (c_size_t, [c_void_p, c_void_p, c_size_t]),
    "zoetrope_bytes_free": (None, [c_void_p]),
    "zoetrope_writer_create": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "zoetrope_writer_survey": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "zoetrope_writer_add_text": (c_int32, [c_void_p, c_char_p, c_char_p, c_void_p]),
    "zoetrope_writer_append": (c_int32, [c_void_p, c_void_p, c_uint32, c_uint32, c_void_p]),
    "zoetrope_writer_finish": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "zoetrope_writer_cancel": (None, [c_void_p]),
    "zoetrope_writer_free": (None, [c_void_p]),
    "zoetrope_rewrite": (
        c_int32, [c_void_p, c_void_p, c_size_t, c_size_t, c_void_p, c_void_p, c_void_p, c_void_p]),
    "zoetrope_optimize": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "zoetrope_store_open": (c_int32, [c_char_p, c_void_p, c_void_p, c_void_p]),
    "zoetrope_store_close": (None, [c_void_p]),
    "zoetrope_store_frame": (
        c_int32, [c_void_p, c_void_p, c_int64, c_void_p, c_void_p, c_void_p, c_void_p]),
    "zoetrope_store_find": (
        c_int32, [c_void_p, c_void_p, c_int64, c_void_p, c_void_p, c_void_p, c_void_p]),
    "zoetrope_lease_free": (None, [c_void_p]),
    "zoetrope_store_fill": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "zoetrope_store_remove": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "zoetrope_store_prune": (c_int32, [c_void_p, c_int64, c_void_p]),
    "zoetrope_store_get_statistics": (c_int32, [c_void_p, c_void_p, c_void_p]),
}


def _load() -> ctypes.CDLL:
    """Load the library of this package, or, for tests, the one whose path is in `ZOETROPE_LIBRARY`."""
    beside = Path(__file__).parent / "libzoetrope.so.1"
    if not beside.exists():
        # An editable installation uses the library that `make lib` built in the checkout.
        built = Path(__file__).resolve().parents[2] / ".build-static/lib/dist" / beside.name
        beside = built if built.exists() else beside
    path = os.environ.get("ZOETROPE_LIBRARY") or str(beside)
    # CDLL releases the GIL during every call.
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(
            f"{error}. Install a wheel: `make wheel` builds one, with the library in it. In a checkout, "
            "`make lib` builds the library, and ZOETROPE_LIBRARY must be its path.", path=path) from None
    for name, (result, arguments) in _FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"{path} is older than this package: it has no {name}") from None
        function.restype, function.argtypes = result, arguments
    if library.zoetrope_abi_version() < ABI_VERSION:
        raise ImportError(f"{path} is older than this package")
    return library


library = _load()

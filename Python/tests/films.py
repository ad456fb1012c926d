"""Pictures to write, and what was written."""

import io

import numpy as np

import zoetrope


def film(count, shape=(24, 36, 4), dtype=np.uint8, step=1):
    """A square of another colour that moves over transparent ground, or over black."""
    frames = []
    most = np.iinfo(dtype).max
    for index in range(count):
        frame = np.zeros(shape, dtype)
        left = index * step % (shape[1] - 8)
        frame[6:14, left:left + 8] = most
        if len(shape) == 3:
            frame[6:14, left:left + 8, 1] = most // 3
        frames.append(frame)
    return frames


def rgba(frame):
    frame = frame if frame.ndim == 3 else np.repeat(frame[..., None], 3, axis=2)
    if frame.shape[2] == 4:
        return frame
    opaque = np.full(frame.shape[:2] + (1,), np.iinfo(frame.dtype).max, frame.dtype)
    return np.concatenate([frame, opaque], axis=2)


def written(frames, format="apng", **options):
    file = io.BytesIO()
    if "fps" not in options:
        options.setdefault("durations", 0.1)
    told = zoetrope.save(file, frames, format=format, **options)
    assert told.byte_count == len(file.getvalue())
    return zoetrope.open(file.getvalue(), delays="exact", damage="strict", deep=True)

"""What a call costs besides its work: overhead.py FIXTURE (1x1 pixel)."""

import ctypes
import sys
import time
import timeit

import numpy as np

import zoetrope
from zoetrope import _library as c

animation = zoetrope.open(sys.argv[1])
pixel = np.empty((*animation.size[::-1], 4), np.uint8)
rendering = c.Rendering(size=ctypes.sizeof(c.Rendering))
buffer = c.Buffer(pixel.ctypes.data, pixel.nbytes, 0, 0)
references = ctypes.byref(rendering), ctypes.byref(buffer)


def microseconds(*calls):
    """Of the processor, since the clock counts other programs too; in turns, so that what slows one slows all."""
    best = [float("inf")] * len(calls)
    for _ in range(200):
        for place, call in enumerate(calls):
            used = timeit.timeit(call, number=500, timer=time.process_time)
            best[place] = min(best[place], used / 500 * 1e6)
    return best


empty, raw, whole = microseconds(
    c.library.zoetrope_abi_version,
    lambda: c.library.zoetrope_frame_at_index(animation._handle, 0, *references, None, None),
    lambda: animation.frame(0))
print(f"an empty call {empty:.2f} us, the C function by ctypes {raw:.2f}, frame(0) {whole:.2f}: "
      f"overhead {whole - raw + empty:.2f} us")

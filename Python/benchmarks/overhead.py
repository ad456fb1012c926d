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


def microseconds(call):
    # Of the processor, since the clock counts other programs too.
    return min(timeit.repeat(call, number=5000, repeat=20, timer=time.process_time)) / 5000 * 1e6


empty = microseconds(c.library.zoetrope_abi_version)
raw = microseconds(
    lambda: c.library.zoetrope_frame_at_index(animation._handle, 0, *references, None, None))
whole = microseconds(lambda: animation.frame(0))
print(f"an empty call {empty:.2f} us, the C function by ctypes {raw:.2f}, frame(0) {whole:.2f}: "
      f"overhead {whole - raw + empty:.2f} us")

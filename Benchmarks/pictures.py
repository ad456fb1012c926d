"""pictures.py: pictures of animations and how alike they are, for the scripts that compare programs.

Needs numpy and Pillow; scikit-image for SSIM, and ssimulacra2 for SSIMULACRA2.
"""
import io, math, resource, subprocess, time

import numpy
from PIL import Image, ImageSequence

Image.MAX_IMAGE_PIXELS = None


def run(arguments, statuses=(0,), timeout=600):
    """Processor seconds and seconds of a program, or None if it is missing or ends with another status."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    try:
        done = subprocess.run([str(a) for a in arguments], capture_output=True, timeout=timeout)
    except (OSError, subprocess.TimeoutExpired):
        return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in statuses:
        return None
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - start


def opaque(picture):
    """An RGBA picture over white, as an RGB array."""
    white = Image.new("RGBA", picture.size, "white")
    return numpy.asarray(Image.alpha_composite(white, picture.convert("RGBA")).convert("RGB"))


class Film:
    """When the pictures of a file are shown. A delay of 10 ms or less counts as 100 ms, as in browsers."""

    def __init__(self, path):
        self.path, self.ends, end = path, [], 0
        with Image.open(path) as image:
            self.size = image.size
            for frame in ImageSequence.Iterator(image):
                delay = frame.info.get("duration") or 0
                end += delay if delay > 10 else 100
                self.ends.append(end)

    def middles(self, count):
        """The middles of at most `count` frames, as shares of one play."""
        step = max(math.ceil(len(self.ends) / count), 1)
        starts = [0] + self.ends
        return [(starts[i] + starts[i + 1]) / 2 / self.ends[-1] for i in range(0, len(self.ends), step)]

    def index(self, share):
        """The frame that is shown after this share of one play. Programs may merge or drop frames."""
        return next((i for i, end in enumerate(self.ends) if share * self.ends[-1] < end), len(self.ends) - 1)

    def pictures(self, shares):
        """The pictures that are shown after these shares of one play, as RGB arrays over white."""
        wanted = [self.index(share) for share in shares]
        found = {}
        with Image.open(self.path) as image:
            for index, frame in enumerate(ImageSequence.Iterator(image)):
                if index in wanted:
                    found[index] = opaque(frame)
        return [found[index] for index in wanted]


def ssim(one, other):
    """SSIM of luma of two RGB arrays, or None if they are too small."""
    from skimage.metrics import structural_similarity
    luma = [numpy.asarray(Image.fromarray(picture).convert("L")) for picture in (one, other)]
    return float(structural_similarity(*luma)) if min(luma[0].shape) >= 7 else None


def ssimulacra2(one, other):
    """SSIMULACRA2 of two RGB arrays: 100 if they are equal, 90 if no one sees a difference; or None if too small."""
    from ssimulacra2 import compute_ssimulacra2
    if min(one.shape[:2]) < 8:
        return None
    files = []
    for picture in (one, other):
        files.append(io.BytesIO())
        Image.fromarray(picture).save(files[-1], "PNG", compress_level=1)
        files[-1].seek(0)
    return float(compute_ssimulacra2(*files))


METRICS = {"ssim": ssim, "ssimulacra2": ssimulacra2}


def mean(values):
    """The mean of those values that are not None, or None."""
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else None


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))

"""Shows GIF and PNG previews of ranger with zoetrope: animations move.

Copy it to ~/.config/ranger/plugins/ and put `set preview_images true` into rc.conf. Works in any terminal;
the environment variable ZOETROPE_PREVIEW holds further options, such as "--protocol sixel --fit fit".
"""

import os
import shlex
import subprocess

import ranger.api
from ranger.container.settings import ALLOWED_VALUES
from ranger.ext.img_display import ImageDisplayer, get_image_displayer, register_image_displayer

# The previewer for formats that zoetrope does not read, such as JPEG: "kitty", "ueberzug", "w3m"; None for no preview.
OTHERS = None


@register_image_displayer("zoetrope")
class ZoetropeImageDisplayer(ImageDisplayer):
    def __init__(self):
        self.process = None
        self.other = None

    def draw(self, path, start_x, start_y, width, height):
        self.clear(start_x, start_y, width, height)
        if OTHERS and not path.lower().endswith((".gif", ".png", ".apng")):
            self.other = get_image_displayer(OTHERS)
            self.other.draw(path, start_x, start_y, width, height)
            return
        place = "{}x{}@{},{}".format(width, height, start_x, start_y)
        options = shlex.split(os.environ.get("ZOETROPE_PREVIEW", "--fit shrink"))
        self.process = subprocess.Popen(
            ["zoetrope", "play", "--place", place, *options, "--", path],
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def clear(self, start_x, start_y, width, height):
        if self.other:
            self.other.clear(start_x, start_y, width, height)
            self.other = None
        if self.process:
            # It removes its picture, so the screen is clean when it has ended.
            self.process.terminate()
            self.process.wait()
            self.process = None

    def quit(self):
        if self.other:
            self.other.quit()
        self.clear(0, 0, 0, 0)


ALLOWED_VALUES["preview_images_method"].append("zoetrope")
hook_init_before = ranger.api.hook_init


def hook_init(fm):
    fm.settings.preview_images_method = "zoetrope"
    return hook_init_before(fm)


ranger.api.hook_init = hook_init

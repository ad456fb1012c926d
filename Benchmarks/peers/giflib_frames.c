// giflib_frames FILE: reads a GIF with DGifGetLine and composites it. The output begins with a line "size", with width
// and height. Each frame has a line "frame" with its delay in hundredths of a second, followed by the canvas as RGBA
// bytes. The last line, "loops", has the number of the loop extension, or -1. The rules are those of browsers: the
// canvas starts transparent and holds the whole first frame, and an index beyond the palette is black. Stops at a
// broken frame.
#include <gif_lib.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int width, height;

static void draw(const GifFileType *gif, uint32_t *canvas, const uint8_t *pixels, int clear) {
  const GifImageDesc *at = &gif->Image;
  const ColorMapObject *map = at->ColorMap ? at->ColorMap : gif->SColorMap;
  for (int row = 0; row < at->Height && at->Top + row < height; row++) {
    for (int column = 0; column < at->Width && at->Left + column < width; column++) {
      int index = pixels[(size_t)row * at->Width + column];
      if (index == clear) continue;
      uint32_t color = 0xff000000u;
      if (map && index < map->ColorCount) {
        const GifColorType *entry = &map->Colors[index];
        color |= (uint32_t)entry->Blue << 16 | (uint32_t)entry->Green << 8 | entry->Red;
      }
      canvas[(size_t)(at->Top + row) * width + at->Left + column] = color;
    }
  }
}

static void dispose(const GifImageDesc *at, uint32_t *canvas, const uint32_t *saved, int disposal) {
  size_t size = (size_t)width * height * 4;
  if (disposal == 3) memcpy(canvas, saved, size);
  if (disposal != 2 || at->Left >= width) return;
  int shown = at->Left + at->Width > width ? width - at->Left : at->Width;
  for (int y = at->Top; y < at->Top + at->Height && y < height; y++)
    memset(canvas + (size_t)y * width + at->Left, 0, 4 * (size_t)shown);
}

/// The pixels of one image in the order of rows, or NULL if its data is broken.
static uint8_t *image(GifFileType *gif) {
  static const int start[] = {0, 4, 2, 1}, step[] = {8, 8, 4, 2};
  const GifImageDesc *at = &gif->Image;
  uint8_t *pixels = malloc((size_t)at->Width * at->Height + 1);
  for (int pass = 0; pass < (at->Interlace ? 4 : 1); pass++)
    for (int row = at->Interlace ? start[pass] : 0; row < at->Height; row += at->Interlace ? step[pass] : 1)
      if (DGifGetLine(gif, pixels + (size_t)row * at->Width, at->Width) == GIF_ERROR) {
        free(pixels);
        return NULL;
      }
  return pixels;
}

int main(int count, char **words) {
  int error, clear = -1, disposal = 0, delay = 0, loops = -1;
  GifFileType *gif = count == 2 ? DGifOpenFileName(words[1], &error) : NULL;
  if (!gif) return 1;
  uint32_t *canvas = NULL, *saved = NULL;
  GifRecordType type;
  while (DGifGetRecordType(gif, &type) != GIF_ERROR && type != TERMINATE_RECORD_TYPE) {
    if (type == EXTENSION_RECORD_TYPE) {
      int code;
      GifByteType *block;
      if (DGifGetExtension(gif, &code, &block) == GIF_ERROR) break;
      if (block && code == GRAPHICS_EXT_FUNC_CODE && block[0] >= 4) {
        clear = block[1] & 1 ? block[4] : -1;
        disposal = block[1] >> 2 & 7;
        delay = block[2] | block[3] << 8;
      }
      int named = block && code == APPLICATION_EXT_FUNC_CODE && block[0] == 11
        && (!memcmp(block + 1, "NETSCAPE2.0", 11) || !memcmp(block + 1, "ANIMEXTS1.0", 11));
      while (block && DGifGetExtensionNext(gif, &block) != GIF_ERROR)
        if (named && block && block[0] >= 3 && (block[1] & 7) == 1) loops = block[2] | block[3] << 8;
    } else if (type == IMAGE_DESC_RECORD_TYPE) {
      if (DGifGetImageDesc(gif) == GIF_ERROR) break;
      if (!canvas) {
        width = gif->SWidth > gif->Image.Left + gif->Image.Width ? gif->SWidth : gif->Image.Left + gif->Image.Width;
        height = gif->SHeight > gif->Image.Top + gif->Image.Height ? gif->SHeight : gif->Image.Top + gif->Image.Height;
        canvas = calloc((size_t)width * height + 1, 4);
        saved = calloc((size_t)width * height + 1, 4);
        printf("size %d %d\n", width, height);
      }
      uint8_t *pixels = image(gif);
      if (!pixels) break;
      if (disposal == 3) memcpy(saved, canvas, (size_t)width * height * 4);
      draw(gif, canvas, pixels, clear);
      printf("frame %d\n", delay);
      fwrite(canvas, 4, (size_t)width * height, stdout);
      dispose(&gif->Image, canvas, saved, disposal);
      free(pixels);
      clear = -1;
      disposal = delay = 0;
    }
  }
  printf("loops %d\n", loops);
  return 0;
}

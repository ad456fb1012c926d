// giflib_peer FILE REPEATS: decodes every frame with DGifGetLine onto one RGBA canvas; best of REPEATS.
#include <gif_lib.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "peer.h"

struct memory { const uint8_t *bytes; size_t count, position; };

static int read_memory(GifFileType *gif, GifByteType *to, int wanted) {
  struct memory *memory = gif->UserData;
  size_t left = memory->count - memory->position;
  size_t count = (size_t)wanted < left ? (size_t)wanted : left;
  memcpy(to, memory->bytes + memory->position, count);
  memory->position += count;
  return (int)count;
}

static void draw(uint32_t *to, const uint8_t *line, int count, const uint32_t *colors, int clear) {
  if (clear < 0) {
    for (int i = 0; i < count; i++) to[i] = colors[line[i]];
  } else {
    for (int i = 0; i < count; i++) if (line[i] != clear) to[i] = colors[line[i]];
  }
}

/// Decodes one image. Returns 0 if its data is broken.
static int image(GifFileType *gif, uint32_t *canvas, uint8_t *line, int clear, int disposal) {
  static const int start[] = {0, 4, 2, 1}, step[] = {8, 8, 4, 2};
  const GifImageDesc *at = &gif->Image;
  ColorMapObject *map = at->ColorMap ? at->ColorMap : gif->SColorMap;
  uint32_t colors[256] = {0};
  for (int i = 0; map && i < map->ColorCount; i++)
    colors[i] = 0xff000000u | (uint32_t)map->Colors[i].Blue << 16 | (uint32_t)map->Colors[i].Green << 8
      | map->Colors[i].Red;
  int shown = at->Left + at->Width > gif->SWidth ? gif->SWidth - at->Left : at->Width;
  int pass = 0, interlaced = 0;
  for (int row = 0; row < at->Height; row++) {
    if (DGifGetLine(gif, line, at->Width) == GIF_ERROR) return 0;
    int y = at->Top + (at->Interlace ? interlaced : row);
    if (y < gif->SHeight)
      draw(canvas + (size_t)y * gif->SWidth + at->Left, line, shown, colors, clear);
    interlaced += step[pass];
    while (interlaced >= at->Height && pass < 3) interlaced = start[++pass];
  }
  for (int y = at->Top; disposal == 2 && y < at->Top + at->Height && y < gif->SHeight; y++)
    memset(canvas + (size_t)y * gif->SWidth + at->Left, 0, 4 * (size_t)shown);
  return 1;
}

static int decode(const uint8_t *bytes, size_t count) {
  struct memory memory = {bytes, count, 0};
  int error, frames = 0, clear = -1, disposal = 0;
  GifFileType *gif = DGifOpen(&memory, read_memory, &error);
  if (!gif) exit(1);
  uint32_t *canvas = calloc((size_t)gif->SWidth * gif->SHeight, 4);
  uint8_t *line = malloc(65536);
  GifRecordType type;
  while (DGifGetRecordType(gif, &type) != GIF_ERROR && type != TERMINATE_RECORD_TYPE) {
    if (type == EXTENSION_RECORD_TYPE) {
      int code;
      GifByteType *block;
      DGifGetExtension(gif, &code, &block);
      if (block && code == GRAPHICS_EXT_FUNC_CODE) {
        clear = block[1] & 1 ? block[4] : -1;
        disposal = block[1] >> 2 & 7;
      }
      while (block) DGifGetExtensionNext(gif, &block);
    } else if (type == IMAGE_DESC_RECORD_TYPE) {
      if (DGifGetImageDesc(gif) == GIF_ERROR || !image(gif, canvas, line, clear, disposal)) break;
      frames++;
      clear = -1;
      disposal = 0;
    }
  }
  free(canvas);
  free(line);
  DGifCloseFile(gif, &error);
  return frames;
}

int main(int count, char **words) { return measure(count, words, decode); }

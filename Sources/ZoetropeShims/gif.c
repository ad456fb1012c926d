#include "zt_gif.h"

#include <gif_lib.h>
#include <string.h>

unsigned zt_gif_version(void) {
  return GIFLIB_MAJOR * 10000 + GIFLIB_MINOR * 100 + GIFLIB_RELEASE;
}

typedef struct {
  const uint8_t *bytes;
  size_t count, position;
} zt_reader;

// The header that giflib reads first. It describes a screen of 1 x 1 pixel without a palette. The frame's own
// descriptor follows, and giflib needs nothing else.
static const uint8_t zt_header[13] = {'G', 'I', 'F', '8', '9', 'a', 1, 0, 1, 0, 0, 0, 0};

static int zt_read(GifFileType *gif, GifByteType *buffer, int wanted) {
  zt_reader *reader = gif->UserData;
  int done = 0;
  while (done < wanted && reader->position < sizeof zt_header + reader->count) {
    size_t at = reader->position++;
    buffer[done++] = at < sizeof zt_header ? zt_header[at] : reader->bytes[at - sizeof zt_header];
  }
  return done;
}

int zt_gif_expand(const uint8_t *frame, size_t count, uint8_t *rows, int width, int height) {
  zt_reader reader = {frame, count, 0};
  int error = 0, done = 0;
  GifFileType *gif = DGifOpen(&reader, zt_read, &error);
  if (!gif) return 0;
  GifRecordType record;
  if (DGifGetRecordType(gif, &record) == GIF_OK && record == IMAGE_DESC_RECORD_TYPE &&
      DGifGetImageHeader(gif) == GIF_OK && gif->Image.Width == width &&
      gif->Image.Height == height) {
    while (done < height &&
           DGifGetLine(gif, rows + (size_t)done * (size_t)width, width) == GIF_OK)
      done++;
  }
  DGifCloseFile(gif, &error);
  return done;
}

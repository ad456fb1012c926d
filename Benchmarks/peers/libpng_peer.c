// libpng_peer FILE REPEATS: decodes every frame of an APNG, or the picture of a PNG, as a separate PNG
// with libpng and zlib to RGBA rows, without compositing; best of REPEATS.
#include <png.h>
#include <string.h>
#include "peer.h"

static uint32_t word(const uint8_t *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}
static void store(uint8_t *p, uint32_t value) {
  for (int i = 0; i < 4; i++) p[i] = (uint8_t)(value >> (24 - 8 * i));
}

struct memory { const uint8_t *bytes; size_t position, count; };

static void read_memory(png_structp png, png_bytep to, size_t count) {
  struct memory *memory = png_get_io_ptr(png);
  if (memory->position + count > memory->count) png_error(png, "end");
  memcpy(to, memory->bytes + memory->position, count);
  memory->position += count;
}

static size_t chunk(uint8_t *to, const char *type, const uint8_t *data, uint32_t count) {
  store(to, count);
  memcpy(to + 4, type, 4);
  if (count) memcpy(to + 8, data, count);
  store(to + 8 + count, 0);
  return 12 + count;
}

static void picture(const uint8_t *bytes, size_t count, uint8_t *rows, uint32_t width, uint32_t height) {
  struct memory memory = {bytes, 0, count};
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, 0, 0, 0);
  png_infop info = png_create_info_struct(png);
  if (!setjmp(png_jmpbuf(png))) {
    png_set_read_fn(png, &memory, read_memory);
    png_set_crc_action(png, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
    png_read_info(png, info);
    png_set_expand(png);
    png_set_strip_16(png);
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, 255, PNG_FILLER_AFTER);
    int passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    while (passes--)
      for (uint32_t y = 0; y < height; y++) png_read_row(png, rows + (size_t)y * width * 4, 0);
  }
  png_destroy_read_struct(&png, &info, 0);
}

static int decode(const uint8_t *bytes, size_t count) {
  const uint8_t *header = bytes + 16, *palette = 0, *transparency = 0;
  uint32_t paletteCount = 0, transparencyCount = 0, width = word(header), height = word(header + 4);
  uint8_t *data = malloc(count + 64), *file = malloc(count + 4096);
  uint8_t *rows = malloc((size_t)word(header) * word(header + 4) * 4);
  size_t length = 0;
  // The picture of a plain PNG counts as its only frame.
  int frames = 0, open = 1;
  for (size_t i = 8; i + 12 <= count; i += 12 + word(bytes + i)) {
    uint32_t size = word(bytes + i);
    const uint8_t *type = bytes + i + 4, *body = bytes + i + 8;
    int ends = !memcmp(type, "fcTL", 4) || !memcmp(type, "IEND", 4);
    if (ends && open && length) {
      uint8_t own[13];
      memcpy(own, header, 13);
      store(own, width);
      store(own + 4, height);
      size_t end = 8;
      memcpy(file, "\211PNG\r\n\032\n", 8);
      end += chunk(file + end, "IHDR", own, 13);
      if (palette) end += chunk(file + end, "PLTE", palette, paletteCount);
      if (transparency) end += chunk(file + end, "tRNS", transparency, transparencyCount);
      end += chunk(file + end, "IDAT", data, (uint32_t)length);
      end += chunk(file + end, "IEND", 0, 0);
      picture(file, end, rows, width, height);
      frames++;
      length = 0;
    }
    if (!memcmp(type, "acTL", 4)) open = 0;
    if (!memcmp(type, "PLTE", 4)) palette = body, paletteCount = size;
    if (!memcmp(type, "tRNS", 4)) transparency = body, transparencyCount = size;
    if (!memcmp(type, "fcTL", 4)) open = 1, width = word(body + 4), height = word(body + 8);
    if (!memcmp(type, "IDAT", 4) && open) memcpy(data + length, body, size), length += size;
    if (!memcmp(type, "fdAT", 4)) memcpy(data + length, body + 4, size - 4), length += size - 4;
  }
  free(data);
  free(file);
  free(rows);
  return frames;
}

int main(int count, char **words) { return measure(count, words, decode); }

// wuffs_peer FILE REPEATS: decodes every frame of a GIF or PNG with wuffs onto one RGBA canvas; best of REPEATS. Compile
// with -DWUFFS_SOURCE='"wuffs.c"', the single C file of a release of wuffs, as in the source package of pywuffs.
#define WUFFS_IMPLEMENTATION
#define WUFFS_CONFIG__MODULES
#define WUFFS_CONFIG__MODULE__ADLER32
#define WUFFS_CONFIG__MODULE__BASE
#define WUFFS_CONFIG__MODULE__CRC32
#define WUFFS_CONFIG__MODULE__DEFLATE
#define WUFFS_CONFIG__MODULE__GIF
#define WUFFS_CONFIG__MODULE__PNG
#define WUFFS_CONFIG__MODULE__ZLIB
#include WUFFS_SOURCE
#include <string.h>
#include "peer.h"

typedef wuffs_base__image_decoder Decoder;

static Decoder *decoder(const uint8_t *bytes, size_t size) {
  Decoder *decoder;
  if (size > 3 && memcmp(bytes, "GIF", 3) == 0) {
    decoder = wuffs_gif__decoder__alloc_as__wuffs_base__image_decoder();
  } else {
    decoder = wuffs_png__decoder__alloc_as__wuffs_base__image_decoder();
    // Checksums of pixels are not computed by us either.
    if (decoder) wuffs_base__image_decoder__set_quirk(decoder, WUFFS_BASE__QUIRK_IGNORE_CHECKSUM, 1);
  }
  if (!decoder) abort();
  return decoder;
}

static void clear(uint8_t *pixels, uint32_t width, wuffs_base__rect_ie_u32 rect) {
  for (uint32_t y = rect.min_incl_y; y < rect.max_excl_y; y++)
    memset(pixels + ((size_t)y * width + rect.min_incl_x) * 4, 0, (size_t)(rect.max_excl_x - rect.min_incl_x) * 4);
}

/// Decodes the frames up to the end or the first error, and returns their number.
static int decode(const uint8_t *bytes, size_t size) {
  Decoder *wuffs = decoder(bytes, size);
  wuffs_base__io_buffer source = wuffs_base__ptr_u8__reader((uint8_t *)bytes, size, true);
  wuffs_base__image_config image = {0};
  int frames = 0;
  if (wuffs_base__image_decoder__decode_image_config(wuffs, &image, &source).repr) {
    free(wuffs);
    return 0;
  }
  uint32_t width = wuffs_base__pixel_config__width(&image.pixcfg);
  uint32_t height = wuffs_base__pixel_config__height(&image.pixcfg);
  wuffs_base__pixel_config__set(
    &image.pixcfg, WUFFS_BASE__PIXEL_FORMAT__RGBA_NONPREMUL, WUFFS_BASE__PIXEL_SUBSAMPLING__NONE, width, height);
  size_t count = (size_t)width * height * 4;
  size_t scratch = wuffs_base__image_decoder__workbuf_len(wuffs).max_incl;
  uint8_t *pixels = calloc(count + 1, 1), *work = malloc(scratch + 1);
  if (!pixels || !work) abort();
  wuffs_base__pixel_buffer canvas = {0};
  wuffs_base__status status =
    wuffs_base__pixel_buffer__set_from_slice(&canvas, &image.pixcfg, wuffs_base__make_slice_u8(pixels, count));
  while (!status.repr) {
    wuffs_base__frame_config frame = {0};
    status = wuffs_base__image_decoder__decode_frame_config(wuffs, &frame, &source);
    if (status.repr) break;
    status = wuffs_base__image_decoder__decode_frame(
      wuffs, &canvas, &source,
      wuffs_base__frame_config__overwrite_instead_of_blend(&frame)
        ? WUFFS_BASE__PIXEL_BLEND__SRC : WUFFS_BASE__PIXEL_BLEND__SRC_OVER,
      wuffs_base__make_slice_u8(work, scratch), NULL);
    frames++;
    if (!status.repr
        && wuffs_base__frame_config__disposal(&frame) == WUFFS_BASE__ANIMATION_DISPOSAL__RESTORE_BACKGROUND)
      clear(pixels, width, wuffs_base__frame_config__bounds(&frame));
  }
  free(pixels);
  free(work);
  free(wuffs);
  return frames;
}

int main(int count, char **words) { return measure(count, words, decode); }

#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if __has_feature(nullability)
#pragma clang assume_nonnull begin
#define ZOETROPE_NULLABLE _Nullable
#else
#define ZOETROPE_NULLABLE
#endif

/// The description of one frame for libpng: the contents of a plain PNG's chunks.
typedef struct zoetrope_png_request {
  /// Width and height of the frame, 1 to 2^31 - 1.
  uint32_t width, height;
  /// Bits per sample, colour type and interlace method (0 or 1) of IHDR.
  uint8_t bit_depth, color_type, interlace;
  /// Whether to keep 16-bit samples (big-endian) instead of only their high byte. Other depths give 8 bits.
  bool keeps_16_bit;
  /// PLTE: `palette_count` triples of red, green and blue, at most 256.
  const uint8_t *ZOETROPE_NULLABLE palette;
  size_t palette_count;
  /// The bytes of tRNS, at most 256.
  const uint8_t *ZOETROPE_NULLABLE transparency;
  size_t transparency_count;
  /// The zlib stream.
  const uint8_t *ZOETROPE_NULLABLE data;
  size_t data_count;
  /// The number of bytes that libpng and zlib may allocate. Allocating more fails.
  size_t memory_limit;
} zoetrope_png_request;

/// The outcome of a decode.
typedef enum zoetrope_png_code {
  /// All rows are present, and the stream ends properly.
  ZOETROPE_PNG_COMPLETE = 0,
  /// All rows are present, but the stream does not end properly.
  ZOETROPE_PNG_NO_END = 1,
  /// All rows are present, followed by surplus data.
  ZOETROPE_PNG_SURPLUS = 2,
  /// The data ends before the last row.
  ZOETROPE_PNG_SHORT = 3,
  /// A row has an unknown filter type.
  ZOETROPE_PNG_FILTER = 4,
  /// The compressed data is malformed.
  ZOETROPE_PNG_BROKEN = 5,
  /// Out of memory.
  ZOETROPE_PNG_MEMORY = 6,
} zoetrope_png_code;

/// The result of a decode.
typedef struct zoetrope_png_result {
  zoetrope_png_code code;
  /// The number of complete rows from the top. For an interlaced frame, rows whose last pass is complete.
  uint32_t rows;
  /// The number of complete interlace passes: 1 for a complete plain frame, 7 for a complete interlaced frame.
  uint32_t passes;
  /// libpng's message, truncated to fit, or empty on success.
  char message[96];
} zoetrope_png_result;

/// Decodes as much of one frame as its data allows into RGBA rows, `bytes_per_row` apart.
///
/// `bytes_per_row` must be enough for `width` pixels of 4 bytes (8 if 16 bits of a 16-bit frame are
/// kept), and `pixels` must have room for `height` such rows. Otherwise nothing is written, and
/// `code` is ZOETROPE_PNG_MEMORY. The contents of rows from `rows` on are unspecified. Keeps no
/// state, and is safe to call from several threads at once.
zoetrope_png_result zoetrope_png_decode(const zoetrope_png_request *request, uint8_t *pixels,
                                        size_t bytes_per_row, size_t pixels_count);

/// A frame being decoded while its data arrives.
typedef struct zoetrope_png_arrival zoetrope_png_arrival;

/// How much of an arriving frame has been decoded.
typedef struct zoetrope_png_progress {
  /// The number of rows from the top that are final.
  uint32_t rows;
  /// The number of rows from the top that show any part of the frame. A pixel of an interlaced
  /// frame fills its block until the other pixels of the block arrive.
  uint32_t shown_rows;
  /// The number of complete interlace passes, 0 to 7. For a plain frame, 1 when it is complete.
  uint32_t passes;
  /// Whether more data has no effect, because every row is complete or the data is damaged.
  bool is_over;
} zoetrope_png_progress;

/// Begins to decode a frame. Ignores `data` of the request. Returns null if allocation fails, or if
/// `bytes_per_row` or `pixels` are too small, as described at `zoetrope_png_decode`.
///
/// `pixels` must stay in place until `zoetrope_png_leave`. Not safe to use from several threads at
/// once.
zoetrope_png_arrival *ZOETROPE_NULLABLE zoetrope_png_arrive(
    const zoetrope_png_request *request, uint8_t *pixels, size_t bytes_per_row,
    size_t pixels_count);

/// Decodes the next bytes of the zlib stream, each byte once.
zoetrope_png_progress zoetrope_png_feed(zoetrope_png_arrival *arrival, const uint8_t *bytes,
                                        size_t count);

/// Frees the memory of a frame that was being decoded.
void zoetrope_png_leave(zoetrope_png_arrival *arrival);

/// The reason why inflating stopped.
typedef enum zt_inflate_end {
  /// The input ended before the stream did.
  ZT_INFLATE_CUT = 0,
  /// The output is full. There may be more data.
  ZT_INFLATE_FULL = 1,
  /// The stream has ended or is malformed, or allocation failed.
  ZT_INFLATE_OTHER = 2,
} zt_inflate_end;

/// The result of inflating a stream.
typedef struct zt_inflate_result {
  zt_inflate_end end;
  /// The number of valid bytes written.
  size_t written;
  /// The number of bytes of the input that were not read.
  size_t unread;
} zt_inflate_result;

/// Inflates as much as possible of the zlib stream of `count` bytes at `data` into the `room` bytes at `out`. If the
/// input ends early, `written` counts only the rows, of `row_count` bytes each, that libpng would read.
///
/// The rows begin `first_row` bytes into the output. If the frame is interlaced, they are the rows of the last pass.
///
/// Does not verify the stream's checksum, writes nothing past `room`, and keeps no state.
zt_inflate_result zt_inflate(const uint8_t *data, size_t count, uint8_t *out, size_t room,
                             size_t row_count, size_t first_row);

/// Returns the version of the running libpng, such as 10639 for 1.6.39.
unsigned zt_png_version(void);

#if __has_feature(nullability)
#pragma clang assume_nonnull end
#endif

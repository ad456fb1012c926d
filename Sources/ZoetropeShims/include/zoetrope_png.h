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

/// The description of one frame for libpng: the chunks of a plain PNG, as values.
typedef struct zoetrope_png_request {
  /// Width and height of the frame, 1 to 2^31 - 1.
  uint32_t width, height;
  /// Bits per sample, colour type and interlace method (0 or 1) of IHDR.
  uint8_t bit_depth, color_type, interlace;
  /// Keep 16-bit samples (big-endian) instead of their high byte. Other depths give 8 bits.
  bool keeps_16_bit;
  /// PLTE: `palette_count` triples of red, green, blue; at most 256.
  const uint8_t *ZOETROPE_NULLABLE palette;
  size_t palette_count;
  /// The bytes of tRNS; at most 256.
  const uint8_t *ZOETROPE_NULLABLE transparency;
  size_t transparency_count;
  /// The zlib stream.
  const uint8_t *ZOETROPE_NULLABLE data;
  size_t data_count;
  /// Bytes that libpng and zlib may allocate; beyond it allocation fails.
  size_t memory_limit;
} zoetrope_png_request;

/// How a decode ended.
typedef enum zoetrope_png_code {
  /// All rows are there and the stream ended properly.
  ZOETROPE_PNG_COMPLETE = 0,
  /// All rows are there, but the stream has no proper end.
  ZOETROPE_PNG_NO_END = 1,
  /// All rows are there, followed by surplus data.
  ZOETROPE_PNG_SURPLUS = 2,
  /// The data ended before the last row.
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
  /// Complete rows from the top; for an interlaced frame, rows whose last pass is done.
  uint32_t rows;
  /// Complete interlace passes: 1 for a whole plain frame, 7 for a whole interlaced one.
  uint32_t passes;
  /// libpng's message, truncated to fit; empty on success.
  char message[96];
} zoetrope_png_result;

/// Decodes one frame into RGBA rows, `bytes_per_row` apart, as far as its data allows.
///
/// `bytes_per_row` must hold `width` pixels of 4 bytes (8 when 16 bits are kept of a 16-bit frame)
/// and `pixels` must hold `height` such rows; otherwise nothing is written and `code` is
/// ZOETROPE_PNG_MEMORY. Rows from `rows` on are unspecified. Keeps no state; safe to call from
/// several threads at once.
zoetrope_png_result zoetrope_png_decode(const zoetrope_png_request *request, uint8_t *pixels,
                                        size_t bytes_per_row, size_t pixels_count);

/// A frame being decoded while its data arrives.
typedef struct zoetrope_png_arrival zoetrope_png_arrival;

/// How much of an arriving frame is decoded.
typedef struct zoetrope_png_progress {
  /// Final rows from the top.
  uint32_t rows;
  /// Rows from the top that show something: a pixel of an interlaced frame fills the block that it
  /// stands for until the pixels there have arrived.
  uint32_t shown_rows;
  /// Complete interlace passes, 0 to 7; for a plain frame 1 when it is complete.
  uint32_t passes;
  /// Whether more data changes nothing: every row is there, or the data is damaged.
  bool is_over;
} zoetrope_png_progress;

/// Begins to decode a frame; `data` of the request is ignored. Null if memory or room is missing:
/// `bytes_per_row` and `pixels` as for `zoetrope_png_decode`.
///
/// `pixels` must stay in place until `zoetrope_png_leave`. Not safe to use from several threads at
/// once.
zoetrope_png_arrival *ZOETROPE_NULLABLE zoetrope_png_arrive(
    const zoetrope_png_request *request, uint8_t *pixels, size_t bytes_per_row,
    size_t pixels_count);

/// Decodes the next bytes of the zlib stream, each byte once.
zoetrope_png_progress zoetrope_png_feed(zoetrope_png_arrival *arrival, const uint8_t *bytes,
                                        size_t count);

/// Frees what decoding took.
void zoetrope_png_leave(zoetrope_png_arrival *arrival);

/// How far zlib got with a stream.
typedef enum zt_inflate_end {
  /// The input is used up before the stream's end.
  ZT_INFLATE_CUT = 0,
  /// The output is full; there may be more.
  ZT_INFLATE_FULL = 1,
  /// The stream has ended, is malformed, or there is no memory.
  ZT_INFLATE_OTHER = 2,
} zt_inflate_end;

/// What zlib made of a stream.
typedef struct zt_inflate_result {
  zt_inflate_end end;
  /// Bytes written, as many as count.
  size_t written;
  /// Bytes of the input that were not needed.
  size_t unread;
} zt_inflate_result;

/// Inflates the zlib stream of `count` bytes at `data` into the `room` bytes at `out`, as far as it goes,
/// and counts as `written` as many rows of `row_count` bytes as libpng would read.
///
/// These rows begin `first_row` bytes into the output: behind the other passes, if it is interlaced.
///
/// The stream's checksum is not verified. Writes nothing past `room`. Keeps no state.
zt_inflate_result zt_inflate(const uint8_t *data, size_t count, uint8_t *out, size_t room,
                             size_t row_count, size_t first_row);

/// The version of the running libpng, as 10639 for 1.6.39.
unsigned zt_png_version(void);

#if __has_feature(nullability)
#pragma clang assume_nonnull end
#endif

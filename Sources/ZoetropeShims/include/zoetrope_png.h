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

/// A frame to be decoded with libpng, described by the contents of the chunks of a plain PNG.
typedef struct zoetrope_png_request {
  /// Width and height of the frame, 1 to 2^31 - 1.
  uint32_t width, height;
  /// Bits per sample, colour type and interlace method (0 or 1) of IHDR.
  uint8_t bit_depth, color_type, interlace;
  /// Whether 16-bit samples are kept, in big-endian order. If not, only their high bytes are kept. Samples of all other
  /// depths become 8 bits.
  bool keeps_16_bit;
  /// The contents of PLTE: `palette_count` triples of red, green and blue. There are at most 256.
  const uint8_t *ZOETROPE_NULLABLE palette;
  size_t palette_count;
  /// The contents of tRNS: `transparency_count` bytes. There are at most 256.
  const uint8_t *ZOETROPE_NULLABLE transparency;
  size_t transparency_count;
  /// The compressed data, which is a zlib stream of `data_count` bytes.
  const uint8_t *ZOETROPE_NULLABLE data;
  size_t data_count;
  /// The number of bytes that libpng and zlib may allocate. An allocation that exceeds this number fails.
  size_t memory_limit;
} zoetrope_png_request;

/// The outcome of decoding a frame.
typedef enum zoetrope_png_code {
  /// All rows are present, and the stream ends properly.
  ZOETROPE_PNG_COMPLETE = 0,
  /// All rows are present, but the stream is cut off, or is damaged at its end.
  ZOETROPE_PNG_NO_END = 1,
  /// All rows are present, followed by surplus data.
  ZOETROPE_PNG_SURPLUS = 2,
  /// The data ends before the last row.
  ZOETROPE_PNG_SHORT = 3,
  /// A row has an unknown filter type.
  ZOETROPE_PNG_FILTER = 4,
  /// The compressed data is malformed.
  ZOETROPE_PNG_BROKEN = 5,
  /// Memory could not be allocated, or the memory for pixels is too small.
  ZOETROPE_PNG_MEMORY = 6,
} zoetrope_png_code;

/// The result of decoding a frame.
typedef struct zoetrope_png_result {
  zoetrope_png_code code;
  /// The number of complete rows from the top. A row of an interlaced frame is complete once the last pass has reached
  /// it.
  uint32_t rows;
  /// The number of complete interlace passes: 1 for a complete frame without interlacing, 7 for a complete interlaced
  /// frame.
  uint32_t passes;
  /// The message of libpng, truncated to fit. It is empty on success.
  char message[96];
} zoetrope_png_result;

/// Decodes as much of a frame as its data allows. Writes RGBA rows to `pixels`, `bytes_per_row` bytes apart.
///
/// `bytes_per_row` must be enough for `width` pixels of 4 bytes (or 8 bytes if the 16 bits of a 16-bit frame are kept).
/// `pixels` has `pixels_count` bytes, which must be enough for `height` such rows. If either is too small, nothing is
/// written, and `code` is ZOETROPE_PNG_MEMORY. In the result, the contents of the rows after the first `rows` are
/// unspecified. This function keeps no state, and is safe to call from several threads at the same time.
zoetrope_png_result zoetrope_png_decode(const zoetrope_png_request *request, uint8_t *pixels,
                                        size_t bytes_per_row, size_t pixels_count);

/// A frame being decoded while its data arrives.
typedef struct zoetrope_png_arrival zoetrope_png_arrival;

/// How much of an arriving frame has been decoded.
typedef struct zoetrope_png_progress {
  /// The number of rows from the top whose pixels are final.
  uint32_t rows;
  /// The number of rows from the top that show any part of the frame. A pixel of an interlaced frame fills its block
  /// until the other pixels of the block have arrived.
  uint32_t shown_rows;
  /// The number of complete interlace passes, 0 to 7. For a frame without interlacing, it is 1 once the frame is
  /// complete.
  uint32_t passes;
  /// Whether further data has no effect, because every row is complete or the data is damaged.
  bool is_over;
} zoetrope_png_progress;

/// Begins to decode a frame whose data will be passed to `zoetrope_png_feed`. The field `data` of the request is
/// ignored. Returns null if allocation fails, or if `bytes_per_row` or `pixels_count` is too small, as described at
/// `zoetrope_png_decode`.
///
/// `pixels` must stay in place until `zoetrope_png_leave` is called. An arrival must not be used by several threads at
/// the same time.
zoetrope_png_arrival *ZOETROPE_NULLABLE zoetrope_png_arrive(
    const zoetrope_png_request *request, uint8_t *pixels, size_t bytes_per_row,
    size_t pixels_count);

/// Decodes the next `count` bytes of the zlib stream. Each byte of the stream must be passed once, in order.
zoetrope_png_progress zoetrope_png_feed(zoetrope_png_arrival *arrival, const uint8_t *bytes,
                                        size_t count);

/// Frees the memory of a frame that was being decoded.
void zoetrope_png_leave(zoetrope_png_arrival *arrival);

/// The reason why inflating has stopped.
typedef enum zt_inflate_end {
  /// The input ended before the stream did.
  ZT_INFLATE_CUT = 0,
  /// The output is full. The stream may contain more data.
  ZT_INFLATE_FULL = 1,
  /// The stream has ended or is malformed, or allocation failed.
  ZT_INFLATE_OTHER = 2,
} zt_inflate_end;

/// The result of inflating a stream.
typedef struct zt_inflate_result {
  zt_inflate_end end;
  /// The number of valid bytes written.
  size_t written;
  /// The number of bytes at the end of the input that were not read.
  size_t unread;
} zt_inflate_result;

/// Inflates as much as possible of the zlib stream of `count` bytes at `data` into the `room` bytes at `out`. If the
/// input ends early, `written` counts only the rows that libpng would read from that input. Each row has `row_count`
/// bytes.
///
/// The first row begins `first_row` bytes into the output. If the frame is interlaced, the rows are those of its last
/// pass.
///
/// This function does not verify the stream's checksum, writes nothing past `room`, and keeps no state.
zt_inflate_result zt_inflate(const uint8_t *data, size_t count, uint8_t *out, size_t room,
                             size_t row_count, size_t first_row);

/// Returns the version of libpng at run time, such as 10639 for 1.6.39.
unsigned zt_png_version(void);

#if __has_feature(nullability)
#pragma clang assume_nonnull end
#endif

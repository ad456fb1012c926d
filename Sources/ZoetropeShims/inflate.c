// Uses zlib to inflate the streams that libdeflate rejects, because libdeflate does not report how much of its output
// is valid.
#include "zoetrope_png.h"

#include <limits.h>
#include <zlib.h>

// Inflates the next `count` bytes of the input, or as many as fit in `room`. Returns the number of bytes written.
static size_t inflate_more(z_stream *stream, size_t count, size_t room, size_t *unread, int *status) {
  size_t written = 0;
  *status = Z_OK;
  *unread = count;
  // zlib counts with 32 bits, so pass longer input and output in parts.
  while (*status == Z_OK && *unread > 0 && written < room) {
    size_t part = *unread < UINT_MAX ? *unread : UINT_MAX;
    size_t space = room - written < UINT_MAX ? room - written : UINT_MAX;
    stream->avail_in = (uInt)part;
    stream->avail_out = (uInt)space;
    *status = inflate(stream, Z_NO_FLUSH);
    *unread -= part - stream->avail_in;
    written += space - stream->avail_out;
  }
  if (*status == Z_BUF_ERROR) *status = Z_OK;
  return written;
}

zt_inflate_result zt_inflate(const uint8_t *data, size_t count, uint8_t *out, size_t room,
                             size_t row_count, size_t first_row) {
  zt_inflate_result result = {ZT_INFLATE_OTHER, 0, count};
  z_stream stream = {0};
  if (count == 0 || row_count == 0 || inflateInit(&stream) != Z_OK) return result;
  // Do not compute the checksum, which callers do not need and which would take a tenth of the time.
  inflateValidate(&stream, 0);
  stream.next_in = (Bytef *)(uintptr_t)data;
  stream.next_out = out;
  int status;
  size_t unread;
  size_t before = inflate_more(&stream, count - 1, room, &unread, &status);
  result.written = before;
  result.unread = unread + 1;
  if (status == Z_OK && unread == 0 && before < room) {
    result.written += inflate_more(&stream, 1, room - before, &result.unread, &status);
    // libpng requests one row at a time. It requests more input when none is left, even if zlib could still produce
    // output. The last row that libpng gets is therefore the one for which the last byte is read.
    size_t rows = before > first_row ? (before - first_row - 1) / row_count + 1 : first_row == 0;
    size_t end = first_row + rows * row_count;
    if (result.written > end) result.written = end;
  }
  inflateEnd(&stream);
  if (status == Z_OK) result.end = result.written == room ? ZT_INFLATE_FULL : ZT_INFLATE_CUT;
  return result;
}

// All calls of libpng are in this file. A longjmp must not cross a Swift stack frame, because it would skip defer
// blocks and releases. The setjmp and all callbacks (reader, error, warning, allocator and row) are therefore written
// in C.
#include "zoetrope_png.h"

#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The maximum size of the signature, IHDR, PLTE, tRNS and the header of IDAT.
#define PREFIX_CAPACITY (8 + 25 + (12 + 768) + (12 + 256) + 8)
// The size of the CRC of IDAT and an empty IEND.
#define SUFFIX_COUNT (4 + 12)
// The maximum number of compressed bytes to read after the last row. The end of the last block and the checksum need
// about a dozen. libpng inflates and discards everything up to the end of the stream, which can take minutes even for a
// small file. Data beyond this limit is not read, and counts as surplus.
#define MAX_AFTER_ROWS 64
// A chunk's length is a 31-bit number.
#define MAX_CHUNK 0x7fffffffu
// The size of a header that precedes every allocation. It stores the allocation's size, which freeing returns to the
// budget.
#define ALLOCATION_HEADER 16

// All state that changes between setjmp and longjmp is in this struct, in the stack frame of the caller. Memory that is
// accessed through a pointer survives the jump, unlike non-volatile local variables.
struct decode {
  const zoetrope_png_request *request;
  zoetrope_png_result result;
  png_structp png;
  png_infop info;
  uint8_t prefix[PREFIX_CAPACITY];
  uint8_t suffix[SUFFIX_COUNT];
  struct { const uint8_t *bytes; size_t count; } pieces[3];
  size_t piece, position;
  size_t memory_left;
  // The number of rows unfiltered so far, and the number of rows stored, in all passes. Rows are counted here because
  // png_read_row may fail after its row is complete, while it looks for the end of the stream.
  uint64_t filtered_rows, stored_rows;
  // The number of compressed bytes that libpng has requested since it got all rows.
  size_t read_after_rows;
  int surplus;
  uint8_t *pixels;
  size_t bytes_per_row;
};

static void store_32(uint8_t *out, uint32_t value) {
  out[0] = (uint8_t)(value >> 24);
  out[1] = (uint8_t)(value >> 16);
  out[2] = (uint8_t)(value >> 8);
  out[3] = (uint8_t)value;
}

// Writes a chunk to `out` and returns its size. Its CRC is 0. libpng is configured to ignore CRCs, because those of the
// file have already been checked.
static size_t put_chunk(uint8_t *out, const char *type, const uint8_t *bytes, size_t count) {
  store_32(out, (uint32_t)count);
  memcpy(out + 4, type, 4);
  if (count > 0) memcpy(out + 8, bytes, count);
  store_32(out + 8 + count, 0);
  return count + 12;
}

static void make_pieces(struct decode *decode) {
  static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  const zoetrope_png_request *request = decode->request;
  uint8_t header[13] = {0};
  store_32(header, request->width);
  store_32(header + 4, request->height);
  header[8] = request->bit_depth;
  header[9] = request->color_type;
  header[12] = request->interlace;

  uint8_t *out = decode->prefix;
  memcpy(out, signature, 8);
  out += 8;
  out += put_chunk(out, "IHDR", header, sizeof header);
  size_t colors = request->palette == NULL ? 0 : request->palette_count;
  if (colors > 256) colors = 256;
  if (colors > 0) out += put_chunk(out, "PLTE", request->palette, colors * 3);
  size_t transparent = request->transparency == NULL ? 0 : request->transparency_count;
  if (transparent > 256) transparent = 256;
  if (transparent > 0) out += put_chunk(out, "tRNS", request->transparency, transparent);
  size_t count = request->data == NULL ? 0 : request->data_count;
  if (count > MAX_CHUNK) count = MAX_CHUNK;
  store_32(out, (uint32_t)count);
  memcpy(out + 4, "IDAT", 4);
  out += 8;

  memset(decode->suffix, 0, 4);
  put_chunk(decode->suffix + 4, "IEND", NULL, 0);
  decode->pieces[0].bytes = decode->prefix;
  decode->pieces[0].count = (size_t)(out - decode->prefix);
  decode->pieces[1].bytes = request->data;
  decode->pieces[1].count = count;
  decode->pieces[2].bytes = decode->suffix;
  decode->pieces[2].count = SUFFIX_COUNT;
}

static void read_bytes(png_structp png, png_bytep out, size_t count) {
  struct decode *decode = png_get_io_ptr(png);
  while (count > 0) {
    if (decode->piece == 3) png_error(png, "Not enough image data");
    size_t left = decode->pieces[decode->piece].count - decode->position;
    size_t part = left < count ? left : count;
    if (part > 0) {
      if (decode->piece == 1 && decode->filtered_rows == decode->stored_rows &&
          (decode->read_after_rows += part) > MAX_AFTER_ROWS) {
        decode->surplus = 1;
        png_error(png, "Too much image data");
      }
      memcpy(out, decode->pieces[decode->piece].bytes + decode->position, part);
      decode->position += part;
      out += part;
      count -= part;
    } else {
      decode->piece += 1;
      decode->position = 0;
    }
  }
}

// Handles an error of libpng, and never returns. The kind of error follows from libpng's message. An unknown message
// counts as damaged data.
static PNG_NORETURN void fail(png_structp png, png_const_charp message) {
  struct decode *decode = png_get_error_ptr(png);
  zoetrope_png_result *result = &decode->result;
  const char *text = message == NULL ? "unknown error" : message;
  if (strstr(text, "filter value") != NULL) {
    result->code = ZOETROPE_PNG_FILTER;
  } else if (strstr(text, "Not enough image data") != NULL) {
    result->code = ZOETROPE_PNG_SHORT;
  } else if (strstr(text, "emory") != NULL) {
    result->code = ZOETROPE_PNG_MEMORY;
  } else {
    result->code = ZOETROPE_PNG_BROKEN;
  }
  snprintf(result->message, sizeof result->message, "%s", text);
  png_longjmp(png, 1);
}

static void note(png_structp png, png_const_charp message) {
  struct decode *decode = png_get_error_ptr(png);
  if (message != NULL && (strstr(message, "Too much image data") != NULL ||
                          strstr(message, "Extra compressed data") != NULL)) {
    decode->surplus = 1;
  }
}

static png_voidp allocate(png_structp png, png_alloc_size_t count) {
  struct decode *decode = png_get_mem_ptr(png);
  if (count > decode->memory_left || decode->memory_left - count < ALLOCATION_HEADER) return NULL;
  uint8_t *block = malloc(count + ALLOCATION_HEADER);
  if (block == NULL) return NULL;
  memcpy(block, &count, sizeof count);
  decode->memory_left -= count + ALLOCATION_HEADER;
  return block + ALLOCATION_HEADER;
}

static void release(png_structp png, png_voidp pointer) {
  struct decode *decode = png_get_mem_ptr(png);
  png_alloc_size_t count;
  if (pointer == NULL) return;
  uint8_t *block = (uint8_t *)pointer - ALLOCATION_HEADER;
  memcpy(&count, block, sizeof count);
  decode->memory_left += count + ALLOCATION_HEADER;
  free(block);
}

static void count_row(png_structp png, png_row_infop row, png_bytep bytes) {
  (void)row;
  (void)bytes;
  struct decode *decode = png_get_user_transform_ptr(png);
  decode->filtered_rows += 1;
}

// Returns the number of rows that libpng reads from the stream for the whole frame, in all passes.
static uint64_t stored_rows(const zoetrope_png_request *request) {
  if (request->interlace == 0) return request->height;
  uint64_t rows = 0;
  for (int pass = 0; pass < 7; pass++) {
    if (PNG_PASS_COLS(request->width, pass) > 0) rows += PNG_PASS_ROWS(request->height, pass);
  }
  return rows;
}

// Sets the options of libpng that must be set before the first byte is read.
static void configure(struct decode *decode) {
  const zoetrope_png_request *request = decode->request;
  png_structp png = decode->png;
  png_set_user_limits(png, request->width, request->height);
  png_set_chunk_malloc_max(png, 1 << 20);
  png_set_chunk_cache_max(png, 4);
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
  png_set_option(png, PNG_MAXIMUM_INFLATE_WINDOW, PNG_OPTION_ON);
#ifdef PNG_IGNORE_ADLER32
  // zlib may verify the checksum in the call that produces the last row. If the checksum is wrong, that row would be
  // lost.
  png_set_option(png, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
#endif
  png_set_crc_action(png, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
  png_set_benign_errors(png, 1);
}

// Sets the transformations to RGBA. Called once the header has been read.
static void transform(struct decode *decode) {
  const zoetrope_png_request *request = decode->request;
  png_structp png = decode->png;
  png_set_expand(png);
  if (!request->keeps_16_bit) png_set_strip_16(png);
  png_set_gray_to_rgb(png);
  png_set_add_alpha(png, 0xffff, PNG_FILLER_AFTER);
  png_set_read_user_transform_fn(png, count_row);
  png_set_user_transform_info(png, decode, 0, 0);
}

static void start(struct decode *decode) {
  png_structp png = decode->png;
  configure(decode);
  png_set_read_fn(png, decode, read_bytes);
  // libpng inflates everything that it has read. 2 KiB can become at most 2 MiB of surplus.
  png_set_compression_buffer_size(png, 2048);
  png_read_info(png, decode->info);
  transform(decode);
}

// Decodes the whole frame. This function contains the setjmp. None of its local variables change after that call.
static void run(struct decode *decode) {
  decode->png = png_create_read_struct_2(
      PNG_LIBPNG_VER_STRING, decode, fail, note, decode, allocate, release);
  if (decode->png == NULL) return;
  decode->info = png_create_info_struct(decode->png);
  if (decode->info == NULL) return;
  if (setjmp(png_jmpbuf(decode->png))) return;
  start(decode);
  int passes = png_set_interlace_handling(decode->png);
  png_read_update_info(decode->png, decode->info);
  if (png_get_rowbytes(decode->png, decode->info) > decode->bytes_per_row) {
    png_error(decode->png, "no memory for a row");
  }
  for (int pass = 0; pass < passes; pass++) {
    for (uint32_t y = 0; y < decode->request->height; y++) {
      png_read_row(decode->png, decode->pixels + y * decode->bytes_per_row, NULL);
      if (pass == passes - 1) decode->result.rows = y + 1;
    }
    decode->result.passes = (uint32_t)pass + 1;
  }
  decode->result.code = decode->surplus ? ZOETROPE_PNG_SURPLUS : ZOETROPE_PNG_COMPLETE;
}

zoetrope_png_result zoetrope_png_decode(const zoetrope_png_request *request, uint8_t *pixels,
                                        size_t bytes_per_row, size_t pixels_count) {
  struct decode decode;
  memset(&decode, 0, sizeof decode);
  decode.request = request;
  decode.result.code = ZOETROPE_PNG_MEMORY;
  decode.memory_left = request->memory_limit;
  decode.pixels = pixels;
  decode.bytes_per_row = bytes_per_row;
  decode.stored_rows = stored_rows(request);
  size_t pixel = request->keeps_16_bit && request->bit_depth == 16 ? 8 : 4;
  if (request->width == 0 || request->height == 0 || bytes_per_row / pixel < request->width ||
      pixels_count / bytes_per_row < request->height) {
    snprintf(decode.result.message, sizeof decode.result.message, "no room for the rows");
    return decode.result;
  }
  make_pieces(&decode);
  run(&decode);
  if (decode.png != NULL) png_destroy_read_struct(&decode.png, &decode.info, NULL);
  if (decode.result.code >= ZOETROPE_PNG_SHORT && decode.result.code != ZOETROPE_PNG_MEMORY &&
      decode.filtered_rows == decode.stored_rows) {
    decode.result.code = decode.surplus ? ZOETROPE_PNG_SURPLUS : ZOETROPE_PNG_NO_END;
    decode.result.rows = request->height;
    decode.result.passes = request->interlace == 0 ? 1 : 7;
  }
  return decode.result;
}

// MARK: - Frames whose data is still arriving

// The state of libpng's progressive reader. Each call of a libpng function that may fail has its own setjmp, because
// the stack frame of an earlier setjmp no longer exists.
struct zoetrope_png_arrival {
  struct decode decode;
  zoetrope_png_request request;
  zoetrope_png_progress progress;
};

static void arrive_header(png_structp png, png_infop info) {
  zoetrope_png_arrival *arrival = png_get_progressive_ptr(png);
  transform(&arrival->decode);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  if (png_get_rowbytes(png, info) > arrival->decode.bytes_per_row) {
    png_error(png, "no memory for a row");
  }
}

// A callback of libpng, which calls it in each pass for every row of the frame. `bytes` is null for rows that the pass
// does not change.
static void arrive_row(png_structp png, png_bytep bytes, png_uint_32 y, int pass) {
  zoetrope_png_arrival *arrival = png_get_progressive_ptr(png);
  struct decode *decode = &arrival->decode;
  zoetrope_png_progress *progress = &arrival->progress;
  if (y >= arrival->request.height) return;
  // Fill the block that each pixel of the pass represents.
  if (bytes != NULL) {
    png_progressive_combine_row(png, decode->pixels + y * decode->bytes_per_row, bytes);
  }
  if (pass == 0) progress->shown_rows = y + 1;
  if (arrival->request.interlace == 0 || pass == 6) progress->rows = y + 1;
  if (arrival->request.interlace != 0) progress->passes = (uint32_t)pass;
}

static void process(zoetrope_png_arrival *arrival, const uint8_t *bytes, size_t count) {
  struct decode *decode = &arrival->decode;
  if (arrival->progress.is_over || count == 0) return;
  if (setjmp(png_jmpbuf(decode->png))) {
    arrival->progress.is_over = true;
    return;
  }
  // libpng only reads the bytes, although its parameter is not const.
  png_process_data(decode->png, decode->info, (png_bytep)(uintptr_t)bytes, count);
}

static void prepare(zoetrope_png_arrival *arrival) {
  struct decode *decode = &arrival->decode;
  if (setjmp(png_jmpbuf(decode->png))) {
    arrival->progress.is_over = true;
    return;
  }
  png_set_progressive_read_fn(decode->png, arrival, arrive_header, arrive_row, NULL);
  configure(decode);
}

zoetrope_png_arrival *zoetrope_png_arrive(const zoetrope_png_request *request, uint8_t *pixels,
                                          size_t bytes_per_row, size_t pixels_count) {
  size_t pixel = request->keeps_16_bit && request->bit_depth == 16 ? 8 : 4;
  if (request->width == 0 || request->height == 0 || bytes_per_row / pixel < request->width ||
      pixels_count / bytes_per_row < request->height) {
    return NULL;
  }
  zoetrope_png_arrival *arrival = calloc(1, sizeof *arrival);
  if (arrival == NULL) return NULL;
  struct decode *decode = &arrival->decode;
  arrival->request = *request;
  decode->request = &arrival->request;
  decode->memory_left = request->memory_limit;
  decode->pixels = pixels;
  decode->bytes_per_row = bytes_per_row;
  decode->stored_rows = stored_rows(request);
  make_pieces(decode);
  // The chunks of the request have been copied, so drop the pointers to the caller's memory.
  arrival->request.palette = arrival->request.transparency = arrival->request.data = NULL;
  decode->png = png_create_read_struct_2(
      PNG_LIBPNG_VER_STRING, decode, fail, note, decode, allocate, release);
  if (decode->png != NULL) decode->info = png_create_info_struct(decode->png);
  if (decode->info == NULL) {
    zoetrope_png_leave(arrival);
    return NULL;
  }
  prepare(arrival);
  // Leave out the header of a single IDAT chunk, because each piece of data gets an IDAT chunk of its own.
  process(arrival, decode->pieces[0].bytes, decode->pieces[0].count - 8);
  return arrival;
}

zoetrope_png_progress zoetrope_png_feed(zoetrope_png_arrival *arrival, const uint8_t *bytes,
                                        size_t count) {
  struct decode *decode = &arrival->decode;
  zoetrope_png_progress *progress = &arrival->progress;
  while (count > 0 && !progress->is_over) {
    size_t part = count < MAX_CHUNK ? count : MAX_CHUNK;
    uint8_t header[8] = {0, 0, 0, 0, 'I', 'D', 'A', 'T'};
    static const uint8_t checksum[4] = {0};
    store_32(header, (uint32_t)part);
    process(arrival, header, sizeof header);
    process(arrival, bytes, part);
    process(arrival, checksum, sizeof checksum);
    bytes += part;
    count -= part;
    if (decode->filtered_rows == decode->stored_rows) progress->is_over = true;
  }
  if (decode->filtered_rows == decode->stored_rows) {
    progress->rows = progress->shown_rows = arrival->request.height;
    progress->passes = arrival->request.interlace == 0 ? 1 : 7;
  }
  return *progress;
}

void zoetrope_png_leave(zoetrope_png_arrival *arrival) {
  struct decode *decode = &arrival->decode;
  if (decode->png != NULL) png_destroy_read_struct(&decode->png, &decode->info, NULL);
  free(arrival);
}

unsigned zt_png_version(void) { return png_access_version_number(); }

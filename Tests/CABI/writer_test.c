/* Tests of writing with the C ABI: writer_test FOLDER FILE...
   Runs under the address sanitizer and valgrind too: `make test-lib WITH=address`. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zoetrope.h>

#include "check.h"

atomic_int checks, failures;

enum { WIDTH = 37, HEIGHT = 23, COUNT = 12 };
static const char *folder;

static const char *in_folder(const char *name) {
  static char paths[4][4096];
  static int next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

/* A red square on blue, at another place in each picture, with `channels` samples of one or two bytes. */
static uint8_t *make_picture(int index, int channels, bool is_deep, size_t bytes_per_row) {
  uint8_t *pixels = calloc(HEIGHT, bytes_per_row);
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++) {
      bool is_inside = x >= index && x < index + 9 && y >= 5 && y < 14;
      uint16_t samples[4] = {is_inside ? 65535 : 0, 0, is_inside ? 0 : 65535, is_deep && is_inside ? 40000 : 65535};
      for (int channel = 0; channel < channels; channel++) {
        uint8_t *row = pixels + (size_t)y * bytes_per_row;
        if (is_deep)
          memcpy(row + (x * channels + channel) * 2, &samples[channel], 2);
        else
          row[x * channels + channel] = (uint8_t)(samples[channel] >> 8);
      }
    }
  return pixels;
}

static zoetrope_picture describe(void *pixels, int32_t format, size_t bytes_per_row) {
  return (zoetrope_picture){.size = sizeof(zoetrope_picture), .pixels = pixels, .byte_count = HEIGHT * bytes_per_row,
                            .bytes_per_row = bytes_per_row, .width = WIDTH, .height = HEIGHT, .format = format};
}

static zoetrope_status append(zoetrope_writer *writer, int index, uint32_t numerator, uint32_t denominator,
                              zoetrope_error *error) {
  uint8_t *pixels = make_picture(index, 4, false, WIDTH * 4);
  zoetrope_picture picture = describe(pixels, ZOETROPE_RGBA8, WIDTH * 4);
  zoetrope_status status = zoetrope_writer_append(writer, &picture, numerator, denominator, error);
  free(pixels);
  return status;
}

static zoetrope_animation *open_bytes(zoetrope_bytes *bytes, bool is_deep) {
  size_t count = zoetrope_bytes_count(bytes);
  void *copy = malloc(count + 1);
  CHECK(zoetrope_bytes_copy(bytes, copy, count) == count);
  zoetrope_options options = {.size = sizeof options, .deep = is_deep, .damage = ZOETROPE_DAMAGE_STRICT};
  zoetrope_animation *animation = NULL;
  CHECK(zoetrope_open_bytes(copy, count, &options, &animation, NULL) == ZOETROPE_OK);
  free(copy);
  return animation;
}

static zoetrope_info info_of(zoetrope_animation *animation) {
  zoetrope_info info = {.size = sizeof info};
  CHECK(zoetrope_get_info(animation, &info, NULL) == ZOETROPE_OK);
  return info;
}

/* ---- */

static void test_bad_arguments(void) {
  zoetrope_writer *writer = (void *)1;
  zoetrope_error error;
  CHECK(zoetrope_writer_create(NULL, NULL, NULL, &error) == ZOETROPE_PARAMETER && strstr(error.message, "writer"));
  zoetrope_destination destination = {.size = 47};
  CHECK(zoetrope_writer_create(&destination, NULL, &writer, &error) == ZOETROPE_PARAMETER && writer == NULL);
  CHECK(strstr(error.message, "zoetrope_destination"));
  destination = (zoetrope_destination){.size = sizeof destination, .path = in_folder("a.webp")};
  CHECK(zoetrope_writer_create(&destination, NULL, &writer, &error) == ZOETROPE_PARAMETER);
  CHECK(strstr(error.message, ".webp"));
  zoetrope_writer_options options = {0};
  CHECK(zoetrope_writer_create(NULL, &options, &writer, NULL) == ZOETROPE_PARAMETER);
  zoetrope_writer_options wrong[] = {{.format = 3}, {.effort = 3}, {.plays = -1}, {.keep_identical = 2},
                                     {.exact_delays = -1}, {.keep_hidden = 7}, {.parallelism = -1},
                                     {.frame_count = -1}, {.memory_bytes = -1}, {.colors = 1}, {.colors = 257},
                                     {.dithering = 4}, {.alpha_threshold = 256}, {.has_matte = 2},
                                     {.matte = 0x1000000}, {.reserved = 1}, {.reserved2 = 1}, {.tolerance = -1},
                                     {.tolerance = 201}, {.max_bytes = -1}, {.max_bytes = 9}, {.keep_size = 1},
                                     {.preset = "discord-emoji"}, {.preset = "telegram"}, {.preset = "\xff"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    wrong[i].size = sizeof wrong[i];
    CHECK(zoetrope_writer_create(NULL, &wrong[i], &writer, &error) == ZOETROPE_PARAMETER && *error.message);
  }
  options = (zoetrope_writer_options){.size = sizeof options, .format = ZOETROPE_GIF, .plays = 65537};
  CHECK(zoetrope_writer_create(NULL, &options, &writer, &error) == ZOETROPE_UNWRITABLE);
  CHECK(!strcmp(error.name, "unwritable"));
  struct { zoetrope_writer_options known; int64_t unknown; } newer = {{.size = sizeof newer}, 1};
  CHECK(zoetrope_writer_create(NULL, &newer.known, &writer, &error) == ZOETROPE_PARAMETER);

  CHECK(zoetrope_writer_append(NULL, NULL, 1, 10, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_writer_finish(NULL, NULL, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_writer_survey(NULL, NULL, NULL) == ZOETROPE_PARAMETER);
  zoetrope_writer_cancel(NULL);
  zoetrope_writer_free(NULL);

  /* Wrong arguments do not end the writer. */
  CHECK(zoetrope_writer_create(NULL, NULL, &writer, NULL) == ZOETROPE_OK);
  uint8_t *pixels = make_picture(0, 4, false, WIDTH * 4);
  zoetrope_picture good = describe(pixels, ZOETROPE_RGBA8, WIDTH * 4), bad[10];
  for (int i = 0; i < 10; i++) bad[i] = good;
  bad[0].size = 55; /* 56 in version 1 of the ABI */
  bad[1].pixels = NULL;
  bad[2].byte_count--;
  bad[3].bytes_per_row = WIDTH * 4 - 1;
  bad[4].bytes_per_row = SIZE_MAX / 2;
  bad[5].width = 0;
  bad[6].height = INT64_MAX;
  bad[7].format = ZOETROPE_RGBA8_PREMULTIPLIED;
  bad[8].format = 11;
  bad[9].reserved = 1;
  for (int i = 0; i < 10; i++)
    CHECK(zoetrope_writer_append(writer, &bad[i], 1, 10, &error) == ZOETROPE_PARAMETER && *error.message);
  CHECK(zoetrope_writer_append(writer, NULL, 1, 10, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_writer_append(writer, &good, 1, 0, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_writer_add_text(writer, "", "text", NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_writer_add_text(writer, "key", NULL, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_writer_add_text(writer, "key", "x\xff", &error) == ZOETROPE_PARAMETER && strstr(error.message, "UTF-8"));
  CHECK(zoetrope_writer_add_text(writer, "k\xff", "text", NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_writer_append(writer, &good, 1, 10, NULL) == ZOETROPE_OK);
  CHECK(zoetrope_writer_survey(writer, &good, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_writer_add_text(writer, "key", "text", NULL) == ZOETROPE_PARAMETER);
  /* Writing to memory requires an owner of the bytes. */
  CHECK(zoetrope_writer_finish(writer, NULL, &error) == ZOETROPE_PARAMETER && strstr(error.message, "written"));
  zoetrope_written written = {.size = sizeof(size_t)};
  CHECK(zoetrope_writer_finish(writer, &written, NULL) == ZOETROPE_PARAMETER);
  written.size = sizeof written;
  CHECK(zoetrope_writer_finish(writer, &written, NULL) == ZOETROPE_OK && written.bytes);
  zoetrope_bytes_free(written.bytes);
  CHECK(zoetrope_writer_finish(writer, &written, NULL) == ZOETROPE_PARAMETER && !written.bytes);
  CHECK(zoetrope_writer_append(writer, &good, 1, 10, NULL) == ZOETROPE_PARAMETER);
  zoetrope_writer_free(writer);
  /* No picture. */
  CHECK(zoetrope_writer_create(NULL, NULL, &writer, NULL) == ZOETROPE_OK);
  CHECK(zoetrope_writer_finish(writer, &written, NULL) == ZOETROPE_PARAMETER);
  zoetrope_writer_free(writer);
  /* A refused picture does not change what a survey has seen. */
  CHECK(zoetrope_writer_create(NULL, NULL, &writer, NULL) == ZOETROPE_OK);
  for (int pass = 0; pass < 2; pass++)
    for (int level = 0; level < 2; level++) {
      memset(pixels, level ? 255 : 128, WIDTH * HEIGHT * 4);
      CHECK((pass ? zoetrope_writer_append(writer, &good, 1, 10, NULL) : zoetrope_writer_survey(writer, &good, NULL))
            == ZOETROPE_OK);
      if (!pass && !level) CHECK(zoetrope_writer_survey(writer, NULL, NULL) == ZOETROPE_PARAMETER);
    }
  CHECK(zoetrope_writer_finish(writer, &written, NULL) == ZOETROPE_OK && written.frame_count == 2);
  zoetrope_bytes_free(written.bytes);
  zoetrope_writer_free(writer);
  free(pixels);
}

static void test_pixel_formats(void) {
  static const struct { int32_t format, container; int channels; bool is_deep; } forms[] = {
    {ZOETROPE_RGBA8, ZOETROPE_APNG, 4, false}, {ZOETROPE_BGRA8, ZOETROPE_APNG, 4, false},
    {ZOETROPE_RGBX8, ZOETROPE_APNG, 4, false}, {ZOETROPE_RGB8, ZOETROPE_APNG, 3, false},
    {ZOETROPE_GREY8, ZOETROPE_APNG, 1, false}, {ZOETROPE_RGBA16, ZOETROPE_APNG, 4, true},
    {ZOETROPE_RGB16, ZOETROPE_APNG, 3, true}, {ZOETROPE_GREY16, ZOETROPE_APNG, 1, true},
    {ZOETROPE_RGBA8, ZOETROPE_GIF, 4, false}, {ZOETROPE_RGB8, ZOETROPE_GIF, 3, false},
  };
  for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
    for (int padding = 0; padding < 2; padding++)
      for (int surveyed = 0; surveyed < 2; surveyed++) {
        zoetrope_writer_options options = {.size = sizeof options, .format = forms[f].container, .plays = 3};
        zoetrope_writer *writer;
        int sample = forms[f].is_deep ? 2 : 1;
        size_t row = (size_t)(WIDTH * forms[f].channels * sample + padding * 14);
        CHECK(zoetrope_writer_create(NULL, &options, &writer, NULL) == ZOETROPE_OK);
        for (int pass = surveyed ? 0 : 1; pass < 2; pass++)
          for (int i = 0; i < COUNT; i++) {
            uint8_t *pixels = make_picture(i, forms[f].channels, forms[f].is_deep, row);
            zoetrope_picture picture = describe(pixels, forms[f].format, padding ? row : 0);
            picture.byte_count = HEIGHT * row - (size_t)padding * 14;
            CHECK((pass ? zoetrope_writer_append(writer, &picture, (uint32_t)i + 2, 100, NULL)
                        : zoetrope_writer_survey(writer, &picture, NULL)) == ZOETROPE_OK);
            free(pixels);
          }
        zoetrope_written written = {.size = sizeof written};
        CHECK(zoetrope_writer_finish(writer, &written, NULL) == ZOETROPE_OK);
        zoetrope_writer_free(writer);
        CHECK(written.frame_count == COUNT && written.format == forms[f].container);
        CHECK((size_t)written.byte_count == zoetrope_bytes_count(written.bytes));
        zoetrope_animation *animation = open_bytes(written.bytes, forms[f].is_deep);
        zoetrope_bytes_free(written.bytes);
        zoetrope_info info = info_of(animation);
        CHECK(info.format == forms[f].container && info.plays == 3 && info.frame_count == COUNT);
        CHECK(info.width == WIDTH && info.height == HEIGHT);
        zoetrope_frame_info infos[COUNT];
        CHECK(zoetrope_get_frames(animation, 0, 0, COUNT, infos, sizeof *infos, NULL) == ZOETROPE_OK);
        zoetrope_rendering deep = {.size = sizeof deep, .format = forms[f].is_deep ? ZOETROPE_RGBA16 : ZOETROPE_RGBA8};
        uint8_t *read = malloc((size_t)(WIDTH * HEIGHT * 4 * sample));
        zoetrope_buffer buffer = {.pixels = read, .byte_count = (size_t)(WIDTH * HEIGHT * 4 * sample)};
        for (int i = 0; i < COUNT; i++) {
          CHECK(infos[i].duration_ns == (i + 2) * 10000000LL);
          CHECK(zoetrope_frame_at_index(animation, i, &deep, &buffer, NULL, NULL) == ZOETROPE_OK);
          uint8_t *pixels = make_picture(i, forms[f].channels, forms[f].is_deep, row);
          int wrong = 0;
          for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
              for (int c = 0; c < 4; c++) {
                int channel = forms[f].channels == 1 ? 0 : forms[f].format == ZOETROPE_BGRA8 && c < 3 ? 2 - c : c;
                bool is_opaque = c == 3 && (forms[f].channels < 4 || forms[f].format == ZOETROPE_RGBX8);
                const uint8_t *got = read + ((y * WIDTH + x) * 4 + c) * sample, all[2] = {255, 255};
                const uint8_t *wanted = pixels + (size_t)y * row + (size_t)((x * forms[f].channels + channel) * sample);
                if (memcmp(got, is_opaque ? all : wanted, (size_t)sample)) wrong++;
              }
          CHECK(wrong == 0);
          free(pixels);
        }
        free(read);
        zoetrope_close(animation);
      }
}

static void test_files(void) {
  const char *path = in_folder("file.gif");
  unlink(path);
  zoetrope_destination destination = {.size = sizeof destination, .path = path};
  zoetrope_writer *writer;
  zoetrope_error error;
  /* A writer that is freed, and one that fails, leave nothing. */
  for (int way = 0; way < 2; way++) {
    CHECK(zoetrope_writer_create(&destination, NULL, &writer, NULL) == ZOETROPE_OK);
    for (int i = 0; i < COUNT; i++) CHECK(append(writer, i, 1, 25, NULL) == ZOETROPE_OK);
    if (way) {
      uint8_t clear[4] = {1, 2, 3, 128};
      zoetrope_picture other = {.size = sizeof other, .pixels = clear, .byte_count = 4, .width = 1, .height = 1};
      CHECK(zoetrope_writer_append(writer, &other, 1, 10, &error) == ZOETROPE_PARAMETER);
      /* The same error again. */
      CHECK(append(writer, 0, 1, 25, &error) == ZOETROPE_PARAMETER);
      CHECK(zoetrope_writer_finish(writer, NULL, NULL) == ZOETROPE_PARAMETER);
    }
    zoetrope_writer_free(writer);
    CHECK(access(path, F_OK) != 0);
  }
  CHECK(zoetrope_writer_create(&destination, NULL, &writer, NULL) == ZOETROPE_OK);
  CHECK(zoetrope_writer_add_text(writer, NULL, "A square", NULL) == ZOETROPE_OK);
  for (int i = 0; i < COUNT; i++) CHECK(append(writer, i, 1, 30, NULL) == ZOETROPE_OK);
  CHECK(access(path, F_OK) != 0);
  CHECK(zoetrope_writer_finish(writer, NULL, NULL) == ZOETROPE_OK);
  zoetrope_writer_free(writer);
  struct stat status;
  CHECK(stat(path, &status) == 0 && status.st_size > 0);
  zoetrope_animation *animation;
  CHECK(zoetrope_open_file(path, NULL, &animation, NULL) == ZOETROPE_OK);
  zoetrope_info info = info_of(animation);
  CHECK(info.format == ZOETROPE_GIF && info.plays == 0 && info.metadata_count == 1);
  int64_t duration;
  /* 12 thirtieths are 40 centiseconds. */
  CHECK(zoetrope_get_duration(animation, ZOETROPE_DELAYS_EXACT, &duration, NULL) == ZOETROPE_OK);
  CHECK(duration == 400000000);
  /* Rewritten onto itself. */
  zoetrope_edit edit = {.kind = ZOETROPE_EDIT_FRAMES, .start = 2, .end = 6};
  zoetrope_written written = {.size = sizeof written};
  CHECK(zoetrope_rewrite(animation, &edit, 1, sizeof edit, NULL, &destination, &written, &error) == ZOETROPE_OK);
  CHECK(written.frame_count == 4 && written.copied_count == 3 && written.bytes == NULL);
  zoetrope_close(animation);
  CHECK(zoetrope_open_file(path, NULL, &animation, NULL) == ZOETROPE_OK);
  CHECK(info_of(animation).frame_count == 4);
  zoetrope_close(animation);
  unlink(path);
  /* A folder that does not exist. */
  destination.path = "/nonexistent/a.png";
  CHECK(zoetrope_writer_create(&destination, NULL, &writer, NULL) == ZOETROPE_OK);
  append(writer, 0, 1, 25, NULL);
  CHECK(zoetrope_writer_finish(writer, NULL, &error) == ZOETROPE_IO && error.system_error == ENOENT);
  zoetrope_writer_free(writer);
}

/* ---- */

typedef struct {
  uint8_t bytes[1 << 16];
  size_t count;
  _Atomic int writes, patches, ends, complete, active, overlaps;
  int fails_after; /* 0: never */
  zoetrope_writer *cancelled;
} record;

static int32_t take(void *context, const void *bytes, size_t count) {
  record *mine = context;
  if (atomic_fetch_add(&mine->active, 1)) mine->overlaps++;
  int32_t status = 0;
  if (mine->cancelled) zoetrope_writer_cancel(mine->cancelled);
  if (mine->count + count > sizeof mine->bytes) abort();
  memcpy(mine->bytes + mine->count, bytes, count);
  mine->count += count;
  if (++mine->writes == mine->fails_after) status = 7;
  atomic_fetch_sub(&mine->active, 1);
  return status;
}

static int32_t replace(void *context, int64_t offset, const void *bytes, size_t count) {
  record *mine = context;
  mine->patches++;
  if (offset < 0 || (size_t)offset + count > mine->count) abort();
  memcpy(mine->bytes + offset, bytes, count);
  return 0;
}

static int32_t end(void *context, int32_t is_complete) {
  record *mine = context;
  mine->ends++;
  mine->complete = is_complete;
  return 0;
}

static int32_t end_badly(void *context, int32_t is_complete) {
  end(context, is_complete);
  return is_complete;
}

static void test_sinks(void) {
  zoetrope_error error;
  for (int way = 0; way < 6; way++) {
    record *mine = calloc(1, sizeof *mine);
    zoetrope_destination destination = {.size = sizeof destination, .context = mine, .write = take, .end = end};
    if (way == 0) destination.patch = replace;
    if (way == 2) mine->fails_after = 2;
    if (way == 3) destination.end = end_badly;
    /* Known before, the count needs no patch, and bytes come at once. */
    zoetrope_writer_options options = {.size = sizeof options, .frame_count = way == 1 ? 0 : COUNT};
    if (way == 0) options.frame_count = 0;
    zoetrope_writer *writer;
    CHECK(zoetrope_writer_create(&destination, &options, &writer, NULL) == ZOETROPE_OK);
    if (way == 4) mine->cancelled = writer;
    zoetrope_status status = ZOETROPE_OK;
    for (int i = 0; i < COUNT && status == ZOETROPE_OK; i++)
      /* One too few. */
      if (way != 5 || i > 0) status = append(writer, i, 1, 25, &error);
    if (way == 1) CHECK(mine->writes == 0);
    if (status == ZOETROPE_OK) status = zoetrope_writer_finish(writer, NULL, &error);
    static const zoetrope_status expected[] = {ZOETROPE_OK, ZOETROPE_OK, ZOETROPE_IO, ZOETROPE_IO,
                                               ZOETROPE_CANCELLED, ZOETROPE_PARAMETER};
    CHECK(status == expected[way]);
    if (way == 2) CHECK(strstr(error.message, "write returned 7"));
    zoetrope_writer_free(writer);
    /* Nothing calls after that. */
    CHECK(mine->ends == 1 && mine->complete == (way < 2 || way == 3) && mine->overlaps == 0);
    if (way < 2) {
      CHECK(mine->patches == (way == 0));
      zoetrope_animation *animation;
      CHECK(zoetrope_open_bytes(mine->bytes, mine->count, NULL, &animation, NULL) == ZOETROPE_OK);
      CHECK(info_of(animation).frame_count == COUNT && info_of(animation).damage_count == 0);
      zoetrope_close(animation);
    }
    free(mine);
  }
}

static void *cancel_soon(void *context) {
  zoetrope_writer_cancel(context);
  return NULL;
}

static void *append_several(void *context) {
  for (int i = 0; i < COUNT; i++)
    if (append(context, i, 1, 25, NULL)) return context;
  return NULL;
}

static void test_threads(void) {
  zoetrope_writer *writer;
  pthread_t threads[4];
  void *result;
  CHECK(zoetrope_writer_create(NULL, NULL, &writer, NULL) == ZOETROPE_OK);
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, append_several, writer);
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], &result);
    CHECK(result == NULL);
  }
  zoetrope_written written = {.size = sizeof written};
  CHECK(zoetrope_writer_finish(writer, &written, NULL) == ZOETROPE_OK);
  CHECK(written.frame_count + written.merged_count == 4 * COUNT);
  zoetrope_bytes_free(written.bytes);
  zoetrope_writer_free(writer);
  for (int round = 0; round < 20; round++) {
    record *mine = calloc(1, sizeof *mine);
    zoetrope_destination destination = {.size = sizeof destination, .context = mine, .write = take, .end = end};
    zoetrope_writer_options options = {.size = sizeof options, .frame_count = 4 * COUNT};
    CHECK(zoetrope_writer_create(&destination, &options, &writer, NULL) == ZOETROPE_OK);
    pthread_create(&threads[0], NULL, append_several, writer);
    pthread_create(&threads[1], NULL, cancel_soon, writer);
    pthread_join(threads[1], NULL);
    pthread_join(threads[0], NULL);
    CHECK(append(writer, 0, 1, 10, NULL) == ZOETROPE_CANCELLED);
    CHECK(zoetrope_writer_finish(writer, NULL, NULL) == ZOETROPE_CANCELLED);
    zoetrope_writer_free(writer);
    CHECK(mine->ends == 1 && mine->complete == 0);
    free(mine);
  }
}

/* ---- Rewriting */

static zoetrope_written rewritten(zoetrope_animation *animation, const zoetrope_edit *edits, size_t count,
                                  int32_t format) {
  zoetrope_writer_options options = {.size = sizeof options, .format = format};
  zoetrope_written written = {.size = sizeof written};
  zoetrope_error error;
  zoetrope_status status =
    zoetrope_rewrite(animation, edits, count, sizeof *edits, &options, NULL, &written, &error);
  CHECK(status == ZOETROPE_OK);
  if (status) fprintf(stderr, "%s: %s\n", error.name, error.message);
  return written;
}

static uint8_t *frame_of(zoetrope_animation *animation, int64_t index, size_t *count) {
  zoetrope_layout layout = {.size = sizeof layout};
  CHECK(zoetrope_get_layout(animation, NULL, &layout, NULL) == ZOETROPE_OK);
  uint8_t *pixels = malloc(layout.byte_count);
  zoetrope_buffer buffer = {.pixels = pixels, .byte_count = *count = layout.byte_count};
  CHECK(zoetrope_frame_at_index(animation, index, NULL, &buffer, NULL, NULL) == ZOETROPE_OK);
  return pixels;
}

static void check_same(zoetrope_animation *a, int64_t i, zoetrope_animation *b, int64_t j) {
  size_t count, other;
  uint8_t *left = frame_of(a, i, &count), *right = frame_of(b, j, &other);
  CHECK(count == other && !memcmp(left, right, count));
  free(left);
  free(right);
}

static void test_rewriting(const char *path) {
  zoetrope_animation *animation;
  zoetrope_error error;
  CHECK(zoetrope_open_file(path, NULL, &animation, NULL) == ZOETROPE_OK);
  zoetrope_info info = info_of(animation);
  int64_t last = info.frame_count - 1, duration;
  CHECK(zoetrope_get_duration(animation, 0, &duration, NULL) == ZOETROPE_OK);
  int64_t picked[] = {last, 0, 1};
  const struct { zoetrope_edit edit; int64_t frames, first; } cases[] = {
    {{.kind = ZOETROPE_EDIT_FRAMES, .start = 1, .end = 3}, 2, 1},
    {{.kind = ZOETROPE_EDIT_FRAMES, .indices = picked, .index_count = 3}, 3, last},
    {{.kind = ZOETROPE_EDIT_TIME, .start = 0, .end = duration}, last + 1, 0},
    {{.kind = ZOETROPE_EDIT_SPEED, .number = 0.5}, last + 1, 0},
    {{.kind = ZOETROPE_EDIT_DURATION, .end = 3000000000}, last + 1, 0},
    {{.kind = ZOETROPE_EDIT_FRAME_RATE, .number = 1000}, last + 1, 0},
    {{.kind = ZOETROPE_EDIT_REVERSE}, last + 1, last},
    {{.kind = ZOETROPE_EDIT_BACK_AND_FORTH}, 2 * last, 0},
    {{.kind = ZOETROPE_EDIT_PLAYS, .end = 5}, last + 1, 0},
    {{.kind = ZOETROPE_EDIT_DELAY, .delay_numerator = 1, .delay_denominator = 20}, last + 1, 0},
    {{.kind = ZOETROPE_EDIT_RESIZE, .width = 31}, last + 1, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int32_t format = ZOETROPE_GIF; format <= ZOETROPE_APNG; format++) {
      zoetrope_written written = rewritten(animation, &cases[i].edit, 1, format);
      CHECK(written.frame_count == cases[i].frames && written.format == format);
      zoetrope_animation *result = open_bytes(written.bytes, false);
      zoetrope_bytes_free(written.bytes);
      zoetrope_info made = info_of(result);
      CHECK(made.format == format && made.frame_count == cases[i].frames);
      if (cases[i].edit.kind == ZOETROPE_EDIT_RESIZE)
        CHECK(made.width == 31 && made.height < info.height);
      else
        check_same(animation, cases[i].first, result, 0);
      int64_t length;
      CHECK(zoetrope_get_duration(result, 0, &length, NULL) == ZOETROPE_OK);
      if (cases[i].edit.kind == ZOETROPE_EDIT_SPEED) CHECK(length == 2 * duration);
      if (cases[i].edit.kind == ZOETROPE_EDIT_DURATION) CHECK(length == 3000000000);
      if (cases[i].edit.kind == ZOETROPE_EDIT_PLAYS) CHECK(made.plays == 5);
      if (cases[i].edit.kind == ZOETROPE_EDIT_DELAY) CHECK(length == (last + 1) * 50000000);
      zoetrope_close(result);
    }
  /* Several, in order. */
  zoetrope_edit edits[] = {{.kind = ZOETROPE_EDIT_REVERSE}, {.kind = ZOETROPE_EDIT_FRAMES, .start = 0, .end = 1},
                           {.kind = ZOETROPE_EDIT_CROP, .x = 1, .y = 2, .width = 8, .height = 9}};
  zoetrope_written written = rewritten(animation, edits, 3, 0);
  zoetrope_animation *result = open_bytes(written.bytes, false);
  zoetrope_bytes_free(written.bytes);
  CHECK(info_of(result).width == 8 && info_of(result).height == 9 && info_of(result).frame_count == 1);
  zoetrope_close(result);
  /* None: a copy. */
  written = rewritten(animation, NULL, 0, 0);
  CHECK(written.copied_count == info.frame_count);
  zoetrope_bytes_free(written.bytes);

  written.size = sizeof written;
  zoetrope_edit wrong[] = {{.kind = 0}, {.kind = 12}, {.kind = ZOETROPE_EDIT_RESIZE},
                           {.kind = ZOETROPE_EDIT_RESIZE, .width = 65536},
                           {.kind = ZOETROPE_EDIT_RESIZE, .width = 9, .fit = 4},
                           {.kind = ZOETROPE_EDIT_FRAMES, .start = 3, .end = 3},
                           {.kind = ZOETROPE_EDIT_FRAMES, .start = -1, .end = 3},
                           {.kind = ZOETROPE_EDIT_FRAMES, .start = 0, .end = last + 2},
                           {.kind = ZOETROPE_EDIT_FRAMES, .indices = picked, .index_count = 0},
                           {.kind = ZOETROPE_EDIT_FRAMES, .indices = (int64_t[]){INT64_MAX}, .index_count = 1},
                           {.kind = ZOETROPE_EDIT_TIME, .start = 5, .end = 4}, {.kind = ZOETROPE_EDIT_SPEED},
                           {.kind = ZOETROPE_EDIT_SPEED, .number = -1}, {.kind = ZOETROPE_EDIT_DURATION, .end = -1},
                           {.kind = ZOETROPE_EDIT_FRAME_RATE}, {.kind = ZOETROPE_EDIT_CROP},
                           {.kind = ZOETROPE_EDIT_CROP, .x = INT64_MIN, .width = 1, .height = 1},
                           {.kind = ZOETROPE_EDIT_PLAYS, .end = -1}, {.kind = ZOETROPE_EDIT_DELAY},
                           {.kind = ZOETROPE_EDIT_REVERSE, .reserved = 1}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    CHECK(zoetrope_rewrite(animation, &wrong[i], 1, sizeof *wrong, NULL, NULL, &written, &error) ==
          ZOETROPE_PARAMETER);
    CHECK(*error.message && written.bytes == NULL);
  }
  CHECK(zoetrope_rewrite(animation, NULL, 1, sizeof *wrong, NULL, NULL, &written, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_rewrite(animation, edits, 1, 0, NULL, NULL, &written, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_rewrite(animation, edits, SIZE_MAX, sizeof *edits, NULL, NULL, &written, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_rewrite(NULL, edits, 1, sizeof *edits, NULL, NULL, &written, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_rewrite(animation, edits, 1, sizeof *edits, NULL, NULL, NULL, NULL) == ZOETROPE_PARAMETER);
  /* A newer caller's elements. */
  struct { zoetrope_edit known; int64_t unknown; } newer[2] = {{edits[0], 0}, {edits[1], 0}};
  CHECK(zoetrope_rewrite(animation, &newer[0].known, 2, sizeof *newer, NULL, NULL, &written, NULL) == ZOETROPE_OK);
  zoetrope_bytes_free(written.bytes);
  newer[1].unknown = 1;
  CHECK(zoetrope_rewrite(animation, &newer[0].known, 2, sizeof *newer, NULL, NULL, &written, NULL) ==
        ZOETROPE_PARAMETER);

  /* No handle of an earlier call is left, whatever fails first. */
  zoetrope_bytes *const earlier = (zoetrope_bytes *)1;
  zoetrope_writer_options unknown = {.size = 3};
  zoetrope_destination empty = {.size = 3};
  written.bytes = earlier;
  CHECK(zoetrope_rewrite(NULL, edits, 1, sizeof *edits, NULL, NULL, &written, NULL) == ZOETROPE_PARAMETER);
  CHECK(written.bytes == NULL);
  written.bytes = earlier;
  CHECK(zoetrope_rewrite(animation, edits, 1, sizeof *edits, &unknown, NULL, &written, NULL) == ZOETROPE_PARAMETER);
  CHECK(written.bytes == NULL);
  written.bytes = earlier;
  CHECK(zoetrope_rewrite(animation, edits, 1, sizeof *edits, NULL, &empty, &written, NULL) == ZOETROPE_PARAMETER);
  CHECK(written.bytes == NULL);
  written.bytes = earlier;
  CHECK(zoetrope_writer_finish(NULL, &written, NULL) == ZOETROPE_PARAMETER && written.bytes == NULL);

  /* Cancelled: the sink is notified, and not called later. */
  zoetrope_cancel(animation);
  written.bytes = earlier;
  CHECK(zoetrope_rewrite(animation, edits, 1, sizeof *edits, NULL, NULL, &written, NULL) == ZOETROPE_CANCELLED);
  CHECK(written.bytes == NULL);
  record *mine = calloc(1, sizeof *mine);
  zoetrope_destination destination = {.size = sizeof destination, .context = mine, .write = take, .end = end};
  CHECK(zoetrope_rewrite(animation, edits, 1, sizeof *edits, NULL, &destination, NULL, NULL) == ZOETROPE_CANCELLED);
  zoetrope_clear_cancel(animation);
  memset(mine, 0, sizeof *mine);
  CHECK(zoetrope_rewrite(animation, edits, 1, sizeof *edits, NULL, &destination, NULL, NULL) == ZOETROPE_OK);
  CHECK(mine->ends == 1 && mine->complete == 1);
  memset(mine, 0, sizeof *mine);
  mine->fails_after = 1;
  CHECK(zoetrope_rewrite(animation, edits, 1, sizeof *edits, NULL, &destination, NULL, &error) == ZOETROPE_IO);
  CHECK(mine->ends == 1 && mine->complete == 0);
  free(mine);
  zoetrope_close(animation);
}

/* Pictures with gradients and grain, which take more bytes the more exact they are. */
static zoetrope_animation *make_film(int32_t format, int frames, int32_t tolerance, int64_t *byte_count) {
  enum { SIDE = 96 };
  zoetrope_writer *writer;
  zoetrope_writer_options options = {.size = sizeof options, .format = format, .tolerance = tolerance};
  CHECK(zoetrope_writer_create(NULL, &options, &writer, NULL) == ZOETROPE_OK);
  uint8_t *pixels = malloc(SIDE * SIDE * 4);
  zoetrope_picture picture = {.size = sizeof picture, .pixels = pixels, .byte_count = SIDE * SIDE * 4, .width = SIDE,
                              .height = SIDE};
  uint32_t noise = 1;
  for (int frame = 0; frame < frames; frame++) {
    for (int i = 0; i < SIDE * SIDE; i++) {
      noise = noise * 1664525 + 1013904223;
      uint8_t grain = noise >> 29;
      uint8_t samples[4] = {(uint8_t)(i % SIDE + 5 * frame + grain), (uint8_t)(i / SIDE + grain), grain, 255};
      memcpy(pixels + i * 4, samples, 4);
    }
    CHECK(zoetrope_writer_append(writer, &picture, 1, 25, NULL) == ZOETROPE_OK);
  }
  free(pixels);
  zoetrope_written written = {.size = sizeof written};
  CHECK(zoetrope_writer_finish(writer, &written, NULL) == ZOETROPE_OK);
  CHECK(written.width == SIDE && written.height == SIDE && written.tolerance == tolerance);
  zoetrope_writer_free(writer);
  if (byte_count) *byte_count = written.byte_count;
  zoetrope_animation *animation = open_bytes(written.bytes, false);
  zoetrope_bytes_free(written.bytes);
  return animation;
}

static void test_budgets(void) {
  int64_t exact, near;
  zoetrope_close(make_film(ZOETROPE_APNG, 12, 60, &near));
  zoetrope_animation *animation = make_film(ZOETROPE_GIF, 12, 0, &exact), *still = make_film(ZOETROPE_GIF, 1, 0, NULL);
  zoetrope_error error;
  zoetrope_written written = {.size = sizeof written};
  zoetrope_writer_options options = {.size = sizeof options, .tolerance = 60};
  CHECK(zoetrope_rewrite(animation, NULL, 0, sizeof(zoetrope_edit), &options, NULL, &written, NULL) == ZOETROPE_OK);
  CHECK(written.byte_count < exact && written.tolerance == 60 && written.frame_rate == 0);
  zoetrope_bytes_free(written.bytes);
  CHECK(zoetrope_optimize(animation, &options, NULL, &written, NULL) == ZOETROPE_OK);
  CHECK(written.byte_count < exact && written.tolerance == 60 && written.frame_count == 12);
  zoetrope_bytes_free(written.bytes);
  options = (zoetrope_writer_options){.size = sizeof options, .colors = 16};
  CHECK(zoetrope_rewrite(animation, NULL, 0, sizeof(zoetrope_edit), &options, NULL, &written, NULL) == ZOETROPE_OK);
  CHECK(written.colors == 16 && written.byte_count < exact);
  zoetrope_bytes_free(written.bytes);

  /* Ever smaller limits, and what is given up for them; pinned properties stay. */
  for (int part = 2; part <= 16; part *= 2) {
    options = (zoetrope_writer_options){.size = sizeof options, .max_bytes = exact / part};
    CHECK(zoetrope_rewrite(animation, NULL, 0, sizeof(zoetrope_edit), &options, NULL, &written, &error) ==
          ZOETROPE_OK);
    CHECK(written.byte_count <= exact / part && zoetrope_bytes_count(written.bytes) == (size_t)written.byte_count);
    CHECK(written.tolerance || written.colors || written.frame_rate || written.width < 96);
    zoetrope_animation *result = open_bytes(written.bytes, false);
    zoetrope_info made = info_of(result);
    CHECK(made.width == written.width && made.height == written.height && made.frame_count == written.frame_count);
    CHECK((written.frame_count < 12) == (written.frame_rate > 0));
    CHECK(written.frame_count + written.dropped_count == 12);
    zoetrope_close(result);
    zoetrope_bytes_free(written.bytes);
  }
  options = (zoetrope_writer_options){.size = sizeof options, .max_bytes = exact / 2, .keep_size = 1,
                                      .keep_frame_rate = 1};
  CHECK(zoetrope_rewrite(animation, NULL, 0, sizeof(zoetrope_edit), &options, NULL, &written, NULL) == ZOETROPE_OK);
  CHECK(written.width == 96 && written.frame_count == 12 && written.byte_count <= exact / 2);
  zoetrope_bytes_free(written.bytes);
  CHECK(zoetrope_optimize(animation, &options, NULL, &written, NULL) == ZOETROPE_OK);
  CHECK(written.width == 96 && written.frame_count == 12 && written.byte_count <= exact / 2 && written.tolerance > 0);
  zoetrope_bytes_free(written.bytes);

  /* Too small a limit: an error that names the smallest possible size, and no file. */
  options = (zoetrope_writer_options){.size = sizeof options, .max_bytes = 50};
  record *mine = calloc(1, sizeof *mine);
  zoetrope_destination destination = {.size = sizeof destination, .context = mine, .write = take, .end = end};
  CHECK(zoetrope_rewrite(animation, NULL, 0, sizeof(zoetrope_edit), &options, &destination, NULL, &error) ==
        ZOETROPE_OVER_BUDGET);
  CHECK(error.code == ZOETROPE_OVER_BUDGET && !strcmp(error.name, "overBudget") && strstr(error.message, "50"));
  CHECK(error.limit == ZOETROPE_LIMIT_BYTES && error.limit_allowed == 50);
  CHECK(error.limit_found > 50 || error.limit_found == -1);
  CHECK(mine->ends == 1 && mine->complete == 0);
  CHECK(zoetrope_optimize(animation, &options, NULL, &written, &error) == ZOETROPE_OVER_BUDGET);
  CHECK(error.limit == ZOETROPE_LIMIT_BYTES && written.bytes == NULL);
  free(mine);

  /* Presets. */
  options = (zoetrope_writer_options){.size = sizeof options, .preset = "discord-emoji", .max_bytes = 40000};
  CHECK(zoetrope_rewrite(animation, NULL, 0, sizeof(zoetrope_edit), &options, NULL, &written, NULL) == ZOETROPE_OK);
  CHECK(written.byte_count <= 40000 && written.format == ZOETROPE_GIF);
  zoetrope_bytes_free(written.bytes);
  options = (zoetrope_writer_options){.size = sizeof options, .preset = "signal-sticker", .format = ZOETROPE_APNG};
  CHECK(zoetrope_rewrite(still, NULL, 0, sizeof(zoetrope_edit), &options, NULL, &written, NULL) == ZOETROPE_OK);
  CHECK(written.width == 512 && written.height == 512 && written.byte_count <= 300 * 1024);
  zoetrope_bytes_free(written.bytes);
  /* A site's limit on frames, which a pin excludes. */
  zoetrope_animation *long_film = make_film(ZOETROPE_GIF, 55, 0, NULL);
  options = (zoetrope_writer_options){.size = sizeof options, .preset = "slack-emoji"};
  CHECK(zoetrope_rewrite(long_film, NULL, 0, sizeof(zoetrope_edit), &options, NULL, &written, NULL) == ZOETROPE_OK);
  CHECK(written.frame_count <= 50 && written.frame_count + written.dropped_count == 55);
  zoetrope_bytes_free(written.bytes);
  options.keep_frame_rate = 1;
  CHECK(zoetrope_rewrite(long_film, NULL, 0, sizeof(zoetrope_edit), &options, NULL, &written, &error) ==
        ZOETROPE_OVER_BUDGET);
  CHECK(error.limit == ZOETROPE_LIMIT_FRAMES && error.limit_found == 55 && error.limit_allowed == 50);
  zoetrope_close(long_film);
  const struct { const char *preset; zoetrope_edit edit; int64_t limit, found, allowed; } refused[] = {
    {"line-sticker", {.kind = ZOETROPE_EDIT_FRAMES, .start = 0, .end = 3}, ZOETROPE_LIMIT_FRAMES, 3, 5},
    {"line-sticker", {.kind = ZOETROPE_EDIT_DURATION, .end = 6000000000}, ZOETROPE_LIMIT_DURATION, 6000000000,
     4000000000},
    {"signal-sticker", {.kind = ZOETROPE_EDIT_CROP, .width = 96, .height = 40}, ZOETROPE_LIMIT_SIDES, 96, 512},
    {"imessage-small", {.kind = ZOETROPE_EDIT_RESIZE, .width = 20}, ZOETROPE_LIMIT_SIDES, 20, 300},
  };
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    options = (zoetrope_writer_options){.size = sizeof options, .format = ZOETROPE_APNG};
    strcpy(options.preset, refused[i].preset);
    CHECK(zoetrope_rewrite(animation, &refused[i].edit, 1, sizeof refused[i].edit, &options, NULL, &written,
                           &error) == ZOETROPE_OVER_BUDGET);
    CHECK(error.limit == refused[i].limit && error.limit_found == refused[i].found);
    CHECK(error.limit_allowed == refused[i].allowed && strstr(error.message, refused[i].preset));
  }
  zoetrope_writer_options wrong[] = {{.preset = "myspace"}, {.preset = "whatsapp"}, {.keep_size = 1},
                                     {.preset = "signal-sticker", .format = ZOETROPE_GIF},
                                     {.max_bytes = 9, .keep_frame_rate = 2}};
  memset(&wrong[0].preset, 'x', sizeof wrong[0].preset);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    wrong[i].size = sizeof wrong[i];
    CHECK(zoetrope_rewrite(animation, NULL, 0, sizeof(zoetrope_edit), &wrong[i], NULL, &written, &error) ==
          ZOETROPE_PARAMETER && *error.message);
  }
  options = (zoetrope_writer_options){.size = sizeof options, .preset = "discord-emoji"};
  CHECK(zoetrope_optimize(animation, &options, NULL, &written, NULL) == ZOETROPE_PARAMETER);

  /* No caller knows less than version 1 of the ABI, whose sizes these are. */
  zoetrope_edit reverse = {.kind = ZOETROPE_EDIT_REVERSE};
  options = (zoetrope_writer_options){.size = 144};
  written.size = 112;
  CHECK(zoetrope_rewrite(still, &reverse, 1, 104, &options, NULL, &written, &error) == ZOETROPE_OK);
  zoetrope_bytes_free(written.bytes);
  CHECK(zoetrope_rewrite(still, &reverse, 1, 103, &options, NULL, &written, &error) == ZOETROPE_PARAMETER);
  CHECK(strstr(error.message, "element_size is 103: set it to sizeof(zoetrope_edit)"));
  options.size--;
  CHECK(zoetrope_rewrite(still, &reverse, 1, 104, &options, NULL, &written, &error) == ZOETROPE_PARAMETER);
  options.size = 144;
  written.size--;
  CHECK(zoetrope_rewrite(still, &reverse, 1, 104, &options, NULL, &written, &error) == ZOETROPE_PARAMETER);
  CHECK(strstr(error.message, "zoetrope_written.size is 111"));
  written.size = sizeof written;
  zoetrope_close(still);
  zoetrope_close(animation);
}

static void *cancel_later(void *context) {
  usleep(20000);
  zoetrope_cancel(context);
  return NULL;
}

/* The search encodes many files: it ends within one of them, and the file is discarded. */
static void test_cancelling_a_budget(void) {
  zoetrope_animation *animation = make_film(ZOETROPE_GIF, 40, 0, NULL);
  record *mine = calloc(1, sizeof *mine);
  zoetrope_destination destination = {.size = sizeof destination, .context = mine, .write = take, .end = end};
  zoetrope_writer_options options = {.size = sizeof options, .max_bytes = 30000, .effort = ZOETROPE_EFFORT_SMALL};
  pthread_t thread;
  pthread_create(&thread, NULL, cancel_later, animation);
  zoetrope_error error;
  CHECK(zoetrope_rewrite(animation, NULL, 0, sizeof(zoetrope_edit), &options, &destination, NULL, &error) ==
        ZOETROPE_CANCELLED);
  pthread_join(thread, NULL);
  CHECK(mine->ends <= 1 && mine->complete == 0);
  free(mine);
  zoetrope_close(animation);
}

static void *cancel_animation(void *context) {
  zoetrope_cancel(context);
  return NULL;
}

static void test_cancelling_a_rewrite(const char *path) {
  zoetrope_edit edits[] = {{.kind = ZOETROPE_EDIT_BACK_AND_FORTH}, {.kind = ZOETROPE_EDIT_REVERSE}};
  for (int round = 0; round < 20; round++) {
    zoetrope_animation *animation;
    CHECK(zoetrope_open_file(path, NULL, &animation, NULL) == ZOETROPE_OK);
    record *mine = calloc(1, sizeof *mine);
    zoetrope_destination destination = {.size = sizeof destination, .context = mine, .write = take, .end = end};
    pthread_t thread;
    pthread_create(&thread, NULL, cancel_animation, animation);
    zoetrope_status status = zoetrope_rewrite(animation, edits, 2, sizeof *edits, NULL, &destination, NULL, NULL);
    pthread_join(thread, NULL);
    CHECK(status == ZOETROPE_OK || status == ZOETROPE_CANCELLED);
    /* Freed at once: a thread that goes on must not touch it. */
    CHECK(mine->ends <= 1 && (status || mine->complete));
    free(mine);
    zoetrope_close(animation);
  }
}

static void test_optimizing(const char *path) {
  zoetrope_animation *animation;
  CHECK(zoetrope_open_file(path, NULL, &animation, NULL) == ZOETROPE_OK);
  zoetrope_info info = info_of(animation);
  zoetrope_written written = {.size = sizeof written};
  zoetrope_error error;
  zoetrope_status status = zoetrope_optimize(animation, NULL, NULL, &written, &error);
  if (status) fprintf(stderr, "%s: %s\n", path, error.message);
  CHECK(status == ZOETROPE_OK && written.byte_count <= info.byte_count && written.frame_count == info.frame_count);
  zoetrope_animation *result = open_bytes(written.bytes, false);
  for (int64_t i = 0; i < info.frame_count; i += 3) check_same(animation, i, result, i);
  zoetrope_close(result);
  zoetrope_bytes_free(written.bytes);
  zoetrope_writer_options options = {.size = sizeof options,
                                     .format = info.format == ZOETROPE_GIF ? ZOETROPE_APNG : ZOETROPE_GIF};
  CHECK(zoetrope_optimize(animation, &options, NULL, &written, NULL) == ZOETROPE_PARAMETER);
  zoetrope_close(animation);
}

static void test_refusals(void) {
  uint8_t half[] = {200, 100, 50, 128};
  zoetrope_picture picture = {.size = sizeof picture, .pixels = half, .byte_count = 4, .width = 1, .height = 1};
  zoetrope_writer_options options = {.size = sizeof options, .format = ZOETROPE_GIF, .colors = -1};
  zoetrope_writer *writer;
  zoetrope_written written = {.size = sizeof written};
  zoetrope_error error;
  CHECK(zoetrope_writer_create(NULL, &options, &writer, NULL) == ZOETROPE_OK);
  zoetrope_status status = zoetrope_writer_append(writer, &picture, 1, 10, &error);
  if (!status) status = zoetrope_writer_finish(writer, &written, &error);
  CHECK(status == ZOETROPE_UNWRITABLE && written.bytes == NULL);
  zoetrope_writer_free(writer);
  /* Blended with a colour instead. */
  options.colors = 0;
  options.has_matte = 1;
  options.matte = 0x0000ff;
  CHECK(zoetrope_writer_create(NULL, &options, &writer, NULL) == ZOETROPE_OK);
  CHECK(zoetrope_writer_append(writer, &picture, 1, 10, &error) == ZOETROPE_OK);
  CHECK(zoetrope_writer_finish(writer, &written, &error) == ZOETROPE_OK && written.partial_alpha_share == 1);
  zoetrope_writer_free(writer);
  zoetrope_animation *animation = open_bytes(written.bytes, false);
  zoetrope_bytes_free(written.bytes);
  size_t count;
  uint8_t *pixels = frame_of(animation, 0, &count);
  CHECK(count == 4 && pixels[0] == 100 && pixels[1] == 50 && pixels[2] == 152 && pixels[3] == 255);
  free(pixels);
  zoetrope_close(animation);
}

static void test_fork(const char *path) {
  zoetrope_writer *writer;
  zoetrope_animation *animation;
  CHECK(zoetrope_writer_create(NULL, NULL, &writer, NULL) == ZOETROPE_OK);
  CHECK(append(writer, 0, 1, 10, NULL) == ZOETROPE_OK);
  CHECK(zoetrope_open_file(path, NULL, &animation, NULL) == ZOETROPE_OK);
  pid_t child = fork();
  if (child == 0) {
    zoetrope_written written = {.size = sizeof written};
    bool is_right = append(writer, 1, 1, 10, NULL) == ZOETROPE_FORKED &&
                    zoetrope_writer_finish(writer, &written, NULL) == ZOETROPE_FORKED &&
                    zoetrope_optimize(animation, NULL, NULL, &written, NULL) == ZOETROPE_FORKED;
    zoetrope_writer_cancel(writer);
    zoetrope_writer_free(writer);
    /* Killed, so that no tool looks for what the child left: blocks of threads that it does not have. */
    if (is_right) raise(SIGKILL);
    _exit(1);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  zoetrope_written written = {.size = sizeof written};
  CHECK(zoetrope_writer_finish(writer, &written, NULL) == ZOETROPE_OK);
  zoetrope_bytes_free(written.bytes);
  zoetrope_writer_free(writer);
  zoetrope_close(animation);
}

int main(int count, char **arguments) {
  if (count < 3) {
    fprintf(stderr, "usage: writer_test FOLDER FILE...\n");
    return 2;
  }
  folder = arguments[1];
  test_bad_arguments();
  test_pixel_formats();
  test_files();
  test_sinks();
  test_threads();
  test_refusals();
  test_rewriting(arguments[2]);
  test_cancelling_a_rewrite(arguments[2]);
  test_budgets();
  test_cancelling_a_budget();
  for (int i = 2; i < count; i++) test_optimizing(arguments[i]);
  test_fork(arguments[2]);
  printf("%d checks, %d failed\n", checks, failures);
  return failures != 0;
}

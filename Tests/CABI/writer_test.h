/* What the files of writer_test share. */
#ifndef WRITER_TEST_H
#define WRITER_TEST_H

#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zoetrope.h>

#include "check.h"

enum { WIDTH = 37, HEIGHT = 23, COUNT = 12 };
/* Where files are written. */
extern const char *folder;

static inline const char *in_folder(const char *name) {
  static char paths[4][4096];
  static int next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

/* A red square on blue, at another place in each picture, with `channels` samples of one or two bytes. */
static inline uint8_t *make_picture(int index, int channels, bool is_deep, size_t bytes_per_row) {
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

static inline zoetrope_picture describe(void *pixels, int32_t format, size_t bytes_per_row) {
  return (zoetrope_picture){.size = sizeof(zoetrope_picture), .pixels = pixels, .byte_count = HEIGHT * bytes_per_row,
                            .bytes_per_row = bytes_per_row, .width = WIDTH, .height = HEIGHT, .format = format};
}

static inline zoetrope_status append(zoetrope_writer *writer, int index, uint32_t numerator, uint32_t denominator,
                              zoetrope_error *error) {
  uint8_t *pixels = make_picture(index, 4, false, WIDTH * 4);
  zoetrope_picture picture = describe(pixels, ZOETROPE_RGBA8, WIDTH * 4);
  zoetrope_status status = zoetrope_writer_append(writer, &picture, numerator, denominator, error);
  free(pixels);
  return status;
}

static inline zoetrope_animation *open_bytes(zoetrope_bytes *bytes, bool is_deep) {
  size_t count = zoetrope_bytes_count(bytes);
  void *copy = malloc(count + 1);
  CHECK(zoetrope_bytes_copy(bytes, copy, count) == count);
  zoetrope_options options = {.size = sizeof options, .deep = is_deep, .damage = ZOETROPE_DAMAGE_STRICT};
  zoetrope_animation *animation = NULL;
  CHECK(zoetrope_open_bytes(copy, count, &options, &animation, NULL) == ZOETROPE_OK);
  free(copy);
  return animation;
}

static inline zoetrope_info info_of(zoetrope_animation *animation) {
  zoetrope_info info = {.size = sizeof info};
  CHECK(zoetrope_get_info(animation, &info, NULL) == ZOETROPE_OK);
  return info;
}

static inline uint8_t *frame_of(zoetrope_animation *animation, int64_t index, size_t *count) {
  zoetrope_layout layout = {.size = sizeof layout};
  CHECK(zoetrope_get_layout(animation, NULL, &layout, NULL) == ZOETROPE_OK);
  uint8_t *pixels = malloc(layout.byte_count);
  zoetrope_buffer buffer = {.pixels = pixels, .byte_count = *count = layout.byte_count};
  CHECK(zoetrope_frame_at_index(animation, index, NULL, &buffer, NULL, NULL) == ZOETROPE_OK);
  return pixels;
}

static inline void check_same(zoetrope_animation *a, int64_t i, zoetrope_animation *b, int64_t j) {
  size_t count, other;
  uint8_t *left = frame_of(a, i, &count), *right = frame_of(b, j, &other);
  CHECK(count == other && !memcmp(left, right, count));
  free(left);
  free(right);
}

/* What a destination receives. */
typedef struct {
  uint8_t bytes[1 << 16];
  size_t count;
  _Atomic int writes, patches, ends, complete, active, overlaps;
  int fails_after; /* 0: never */
  zoetrope_writer *cancelled;
} record;

static inline int32_t take(void *context, const void *bytes, size_t count) {
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

static inline int32_t replace(void *context, int64_t offset, const void *bytes, size_t count) {
  record *mine = context;
  mine->patches++;
  if (offset < 0 || (size_t)offset + count > mine->count) abort();
  memcpy(mine->bytes + offset, bytes, count);
  return 0;
}

static inline int32_t end(void *context, int32_t is_complete) {
  record *mine = context;
  mine->ends++;
  mine->complete = is_complete;
  return 0;
}

static inline int32_t end_badly(void *context, int32_t is_complete) {
  end(context, is_complete);
  return is_complete;
}

/* writer_frames.c */
void test_bad_arguments(void);
void test_pixel_formats(void);
void test_files(void);
void test_relative_paths(void);
void test_sinks(void);
void test_threads(void);
void test_refusals(void);
void test_fork(const char *path);

/* writer_rewriting.c */
void test_rewriting(const char *path);
void test_cancelling_a_rewrite(const char *path);
void test_optimizing(const char *path);

/* writer_budgets.c */
void test_budgets(void);
void test_cancelling_a_budget(void);

#endif

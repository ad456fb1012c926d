/* What the files of abi_test share. */
#ifndef ABI_TEST_H
#define ABI_TEST_H

#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zoetrope.h>

#include "check.h"

static inline uint8_t *read_file(const char *path, size_t *count) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  *count = (size_t)ftell(file);
  rewind(file);
  uint8_t *bytes = malloc(*count + 1);
  if (fread(bytes, 1, *count, file) != *count) *count = 0;
  fclose(file);
  return bytes;
}

static inline uint64_t hash(const void *bytes, size_t count) {
  uint64_t sum = 0xcbf29ce484222325;
  for (size_t i = 0; i < count; i++) sum = (sum ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3;
  return sum;
}

static inline zoetrope_animation *open_path(const char *path) {
  zoetrope_animation *animation;
  zoetrope_error error;
  if (zoetrope_open_file(path, NULL, &animation, &error)) {
    fprintf(stderr, "%s: %s: %s\n", path, error.name, error.message);
    exit(1);
  }
  return animation;
}

static inline zoetrope_info info_of(zoetrope_animation *animation) {
  zoetrope_info info = {.size = sizeof info};
  CHECK(zoetrope_get_info(animation, &info, NULL) == ZOETROPE_OK);
  return info;
}

static inline zoetrope_layout layout_of(zoetrope_animation *animation, const zoetrope_rendering *rendering) {
  zoetrope_layout layout = {.size = sizeof layout};
  CHECK(zoetrope_get_layout(animation, rendering, &layout, NULL) == ZOETROPE_OK);
  return layout;
}

/* An image that is read through callbacks. */
typedef struct {
  const uint8_t *bytes;
  size_t count;
  int64_t result;
  int released;
  zoetrope_animation *cancelled; /* the next read cancels calls on it */
} memory;

static inline int64_t read_memory(void *context, int64_t offset, void *buffer, size_t count) {
  memory *from = context;
  if (from->result) return from->result;
  zoetrope_cancel(from->cancelled);
  from->cancelled = NULL;
  size_t left = (size_t)offset < from->count ? from->count - (size_t)offset : 0;
  if (count > left) count = left;
  if (count > 1000) count = 1000; /* a short read is no end */
  memcpy(buffer, from->bytes + offset, count);
  return (int64_t)count;
}

static inline void release_memory(void *context) { ((memory *)context)->released++; }

/* A canvas of 16 megapixels with frames of one pixel, 23 bytes each. */
static inline uint8_t *make_dots(size_t frames, size_t *count) {
  static const uint8_t head[] = "GIF89a\0\x10\0\x10\x80\0\0\0\0\0\xff\xff\xff";
  static const uint8_t frame[] =
      "\x21\xf9\4\4\5\0\0\0\x2c\0\0\0\0\1\0\1\0\0\2\2\x4c\1\0";
  size_t size = sizeof frame - 1;
  uint8_t *bytes = malloc(sizeof head + frames * size);
  memcpy(bytes, head, sizeof head - 1);
  for (size_t i = 0; i < frames; i++) memcpy(bytes + sizeof head - 1 + i * size, frame, size);
  *count = sizeof head + frames * size;
  bytes[*count - 1] = ';';
  return bytes;
}

/* abi_facts.c */
void test_bad_arguments(const char *path);
void test_versions(void);
void test_facts(const char *path);
void test_damage(const char *path);
void test_metadata(const char *path);
void test_times(const char *path);

/* abi_frames.c */
void test_pixels(const char *path);
void test_renderings(const char *path);
void test_sampling(const char *path);
void test_png(const char *path);
void test_dirty(const char *path);
void test_file(const char *path);

/* abi_reading.c */
void test_reader(const char *path);
void test_descriptors(const char *path);
void test_threads(const char *path);
void test_closing_ends_reading(void);
void test_that_calls_take_turns(const char *path);

/* abi_stopping.c */
void test_cancelling_a_call_that_waits(const char *path);
void test_hostile_calls(void);
void test_timeout(const char *path);
void test_timeout_of_a_silent_pipe(void);
void test_cancelling_opening(const char *path);
void test_cancelling_opening_of_a_silent_pipe(void);

/* abi_playback.c */
void test_playback(const char *path);
void test_hostile_player(void);
void test_durations_of_playback(const char *path);
void test_fork(const char *path);

#endif

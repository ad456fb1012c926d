/* Tests of the C ABI: abi_test DELAYS.gif DAMAGED.gif METADATA.png FILE...
   Runs under the address sanitizer and valgrind too: `make test-lib WITH=address`. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zoetrope.h>

#include "check.h"

static uint8_t *read_file(const char *path, size_t *count) {
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

static uint64_t hash(const void *bytes, size_t count) {
  uint64_t sum = 0xcbf29ce484222325;
  for (size_t i = 0; i < count; i++) sum = (sum ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3;
  return sum;
}

static zoetrope_animation *open_path(const char *path) {
  zoetrope_animation *animation;
  zoetrope_error error;
  if (zoetrope_open_file(path, NULL, &animation, &error)) {
    fprintf(stderr, "%s: %s: %s\n", path, error.name, error.message);
    exit(1);
  }
  return animation;
}

static zoetrope_info info_of(zoetrope_animation *animation) {
  zoetrope_info info = {.size = sizeof info};
  CHECK(zoetrope_get_info(animation, &info, NULL) == ZOETROPE_OK);
  return info;
}

static zoetrope_layout layout_of(zoetrope_animation *animation, const zoetrope_rendering *rendering) {
  zoetrope_layout layout = {.size = sizeof layout};
  CHECK(zoetrope_get_layout(animation, rendering, &layout, NULL) == ZOETROPE_OK);
  return layout;
}

/* ---- */

static void test_bad_arguments(const char *path) {
  zoetrope_animation *animation = (void *)1;
  zoetrope_error error;
  CHECK(zoetrope_abi_version() >= ZOETROPE_ABI_VERSION);
  CHECK(strlen(zoetrope_version()) >= 5);
  CHECK(zoetrope_open_file(NULL, NULL, &animation, &error) == ZOETROPE_PARAMETER);
  CHECK(animation == NULL);
  CHECK(error.code == ZOETROPE_PARAMETER && !strcmp(error.name, "parameter") && strstr(error.message, "path"));
  CHECK(zoetrope_open_file(path, NULL, NULL, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_open_file("/nonexistent.gif", NULL, &animation, &error) == ZOETROPE_IO);
  CHECK(strstr(error.message, "/nonexistent.gif") && error.system_error == ENOENT);
  CHECK(zoetrope_open_file("/", NULL, &animation, &error) == ZOETROPE_IO && error.system_error == EISDIR);
  /* A path that fills the message leaves room for the reason, and is shown without control characters. */
  char name[1000] = "/\a\xff";
  memset(name + 3, 'n', sizeof name - 4);
  CHECK(zoetrope_open_file(name, NULL, &animation, &error) == ZOETROPE_IO);
  CHECK(error.system_error == ENAMETOOLONG && strstr(error.message, "…") && strstr(error.message, "too long"));
  for (const char *c = error.message; *c; c++) CHECK((unsigned char)*c >= ' ');
  CHECK(zoetrope_open_bytes("hello, no image", 15, NULL, &animation, &error) == ZOETROPE_NOT_AN_IMAGE);
  CHECK(error.byte_offset >= 0 && error.frame == -1 && error.system_error == 0);
  CHECK(zoetrope_open_bytes(NULL, 0, NULL, &animation, NULL) == ZOETROPE_TRUNCATED);
  CHECK(zoetrope_open_bytes(NULL, 5, NULL, &animation, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_open_bytes("x", SIZE_MAX, NULL, &animation, NULL) == ZOETROPE_PARAMETER);
  zoetrope_options options = {0};
  CHECK(zoetrope_open_file(path, &options, &animation, NULL) == ZOETROPE_PARAMETER);
  options.size = 1 << 20;
  CHECK(zoetrope_open_file(path, &options, &animation, NULL) == ZOETROPE_PARAMETER);
  options = (zoetrope_options){.size = sizeof options, .damage = 3};
  CHECK(zoetrope_open_file(path, &options, &animation, NULL) == ZOETROPE_PARAMETER);
  options = (zoetrope_options){.size = sizeof options, .limits = -1};
  CHECK(zoetrope_open_file(path, &options, &animation, NULL) == ZOETROPE_PARAMETER);
  options = (zoetrope_options){.size = sizeof options, .live_bytes = -1};
  CHECK(zoetrope_open_file(path, &options, &animation, NULL) == ZOETROPE_PARAMETER);
  options = (zoetrope_options){.size = sizeof options, .frame_count = 1};
  CHECK(zoetrope_open_file(path, &options, &animation, &error) == ZOETROPE_LIMIT_EXCEEDED);
  CHECK(strstr(error.message, "frame_count"));
  /* No caller knows less than version 1 of the ABI, whose sizes these are; a newer one knows more. */
  options = (zoetrope_options){.size = sizeof(void *)};
  CHECK(zoetrope_open_file(path, &options, &animation, &error) == ZOETROPE_PARAMETER);
  CHECK(strstr(error.message, "zoetrope_options.size is 8"));
  options.size = 95;
  CHECK(zoetrope_open_file(path, &options, &animation, NULL) == ZOETROPE_PARAMETER);
  options.size = 96;
  CHECK(zoetrope_open_file(path, &options, &animation, NULL) == ZOETROPE_OK);
  zoetrope_close(animation);
  zoetrope_reader reader = {.size = 39};
  CHECK(zoetrope_open_reader(&reader, NULL, &animation, &error) == ZOETROPE_PARAMETER);
  CHECK(strstr(error.message, "zoetrope_reader.size is 39"));
  struct { zoetrope_options known; int64_t unknown; } newer = {{.size = sizeof newer}, 0};
  CHECK(zoetrope_open_file(path, &newer.known, &animation, NULL) == ZOETROPE_OK);
  zoetrope_close(animation);
  newer.unknown = 1;
  CHECK(zoetrope_open_file(path, &newer.known, &animation, &error) == ZOETROPE_PARAMETER);
  zoetrope_close(NULL);
  zoetrope_player_free(NULL);
  zoetrope_bytes_free(NULL);
  CHECK(zoetrope_bytes_count(NULL) == 0);
  CHECK(zoetrope_get_info(NULL, NULL, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_frame_at_index(NULL, 0, NULL, NULL, NULL, &error) == ZOETROPE_PARAMETER);
  options = (zoetrope_options){.size = sizeof options, .timeout_ns = -1};
  CHECK(zoetrope_open_file(path, &options, &animation, NULL) == ZOETROPE_PARAMETER);
  zoetrope_cancel(NULL);
  zoetrope_clear_cancel(NULL);
  zoetrope_player_stop(NULL);
  CHECK(zoetrope_player_state(NULL) == ZOETROPE_ENDED);
  CHECK(zoetrope_player_seek_time(NULL, 0, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_player_set_rate(NULL, 1, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_player_wait(NULL, NULL) == ZOETROPE_PARAMETER);
}

static void test_facts(const char *path) {
  zoetrope_animation *animation = open_path(path);
  zoetrope_error error;
  zoetrope_info info = info_of(animation);
  CHECK(info.format == ZOETROPE_GIF && info.frame_count > 1 && info.width > 0 && info.height > 0);
  CHECK(info.byte_count > 0);
  zoetrope_info small = {.size = 87, .width = 99};
  CHECK(zoetrope_get_info(animation, &small, NULL) == ZOETROPE_PARAMETER && small.width == 99);
  small.size = 88;
  CHECK(zoetrope_get_info(animation, &small, NULL) == ZOETROPE_OK && small.width == info.width);
  zoetrope_layout layout = {.size = 47};
  CHECK(zoetrope_get_layout(animation, NULL, &layout, NULL) == ZOETROPE_PARAMETER);
  layout.size = 48;
  CHECK(zoetrope_get_layout(animation, NULL, &layout, NULL) == ZOETROPE_OK && layout.width == info.width);
  zoetrope_rendering rendering = {.size = 39};
  CHECK(zoetrope_get_layout(animation, &rendering, &layout, NULL) == ZOETROPE_PARAMETER);
  rendering.size = 40;
  CHECK(zoetrope_get_layout(animation, &rendering, &layout, NULL) == ZOETROPE_OK);
  CHECK(zoetrope_get_info(animation, NULL, NULL) == ZOETROPE_PARAMETER);
  size_t count = (size_t)info.frame_count;
  zoetrope_frame_info *frames = calloc(count, sizeof *frames);
  int64_t duration, index;
  CHECK(zoetrope_get_duration(animation, ZOETROPE_DELAYS_BROWSER, &duration, NULL) == ZOETROPE_OK);
  CHECK(zoetrope_get_frames(animation, 0, 0, count, frames, sizeof *frames, NULL) == ZOETROPE_OK);
  int64_t start = 0;
  for (size_t i = 0; i < count; i++) {
    CHECK(frames[i].start_ns == start);
    start += frames[i].duration_ns;
    CHECK(frames[i].delay_denominator == 100);
    CHECK(zoetrope_frame_index_at(animation, 0, frames[i].start_ns, &index, NULL) == ZOETROPE_OK);
    CHECK(index == (int64_t)i);
  }
  CHECK(start == duration);
  CHECK(zoetrope_frame_index_at(animation, 0, INT64_MIN, &index, NULL) == ZOETROPE_OK && index == 0);
  CHECK(zoetrope_frame_index_at(animation, 0, INT64_MAX, &index, NULL) == ZOETROPE_OK);
  /* A newer caller's elements are longer; none are shorter than in version 1. */
  struct { zoetrope_frame_info known; int64_t unknown; } longer[2] = {{.unknown = 1}};
  CHECK(zoetrope_get_frames(animation, 0, 0, 2, &longer[0].known, sizeof longer[0], NULL) == ZOETROPE_OK);
  CHECK(longer[1].known.width == frames[1].width && longer[0].unknown == 0);
  CHECK(zoetrope_get_frames(animation, 0, 0, 1, frames, 88, NULL) == ZOETROPE_OK);
  CHECK(zoetrope_get_frames(animation, 0, 0, 1, frames, 87, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_get_frames(animation, 0, 0, 1, frames, sizeof frames, &error) == ZOETROPE_PARAMETER);
  CHECK(strstr(error.message, "element_size is 8: set it to sizeof(zoetrope_frame_info)"));
  CHECK(zoetrope_get_frames(animation, 0, 0, count + 1, frames, sizeof *frames, &error) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_get_frames(animation, 0, 0, 0, NULL, sizeof *frames, NULL) == ZOETROPE_OK);
  CHECK(zoetrope_get_frames(animation, 0, -1, 1, frames, sizeof *frames, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_get_frames(animation, 0, INT64_MAX, SIZE_MAX, frames, sizeof *frames, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_get_frames(animation, 0, 0, 1, NULL, sizeof *frames, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_get_frames(animation, 0, 0, 1, frames, 0, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_get_frames(animation, 4, 0, 1, frames, sizeof *frames, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_get_damage(animation, info.damage_count, &(zoetrope_damage){0}, NULL) == ZOETROPE_PARAMETER);
  free(frames);
  zoetrope_close(animation);
}

static void test_damage(const char *path) {
  zoetrope_animation *animation = open_path(path);
  zoetrope_info info = info_of(animation);
  bool found = info.damage_count > 0;
  for (int64_t i = 0; i < info.damage_count; i++) {
    zoetrope_damage damage;
    CHECK(zoetrope_get_damage(animation, i, &damage, NULL) == ZOETROPE_OK);
    CHECK(damage.is_present && damage.byte_offset >= 0 && *damage.kind && *damage.detail);
  }
  zoetrope_layout layout = layout_of(animation, NULL);
  uint8_t *pixels = malloc(layout.byte_count);
  zoetrope_buffer buffer = {pixels, layout.byte_count, 0, 0};
  for (int64_t i = 0; i < info.frame_count; i++) {
    zoetrope_frame frame;
    CHECK(zoetrope_frame_at_index(animation, i, NULL, &buffer, &frame, NULL) == ZOETROPE_OK);
    if (frame.damage.is_present) found = true;
  }
  CHECK(found);
  free(pixels);
  zoetrope_close(animation);
  zoetrope_options strict = {.size = sizeof strict, .damage = ZOETROPE_DAMAGE_STRICT};
  zoetrope_error error = {0};
  zoetrope_status status = zoetrope_open_file(path, &strict, &animation, &error);
  if (status == ZOETROPE_OK) {
    for (int64_t i = 0; status == ZOETROPE_OK && i < info.frame_count; i++) {
      pixels = malloc(layout.byte_count);
      buffer.pixels = pixels;
      status = zoetrope_frame_at_index(animation, i, NULL, &buffer, NULL, &error);
      free(pixels);
    }
  }
  CHECK(status == ZOETROPE_TRUNCATED || status == ZOETROPE_MALFORMED);
  CHECK(error.code == status && error.byte_offset > 0);
  zoetrope_close(animation);
}

static void test_metadata(const char *path) {
  zoetrope_animation *animation = open_path(path);
  zoetrope_info info = info_of(animation);
  CHECK(info.metadata_count > 0);
  bool has_text = false;
  for (int64_t i = 0; i < info.metadata_count; i++) {
    zoetrope_metadata item;
    CHECK(zoetrope_get_metadata(animation, i, &item, NULL, 0, NULL) == ZOETROPE_OK);
    uint8_t *value = malloc(item.byte_count + 2);
    value[item.byte_count] = 0xa5;
    CHECK(zoetrope_get_metadata(animation, i, &item, value, item.byte_count, NULL) == ZOETROPE_OK);
    CHECK(value[item.byte_count] == 0xa5);
    if (item.byte_count > 1) {
      memset(value, 0xa5, item.byte_count);
      CHECK(zoetrope_get_metadata(animation, i, &item, value, 1, NULL) == ZOETROPE_OK);
      CHECK(value[1] == 0xa5);
    }
    if (item.kind == ZOETROPE_TEXT && *item.key) has_text = true;
    free(value);
  }
  CHECK(has_text);
  CHECK(zoetrope_get_metadata(animation, -1, &(zoetrope_metadata){0}, NULL, 0, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_get_metadata(animation, 0, &(zoetrope_metadata){0}, NULL, 9, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_get_metadata(animation, 0, NULL, NULL, 0, NULL) == ZOETROPE_PARAMETER);
  zoetrope_close(animation);
}

static void test_pixels(const char *path) {
  zoetrope_animation *animation = open_path(path);
  zoetrope_info info = info_of(animation);
  zoetrope_layout layout = layout_of(animation, NULL);
  CHECK(layout.width == info.width && layout.height == info.height && layout.bytes_per_pixel == 4);
  size_t count = (size_t)info.frame_count, size = layout.byte_count;
  uint8_t *all = malloc(count * size), *one = malloc(size + 64 * (size_t)info.height + 64);
  zoetrope_frame *frames = malloc(count * sizeof *frames);
  zoetrope_buffer several = {all, count * size, 0, 0}, single = {one, size, 0, 0};
  zoetrope_error error;
  CHECK(zoetrope_read_frames(animation, NULL, count, NULL, &several, frames, NULL) == ZOETROPE_OK);
  /* One by one, there and back. */
  for (size_t step = 0; step < 2 * count; step++) {
    size_t i = step < count ? step : 2 * count - 1 - step;
    CHECK(zoetrope_frame_at_index(animation, (int64_t)i, NULL, &single, frames, NULL) == ZOETROPE_OK);
    CHECK(!memcmp(one, all + i * size, size));
    CHECK(frames->index == (int64_t)i);
  }
  /* Padded rows: nothing is written between them or after them. */
  size_t stride = layout.bytes_per_row + 13;
  single = (zoetrope_buffer){one, (size_t)(info.height - 1) * stride + layout.bytes_per_row, stride, 0};
  memset(one, 0xa5, size + 64 * (size_t)info.height);
  CHECK(zoetrope_frame_at_index(animation, 1, NULL, &single, NULL, NULL) == ZOETROPE_OK);
  for (int64_t y = 0; y < info.height; y++) {
    const uint8_t *row = one + (size_t)y * stride;
    CHECK(!memcmp(row, all + size + (size_t)y * layout.bytes_per_row, layout.bytes_per_row));
    for (size_t x = layout.bytes_per_row; x < stride; x++) CHECK(row[x] == 0xa5);
  }
  single.byte_count--;
  CHECK(zoetrope_frame_at_index(animation, 1, NULL, &single, NULL, &error) == ZOETROPE_PARAMETER);
  CHECK(strstr(error.message, "1 frame needs"));
  /* Any size_t is accepted as a size. */
  single = (zoetrope_buffer){one, SIZE_MAX, 0, 0};
  CHECK(zoetrope_frame_at_index(animation, 1, NULL, &single, NULL, NULL) == ZOETROPE_OK);
  single = (zoetrope_buffer){one, size, layout.bytes_per_row - 1, 0};
  CHECK(zoetrope_frame_at_index(animation, 1, NULL, &single, NULL, NULL) == ZOETROPE_PARAMETER);
  single = (zoetrope_buffer){one, size, SIZE_MAX, 0};
  CHECK(zoetrope_frame_at_index(animation, 1, NULL, &single, NULL, &error) == ZOETROPE_PARAMETER);
  CHECK(strstr(error.message, "18446744073709551615"));
  single = (zoetrope_buffer){one, size, SIZE_MAX / 4, 0};
  CHECK(zoetrope_frame_at_index(animation, 1, NULL, &single, NULL, NULL) == ZOETROPE_PARAMETER);
  single = (zoetrope_buffer){NULL, size, 0, 0};
  CHECK(zoetrope_frame_at_index(animation, 1, NULL, &single, NULL, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_frame_at_index(animation, 1, NULL, NULL, NULL, NULL) == ZOETROPE_PARAMETER);
  single = (zoetrope_buffer){one, size, 0, 0};
  CHECK(zoetrope_frame_at_index(animation, -1, NULL, &single, NULL, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_frame_at_index(animation, info.frame_count, NULL, &single, NULL, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_frame_at_index(animation, INT64_MAX, NULL, &single, NULL, NULL) == ZOETROPE_PARAMETER);
  several.bytes_per_frame = size - 1;
  CHECK(zoetrope_read_frames(animation, NULL, count, NULL, &several, NULL, NULL) == ZOETROPE_PARAMETER);
  several.bytes_per_frame = SIZE_MAX / 3;
  CHECK(zoetrope_read_frames(animation, NULL, count, NULL, &several, NULL, NULL) == ZOETROPE_PARAMETER);
  several.bytes_per_frame = 0;
  CHECK(zoetrope_read_frames(animation, NULL, 0, NULL, NULL, NULL, NULL) == ZOETROPE_OK);
  CHECK(zoetrope_read_frames(animation, NULL, count + 1, NULL, &several, NULL, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_read_frames(animation, NULL, SIZE_MAX, NULL, &several, NULL, NULL) == ZOETROPE_PARAMETER);
  int64_t bad[2] = {0, info.frame_count};
  CHECK(zoetrope_read_frames(animation, bad, 2, NULL, &several, NULL, NULL) == ZOETROPE_PARAMETER);
  /* Any order, with repeats. */
  int64_t some[3] = {1, 0, 1};
  uint8_t *three = malloc(3 * size);
  zoetrope_buffer into = {three, 3 * size, 0, 0};
  CHECK(zoetrope_read_frames(animation, some, 3, NULL, &into, frames, NULL) == ZOETROPE_OK);
  for (int i = 0; i < 3; i++) {
    CHECK(!memcmp(three + (size_t)i * size, all + (size_t)some[i] * size, size));
    CHECK(frames[i].index == some[i]);
  }
  free(three);
  int64_t start;
  zoetrope_frame_info second;
  CHECK(zoetrope_get_frames(animation, 0, 1, 1, &second, sizeof second, NULL) == ZOETROPE_OK);
  start = second.start_ns;
  CHECK(zoetrope_frame_at_time(animation, 0, start, NULL, &single, frames, NULL) == ZOETROPE_OK);
  CHECK(frames->index == 1 && !memcmp(one, all + size, size));
  free(all);
  free(one);
  free(frames);
  zoetrope_close(animation);
}

static void test_renderings(const char *path) {
  zoetrope_animation *animation = open_path(path);
  zoetrope_info info = info_of(animation);
  size_t area = (size_t)(info.width * info.height);
  uint8_t *four = malloc(8 * area), *three = malloc(3 * area);
  static const size_t bytes[] = {4, 4, 4, 4, 4, 3, 2, 1, 8};
  for (int32_t format = ZOETROPE_RGBA8; format <= ZOETROPE_RGBA16; format++) {
    zoetrope_rendering rendering = {.size = sizeof rendering, .format = format};
    zoetrope_layout layout = layout_of(animation, &rendering);
    CHECK(layout.bytes_per_pixel == bytes[format] && layout.byte_count == bytes[format] * area);
    zoetrope_buffer buffer = {four, layout.byte_count, 0, 0};
    CHECK(zoetrope_frame_at_index(animation, 0, &rendering, &buffer, NULL, NULL) == ZOETROPE_OK);
  }
  zoetrope_rendering rgb = {.size = sizeof rgb, .format = ZOETROPE_RGB8};
  zoetrope_rendering rgbx = {.size = sizeof rgbx, .format = ZOETROPE_RGBX8};
  zoetrope_buffer buffer = {three, 3 * area, 0, 0};
  CHECK(zoetrope_frame_at_index(animation, 1, &rgb, &buffer, NULL, NULL) == ZOETROPE_OK);
  buffer = (zoetrope_buffer){four, 4 * area, 0, 0};
  CHECK(zoetrope_frame_at_index(animation, 1, &rgbx, &buffer, NULL, NULL) == ZOETROPE_OK);
  for (size_t i = 0; i < area; i++) CHECK(!memcmp(three + 3 * i, four + 4 * i, 3));
  free(four);
  free(three);
  zoetrope_rendering box = {.size = sizeof box, .width = 16, .height = 16, .fit = ZOETROPE_STRETCH};
  for (int32_t filter = 0; filter <= ZOETROPE_LANCZOS3; filter++) {
    uint8_t small[16 * 16 * 4];
    buffer = (zoetrope_buffer){small, sizeof small, 0, 0};
    box.filter = filter;
    CHECK(zoetrope_frame_at_index(animation, 1, &box, &buffer, NULL, NULL) == ZOETROPE_OK);
  }
  zoetrope_layout layout = {.size = sizeof layout};
  static const zoetrope_rendering wrong[] = {
      {.size = sizeof(zoetrope_rendering), .format = 9}, {.size = sizeof(zoetrope_rendering), .fit = 4},
      {.size = sizeof(zoetrope_rendering), .filter = 5}, {.size = sizeof(zoetrope_rendering), .width = -1},
      {.size = sizeof(zoetrope_rendering), .height = 65536},
      {.size = sizeof(zoetrope_rendering), .linear_light = 2},
      {.size = sizeof(zoetrope_rendering), .reserved = 1}, {.size = 3}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    CHECK(zoetrope_get_layout(animation, &wrong[i], &layout, NULL) == ZOETROPE_PARAMETER);
  zoetrope_rendering huge = {.size = sizeof huge, .width = 65535, .height = 65535, .fit = ZOETROPE_FILL};
  CHECK(zoetrope_get_layout(animation, &huge, &layout, NULL) == ZOETROPE_LIMIT_EXCEEDED);
  zoetrope_close(animation);
}

static void test_sampling(const char *path) {
  zoetrope_animation *animation = open_path(path);
  zoetrope_info info = info_of(animation);
  zoetrope_rendering box = {.size = sizeof box, .width = 32, .height = 24, .fit = ZOETROPE_FILL};
  size_t size = 32 * 24 * 4, found = 99;
  uint8_t *pixels = malloc(8 * size);
  zoetrope_buffer buffer = {pixels, 8 * size, 0, 0};
  for (int32_t by = ZOETROPE_BY_TIME; by <= ZOETROPE_BY_DISTINCT; by++) {
    int64_t indices[8];
    zoetrope_frame frames[8];
    CHECK(zoetrope_sample_indices(animation, by, 0, 8, indices, &found, NULL) == ZOETROPE_OK);
    CHECK(by == ZOETROPE_BY_DISTINCT ? found >= 1 && found <= 8 : found == 8);
    size_t count = found;
    CHECK(zoetrope_sample(animation, by, 0, 8, &box, &buffer, frames, &found, NULL) == ZOETROPE_OK);
    CHECK(found == count);
    for (size_t i = 0; i < count; i++) {
      CHECK(indices[i] >= 0 && indices[i] < info.frame_count && frames[i].index == indices[i]);
      CHECK(i == 0 || indices[i] >= indices[i - 1]);
      uint8_t one[32 * 24 * 4];
      zoetrope_buffer single = {one, sizeof one, 0, 0};
      CHECK(zoetrope_frame_at_index(animation, indices[i], &box, &single, NULL, NULL) == ZOETROPE_OK);
      CHECK(!memcmp(one, pixels + i * size, size));
    }
  }
  int64_t index;
  found = 99;
  CHECK(zoetrope_sample_indices(animation, 3, 0, 1, &index, &found, NULL) == ZOETROPE_PARAMETER && found == 0);
  found = 99;
  CHECK(zoetrope_sample_indices(animation, 0, 0, 0, &index, &found, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_sample_indices(animation, 0, 0, SIZE_MAX, &index, &found, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_sample_indices(animation, 0, 0, 1, NULL, &found, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_sample(animation, 0, 0, 9, &box, &buffer, NULL, &found, NULL) == ZOETROPE_PARAMETER && found == 0);
  free(pixels);
  zoetrope_close(animation);
}

static void test_png(const char *path) {
  zoetrope_animation *animation = open_path(path), *again;
  zoetrope_bytes *bytes;
  CHECK(zoetrope_frame_png(animation, 1, NULL, &bytes, NULL, NULL) == ZOETROPE_OK);
  size_t count = zoetrope_bytes_count(bytes);
  uint8_t *file = malloc(count);
  CHECK(zoetrope_bytes_copy(bytes, file, 3) == 3);
  CHECK(zoetrope_bytes_copy(bytes, NULL, 3) == 0);
  CHECK(zoetrope_bytes_copy(bytes, file, count) == count);
  CHECK(zoetrope_bytes_copy(bytes, file, SIZE_MAX) == count);
  zoetrope_bytes_free(bytes);
  CHECK(zoetrope_open_bytes(file, count, NULL, &again, NULL) == ZOETROPE_OK);
  free(file);
  zoetrope_layout layout = layout_of(animation, NULL);
  uint8_t *left = malloc(layout.byte_count), *right = malloc(layout.byte_count);
  zoetrope_buffer from = {left, layout.byte_count, 0, 0}, to = {right, layout.byte_count, 0, 0};
  CHECK(zoetrope_frame_at_index(animation, 1, NULL, &from, NULL, NULL) == ZOETROPE_OK);
  CHECK(zoetrope_frame_at_index(again, 0, NULL, &to, NULL, NULL) == ZOETROPE_OK);
  CHECK(!memcmp(left, right, layout.byte_count));
  free(left);
  free(right);
  zoetrope_close(again);
  CHECK(zoetrope_frame_png(animation, -1, NULL, &bytes, NULL, NULL) == ZOETROPE_PARAMETER && !bytes);
  CHECK(zoetrope_frame_png(animation, 0, NULL, NULL, NULL, NULL) == ZOETROPE_PARAMETER);
  zoetrope_close(animation);
}

/* ---- Reading through callbacks ---- */

typedef struct {
  const uint8_t *bytes;
  size_t count;
  int64_t result;
  int released;
  zoetrope_animation *cancelled; /* the next read cancels calls on it */
} memory;

static int64_t read_memory(void *context, int64_t offset, void *buffer, size_t count) {
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

static void release_memory(void *context) { ((memory *)context)->released++; }

static void test_reader(const char *path) {
  memory from = {0};
  uint8_t *bytes = read_file(path, &from.count);
  from.bytes = bytes;
  zoetrope_reader reader = {sizeof reader, &from, (int64_t)from.count, read_memory, release_memory};
  zoetrope_animation *animation, *direct = open_path(path);
  zoetrope_error error;
  CHECK(zoetrope_open_reader(&reader, NULL, &animation, NULL) == ZOETROPE_OK);
  zoetrope_layout layout = layout_of(animation, NULL);
  uint8_t *left = malloc(layout.byte_count), *right = malloc(layout.byte_count);
  zoetrope_buffer to_left = {left, layout.byte_count, 0, 0}, to_right = {right, layout.byte_count, 0, 0};
  for (int64_t i = 0; i < info_of(animation).frame_count; i++) {
    CHECK(zoetrope_frame_at_index(animation, i, NULL, &to_left, NULL, NULL) == ZOETROPE_OK);
    CHECK(zoetrope_frame_at_index(direct, i, NULL, &to_right, NULL, NULL) == ZOETROPE_OK);
    CHECK(!memcmp(left, right, layout.byte_count));
  }
  from.result = -5;
  zoetrope_status status = zoetrope_frame_at_index(animation, 0, NULL, &to_left, NULL, &error);
  CHECK(status == ZOETROPE_IO && error.byte_offset >= 0 && error.frame == 0);
  from.result = 0;
  CHECK(zoetrope_frame_at_index(animation, 0, NULL, &to_left, NULL, &error) == ZOETROPE_OK);
  /* A frame that could not be read was not returned, so the next one with its rendering is dirty all over. */
  zoetrope_rendering other = {.size = sizeof other, .format = ZOETROPE_BGRA8};
  zoetrope_frame frame = {0};
  from.result = -5;
  CHECK(zoetrope_frame_at_index(animation, 1, &other, &to_left, NULL, &error) == ZOETROPE_IO);
  from.result = 0;
  CHECK(zoetrope_frame_at_index(animation, 1, &other, &to_left, &frame, NULL) == ZOETROPE_OK);
  CHECK(frame.dirty_width == layout.width && frame.dirty_height == layout.height);
  from.result = -5;
  CHECK(zoetrope_frame_at_index(animation, 7, NULL, &to_left, NULL, &error) == ZOETROPE_IO);
  CHECK(error.frame > 0 && error.frame <= 7);
  /* Cancelled while the first frame is read. */
  from.result = 0;
  size_t count = (size_t)info_of(animation).frame_count, found = 99;
  uint8_t *all = malloc(count * layout.byte_count);
  zoetrope_buffer to_all = {all, count * layout.byte_count, 0, 0};
  int64_t indices[4];
  from.cancelled = animation;
  CHECK(zoetrope_read_frames(animation, NULL, count, NULL, &to_all, NULL, &error) == ZOETROPE_CANCELLED);
  CHECK(error.code == ZOETROPE_CANCELLED && *error.message);
  zoetrope_clear_cancel(animation);
  CHECK(zoetrope_read_frames(animation, NULL, count, NULL, &to_all, NULL, NULL) == ZOETROPE_OK);
  from.cancelled = animation;
  CHECK(zoetrope_sample_indices(animation, ZOETROPE_BY_DISTINCT, 0, 4, indices, &found, NULL) == ZOETROPE_CANCELLED);
  CHECK(found == 0);
  zoetrope_clear_cancel(animation);
  CHECK(zoetrope_sample_indices(animation, ZOETROPE_BY_DISTINCT, 0, 4, indices, &found, NULL) == ZOETROPE_OK);
  /* A loop that reads in order ends, whichever of its calls is in progress, and so do all other calls. */
  from.cancelled = animation;
  zoetrope_rendering gray = {.size = sizeof gray, .format = ZOETROPE_GREY8};
  int64_t calls = 0;
  do
    status = zoetrope_frame_at_index(animation, calls % (int64_t)count, &gray, &to_left, NULL, &error);
  while (!status && ++calls < 1000);
  CHECK(status == ZOETROPE_CANCELLED && calls <= 1);
  memset(left, 0xa5, layout.byte_count);
  zoetrope_bytes *png = (void *)1;
  CHECK(zoetrope_frame_at_index(animation, 0, NULL, &to_left, NULL, NULL) == ZOETROPE_CANCELLED);
  CHECK(zoetrope_frame_at_time(animation, 0, 0, NULL, &to_left, NULL, NULL) == ZOETROPE_CANCELLED);
  CHECK(zoetrope_frame_png(animation, 0, NULL, &png, NULL, NULL) == ZOETROPE_CANCELLED && !png);
  CHECK(zoetrope_sample_indices(animation, ZOETROPE_BY_INDEX, 0, 4, indices, &found, NULL) == ZOETROPE_CANCELLED);
  for (size_t i = 0; i < layout.byte_count; i++) CHECK(left[i] == 0xa5);
  CHECK(info_of(animation).frame_count == (int64_t)count);
  zoetrope_clear_cancel(animation);
  CHECK(zoetrope_frame_at_index(animation, 0, NULL, &to_left, NULL, NULL) == ZOETROPE_OK);
  free(all);
  from.result = -5;
  CHECK(from.released == 0);
  zoetrope_close(animation);
  CHECK(from.released == 1);
  CHECK(zoetrope_open_reader(&reader, NULL, &animation, &error) == ZOETROPE_IO);
  CHECK(from.released == 2);
  from.result = INT64_MAX; /* more than was asked for */
  CHECK(zoetrope_open_reader(&reader, NULL, &animation, &error) == ZOETROPE_IO);
  from.result = 0;
  CHECK(from.released == 3);
  reader.byte_count = -1;
  CHECK(zoetrope_open_reader(&reader, NULL, &animation, NULL) == ZOETROPE_PARAMETER);
  reader.read = NULL;
  CHECK(zoetrope_open_reader(&reader, NULL, &animation, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_open_reader(NULL, NULL, &animation, NULL) == ZOETROPE_PARAMETER);
  CHECK(from.released == 3);
  zoetrope_close(direct);
  free(left);
  free(right);
  free(bytes);
}

/* ---- Threads ---- */

typedef struct { zoetrope_animation *animation; uint64_t *hashes; int64_t count; size_t size; unsigned seed; int wrong; } job;

static void *read_at_random(void *context) {
  job *mine = context;
  uint8_t *pixels = malloc(mine->size);
  zoetrope_buffer buffer = {pixels, mine->size, 0, 0};
  for (int i = 0; i < 50; i++) {
    mine->seed = mine->seed * 1103515245 + 12345;
    int64_t index = (mine->seed >> 8) % mine->count;
    if (zoetrope_frame_at_index(mine->animation, index, NULL, &buffer, NULL, NULL) ||
        hash(pixels, mine->size) != mine->hashes[index])
      mine->wrong++;
  }
  free(pixels);
  return NULL;
}

static void test_threads(const char *path) {
  zoetrope_animation *animation = open_path(path);
  zoetrope_layout layout = layout_of(animation, NULL);
  int64_t count = info_of(animation).frame_count;
  uint64_t *hashes = malloc((size_t)count * sizeof *hashes);
  uint8_t *pixels = malloc(layout.byte_count);
  zoetrope_buffer buffer = {pixels, layout.byte_count, 0, 0};
  for (int64_t i = 0; i < count; i++) {
    CHECK(zoetrope_frame_at_index(animation, i, NULL, &buffer, NULL, NULL) == ZOETROPE_OK);
    hashes[i] = hash(pixels, layout.byte_count);
  }
  free(pixels);
  pthread_t threads[4];
  job jobs[4];
  for (unsigned i = 0; i < 4; i++) {
    jobs[i] = (job){animation, hashes, count, layout.byte_count, i + 1, 0};
    pthread_create(&threads[i], NULL, read_at_random, &jobs[i]);
  }
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
    CHECK(jobs[i].wrong == 0);
  }
  free(hashes);
  zoetrope_close(animation);
}

/* ---- Closing while others read ---- */

typedef struct {
  uint8_t bytes[256];
  size_t count;
  atomic_int is_closed, late;
} closing;

static int64_t read_until_closed(void *context, int64_t offset, void *buffer, size_t count) {
  closing *from = context;
  if (atomic_load(&from->is_closed)) atomic_fetch_add(&from->late, 1);
  usleep(2000);
  size_t left = (size_t)offset < from->count ? from->count - (size_t)offset : 0;
  if (count > left) count = left;
  memcpy(buffer, from->bytes + offset, count);
  return (int64_t)count;
}

/* Large frames are decoded ahead, on threads that no call waits for. */
/* What a handle reports about frame 3, and its pixels. */
static uint64_t third_frame(zoetrope_animation *animation) {
  zoetrope_layout layout = layout_of(animation, NULL);
  uint8_t *pixels = malloc(layout.byte_count);
  zoetrope_buffer buffer = {pixels, layout.byte_count, 0, 0};
  CHECK(zoetrope_frame_at_index(animation, 3, NULL, &buffer, NULL, NULL) == ZOETROPE_OK);
  uint64_t sum = hash(pixels, layout.byte_count);
  free(pixels);
  return sum;
}

static void test_descriptors(const char *path) {
  zoetrope_animation *animation = open_path(path), *other = NULL;
  uint64_t expected = third_frame(animation);
  zoetrope_close(animation);
  int descriptor = open(path, O_RDONLY), pipes[2];
  CHECK(lseek(descriptor, 100, SEEK_SET) == 100);
  zoetrope_error error;
  CHECK(zoetrope_open_descriptor(descriptor, NULL, &animation, &error) == ZOETROPE_OK);
  zoetrope_options options = {.size = sizeof options, .timeout_ns = 60000000000};
  CHECK(zoetrope_open_descriptor(descriptor, &options, &other, &error) == ZOETROPE_OK);
  CHECK(lseek(descriptor, 0, SEEK_CUR) == 100);
  CHECK(close(descriptor) == 0);
  CHECK(third_frame(animation) == expected && third_frame(other) == expected);
  zoetrope_close(animation);
  zoetrope_close(other);
  CHECK(zoetrope_open_descriptor(-1, NULL, &animation, &error) == ZOETROPE_IO && !animation);
  CHECK(error.system_error == EBADF);
  CHECK(pipe(pipes) == 0);
  CHECK(zoetrope_open_descriptor(pipes[0], NULL, &animation, &error) == ZOETROPE_IO && !animation);
  close(pipes[0]);
  close(pipes[1]);
  int directory = open("/", O_RDONLY | O_DIRECTORY);
  CHECK(zoetrope_open_descriptor(directory, NULL, &animation, &error) == ZOETROPE_IO && !animation);
  close(directory);
}

static void test_versions(void) {
  char numbers[32];
  snprintf(numbers, sizeof numbers, "%d.%d.%d", ZOETROPE_VERSION_MAJOR, ZOETROPE_VERSION_MINOR,
           ZOETROPE_VERSION_PATCH);
  CHECK(!strcmp(numbers, ZOETROPE_VERSION) && !strcmp(numbers, zoetrope_version()));
  /* Fields that later versions may use are written as 0. */
  zoetrope_error error;
  memset(&error, 0x55, sizeof error);
  zoetrope_animation *animation;
  CHECK(zoetrope_open_file("/nowhere", NULL, &animation, &error) == ZOETROPE_IO);
  for (size_t i = 0; i < sizeof error.reserved / sizeof error.reserved[0]; i++) CHECK(error.reserved[i] == 0);
}

static void test_closing_ends_reading(void) {
  static const uint8_t header[] = {'G', 'I', 'F', '8', '9', 'a', 0, 4, 0, 4, 0x80, 0, 0, 0, 0, 0, 255, 255, 255};
  static const uint8_t frame[] = {0x2c, 0, 0, 0, 0, 0, 4, 0, 4, 0, 2, 2, 0x44, 1, 0};
  closing from = {.count = sizeof header};
  memcpy(from.bytes, header, sizeof header);
  for (int i = 0; i < 12; i++, from.count += sizeof frame)
    memcpy(from.bytes + from.count, frame, sizeof frame);
  from.bytes[from.count++] = 0x3b;
  zoetrope_reader reader = {sizeof reader, &from, (int64_t)from.count, read_until_closed, NULL};
  zoetrope_animation *animation;
  CHECK(zoetrope_open_reader(&reader, NULL, &animation, NULL) == ZOETROPE_OK);
  zoetrope_layout layout = layout_of(animation, NULL);
  uint8_t *pixels = malloc(layout.byte_count);
  zoetrope_buffer buffer = {pixels, layout.byte_count, 0, 0};
  CHECK(zoetrope_frame_at_index(animation, 0, NULL, &buffer, NULL, NULL) == ZOETROPE_OK);
  zoetrope_close(animation);
  atomic_store(&from.is_closed, 1);
  usleep(100000);
  CHECK(atomic_load(&from.late) == 0);
  free(pixels);
}

/* ---- Cancelling calls that wait ---- */

typedef struct {
  zoetrope_animation *animation;
  const uint8_t *bytes;
  zoetrope_buffer buffer;
  atomic_int is_armed, has_begun;
  int status;
} queue;

static int64_t read_and_cancel(void *context, int64_t offset, void *buffer, size_t count) {
  queue *mine = context;
  if (atomic_exchange(&mine->is_armed, 0)) {
    /* The other call waits for this one, if it is in progress by now. */
    atomic_store(&mine->has_begun, 1);
    usleep(20000);
    zoetrope_cancel(mine->animation);
    /* So that only a call that waits by now is cancelled. */
    zoetrope_clear_cancel(mine->animation);
  }
  memcpy(buffer, mine->bytes + offset, count);
  return (int64_t)count;
}

static void *read_second(void *context) {
  queue *mine = context;
  while (!atomic_load(&mine->has_begun)) usleep(100);
  mine->status = zoetrope_frame_at_index(mine->animation, 1, NULL, &mine->buffer, NULL, NULL);
  return NULL;
}

static void test_cancelling_a_call_that_waits(const char *path) {
  size_t count;
  uint8_t *bytes = read_file(path, &count);
  queue shared = {.bytes = bytes, .status = -1};
  zoetrope_reader reader = {sizeof reader, &shared, (int64_t)count, read_and_cancel, NULL};
  CHECK(zoetrope_open_reader(&reader, NULL, &shared.animation, NULL) == ZOETROPE_OK);
  size_t size = layout_of(shared.animation, NULL).byte_count;
  uint8_t *first = malloc(size), *second = malloc(size);
  zoetrope_buffer buffer = {first, size, 0, 0};
  shared.buffer = (zoetrope_buffer){second, size, 0, 0};
  /* On a busy machine the other call may begin after the cancellation. */
  for (int i = 0; i < 500 && shared.status != ZOETROPE_CANCELLED; i++) {
    pthread_t thread;
    atomic_store(&shared.has_begun, 0);
    atomic_store(&shared.is_armed, 1);
    pthread_create(&thread, NULL, read_second, &shared);
    zoetrope_status status = zoetrope_frame_at_index(shared.animation, 0, NULL, &buffer, NULL, NULL);
    CHECK(status == ZOETROPE_OK || status == ZOETROPE_CANCELLED);
    atomic_store(&shared.has_begun, 1);
    pthread_join(thread, NULL);
    CHECK(shared.status == ZOETROPE_OK || shared.status == ZOETROPE_CANCELLED);
  }
  CHECK(shared.status == ZOETROPE_CANCELLED);
  /* The cancelled call may have read itself: it does not wait for read_and_cancel to go on. */
  zoetrope_clear_cancel(shared.animation);
  CHECK(zoetrope_frame_at_index(shared.animation, 1, NULL, &buffer, NULL, NULL) == ZOETROPE_OK);
  zoetrope_close(shared.animation);
  free(first);
  free(second);
  free(bytes);
}

/* ---- Calls take turns ---- */

typedef struct {
  zoetrope_animation *animation;
  const uint8_t *bytes;
  int64_t count, last;
  size_t size;
  atomic_int reads, restarts, others, wrong;
} turns;

static int64_t read_in_turn(void *context, int64_t offset, void *buffer, size_t count) {
  turns *mine = context;
  /* By the second read of the first call, the other call may begin. */
  if (atomic_fetch_add(&mine->reads, 1) == 1) {
    while (!atomic_load(&mine->others)) usleep(100);
    usleep(20000);
  }
  if (offset < mine->last) atomic_fetch_add(&mine->restarts, 1);
  mine->last = offset;
  memcpy(buffer, mine->bytes + offset, count);
  return (int64_t)count;
}

static void read_in_order(turns *mine) {
  uint8_t *pixels = malloc((size_t)mine->count * mine->size);
  zoetrope_buffer buffer = {pixels, (size_t)mine->count * mine->size, 0, 0};
  if (zoetrope_read_frames(mine->animation, NULL, (size_t)mine->count, NULL, &buffer, NULL, NULL))
    atomic_fetch_add(&mine->wrong, 1);
  free(pixels);
}

static void *read_as_other(void *context) {
  turns *mine = context;
  while (!atomic_load(&mine->reads)) usleep(100);
  atomic_store(&mine->others, 1);
  read_in_order(mine);
  return NULL;
}

static void test_that_calls_take_turns(const char *path) {
  size_t count;
  uint8_t *bytes = read_file(path, &count);
  turns shared = {.bytes = bytes};
  zoetrope_options alone = {.size = sizeof alone, .parallelism = 1};
  zoetrope_reader reader = {sizeof reader, &shared, (int64_t)count, read_in_turn, NULL};
  atomic_store(&shared.reads, 2);
  CHECK(zoetrope_open_reader(&reader, &alone, &shared.animation, NULL) == ZOETROPE_OK);
  shared.count = info_of(shared.animation).frame_count;
  shared.size = layout_of(shared.animation, NULL).byte_count;
  shared.last = 0;
  atomic_store(&shared.restarts, 0);
  atomic_store(&shared.reads, 0);
  pthread_t thread;
  pthread_create(&thread, NULL, read_as_other, &shared);
  read_in_order(&shared);
  pthread_join(thread, NULL);
  /* One after the other: the second began at the first frame when the first was done. */
  CHECK(shared.restarts == 1 && shared.wrong == 0);
  zoetrope_close(shared.animation);
  free(bytes);
}

/* ---- Time limits ---- */

static void test_timeout(const char *path) {
  zoetrope_animation *animation;
  zoetrope_error error;
  zoetrope_options brief = {.size = sizeof brief, .timeout_ns = 1};
  CHECK(zoetrope_open_file(path, &brief, &animation, &error) == ZOETROPE_TIMED_OUT && !animation);
  CHECK(error.code == ZOETROPE_TIMED_OUT && !strcmp(error.name, "timedOut") && *error.message);
  memory from = {0};
  uint8_t *bytes = read_file(path, &from.count);
  from.bytes = bytes;
  CHECK(zoetrope_open_bytes(bytes, from.count, &brief, &animation, NULL) == ZOETROPE_TIMED_OUT);
  /* A reader with `release` may be read after opening has returned. */
  zoetrope_reader reader = {sizeof reader, &from, (int64_t)from.count, read_memory, release_memory};
  CHECK(zoetrope_open_reader(&reader, &brief, &animation, NULL) == ZOETROPE_TIMED_OUT && !animation);
  for (int i = 0; i < 6000 && !from.released; i++) usleep(10000);
  CHECK(from.released == 1);
  /* Without `release`, opening is not timed. */
  reader.release = NULL;
  CHECK(zoetrope_open_reader(&reader, &brief, &animation, NULL) == ZOETROPE_OK);
  zoetrope_layout layout = layout_of(animation, NULL);
  uint8_t *pixels = malloc(2 * layout.byte_count);
  memset(pixels, 0xa5, 2 * layout.byte_count);
  zoetrope_buffer buffer = {pixels, 2 * layout.byte_count, 0, 0};
  zoetrope_bytes *png;
  int64_t indices[4];
  size_t found;
  CHECK(zoetrope_frame_at_index(animation, 1, NULL, &buffer, NULL, &error) == ZOETROPE_TIMED_OUT);
  CHECK(zoetrope_read_frames(animation, NULL, 2, NULL, &buffer, NULL, NULL) == ZOETROPE_TIMED_OUT);
  CHECK(zoetrope_frame_png(animation, 1, NULL, &png, NULL, NULL) == ZOETROPE_TIMED_OUT);
  CHECK(zoetrope_sample_indices(animation, ZOETROPE_BY_DISTINCT, 0, 4, indices, &found, NULL) == ZOETROPE_TIMED_OUT);
  for (size_t i = 0; i < 2 * layout.byte_count; i++) CHECK(pixels[i] == 0xa5);
  zoetrope_close(animation);
  zoetrope_options ample = {.size = sizeof ample, .timeout_ns = INT64_MAX};
  CHECK(zoetrope_open_file(path, &ample, &animation, NULL) == ZOETROPE_OK);
  CHECK(zoetrope_read_frames(animation, NULL, 2, NULL, &buffer, NULL, NULL) == ZOETROPE_OK);
  zoetrope_close(animation);
  free(pixels);
  free(bytes);
}

static int open_descriptors(void) {
  int count = 0;
  for (int number = 0; number < 1024; number++) count += fcntl(number, F_GETFD) >= 0;
  return count;
}

/* The thread that waits for the bytes of a pipe ends soon after the call, and closes the pipe. */
static void test_timeout_of_a_silent_pipe(void) {
  char directory[] = "/tmp/zoetrope-abi-XXXXXX", path[64];
  CHECK(mkdtemp(directory) != NULL);
  snprintf(path, sizeof path, "%s/pipe", directory);
  CHECK(mkfifo(path, 0600) == 0);
  zoetrope_options options = {.size = sizeof options, .timeout_ns = 20000000};
  int before = open_descriptors();
  for (int i = 0; i < 3; i++) {
    zoetrope_animation *animation;
    CHECK(zoetrope_open_file(path, &options, &animation, NULL) == ZOETROPE_TIMED_OUT && !animation);
  }
  for (int i = 0; i < 6000 && open_descriptors() > before; i++) usleep(10000);
  CHECK(open_descriptors() <= before);
  unlink(path);
  rmdir(directory);
}

/* ---- Cancelling while opening ---- */

static volatile sig_atomic_t opening_is_cancelled;

static void cancel_opening(int number) {
  (void)number;
  opening_is_cancelled = 1;
}

static void test_cancelling_opening(const char *path) {
  zoetrope_animation *animation;
  zoetrope_error error;
  volatile int32_t flag = 1;
  zoetrope_options options = {.size = sizeof options, .cancel_opening = &flag};
  memory from = {0};
  uint8_t *bytes = read_file(path, &from.count);
  from.bytes = bytes;
  zoetrope_reader reader = {sizeof reader, &from, (int64_t)from.count, read_memory, release_memory};
  CHECK(zoetrope_open_file(path, &options, &animation, &error) == ZOETROPE_CANCELLED && !animation);
  CHECK(error.code == ZOETROPE_CANCELLED && !strcmp(error.name, "cancelled") && *error.message);
  CHECK(zoetrope_open_bytes(bytes, from.count, &options, &animation, NULL) == ZOETROPE_CANCELLED);
  CHECK(zoetrope_open_reader(&reader, &options, &animation, NULL) == ZOETROPE_CANCELLED);
  for (int i = 0; i < 6000 && !from.released; i++) usleep(10000);
  CHECK(from.released == 1);
  reader.release = NULL;
  CHECK(zoetrope_open_reader(&reader, &options, &animation, NULL) == ZOETROPE_OK);
  zoetrope_close(animation);
  /* A bad argument is reported first, and the flag is not read afterwards. */
  CHECK(zoetrope_open_file(NULL, &options, &animation, NULL) == ZOETROPE_PARAMETER);
  flag = 0;
  CHECK(zoetrope_open_bytes(bytes, from.count, &options, &animation, NULL) == ZOETROPE_OK);
  flag = 1;
  zoetrope_layout layout = layout_of(animation, NULL);
  uint8_t *pixels = malloc(layout.byte_count);
  zoetrope_buffer buffer = {pixels, layout.byte_count, 0, 0};
  CHECK(zoetrope_frame_at_index(animation, 1, NULL, &buffer, NULL, NULL) == ZOETROPE_OK);
  zoetrope_close(animation);
  free(pixels);
  free(bytes);
}

/* A signal handler ends the wait for a pipe that gives nothing, also if there is a time limit; then nothing
   of it is left. */
static void test_cancelling_opening_of_a_silent_pipe(void) {
  char directory[] = "/tmp/zoetrope-abi-XXXXXX", path[64];
  CHECK(mkdtemp(directory) != NULL);
  snprintf(path, sizeof path, "%s/pipe", directory);
  CHECK(mkfifo(path, 0600) == 0);
  struct sigaction action = {.sa_handler = cancel_opening, .sa_flags = SA_RESTART}, old;
  sigaction(SIGALRM, &action, &old);
  int before = open_descriptors();
  for (int i = 0; i < 3; i++) {
    zoetrope_options options = {.size = sizeof options, .cancel_opening = &opening_is_cancelled};
    if (i == 1) options.timeout_ns = INT64_MAX;
    zoetrope_animation *animation;
    opening_is_cancelled = 0;
    struct itimerval soon = {.it_value = {.tv_usec = 30000}};
    setitimer(ITIMER_REAL, &soon, NULL);
    CHECK(zoetrope_open_file(path, &options, &animation, NULL) == ZOETROPE_CANCELLED && !animation);
  }
  for (int i = 0; i < 6000 && open_descriptors() > before; i++) usleep(10000);
  CHECK(open_descriptors() <= before);
  sigaction(SIGALRM, &old, NULL);
  unlink(path);
  rmdir(directory);
}

/* ---- Files that ask for everything ---- */

/* A canvas of 16 megapixels with frames of one pixel, 23 bytes each. */
static uint8_t *make_dots(size_t frames, size_t *count) {
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

static void *cancel_when_told(void *context) {
  queue *mine = context;
  while (!atomic_load(&mine->has_begun)) usleep(100);
  usleep(20000);
  zoetrope_cancel(mine->animation);
  return NULL;
}

/* Every call that decodes ends when it is cancelled. */
static void test_hostile_calls(void) {
  enum { FRAMES = 10000, WANTED = 100000, CALLS = 8 };
  size_t count;
  uint8_t *bytes = make_dots(FRAMES, &count);
  zoetrope_options strict = {.size = sizeof strict, .limits = ZOETROPE_LIMITS_STRICT};
  queue shared = {.bytes = bytes};
  CHECK(zoetrope_open_bytes(bytes, count, &strict, &shared.animation, NULL) == ZOETROPE_OK);
  zoetrope_rendering small = {.size = sizeof small, .width = 8, .height = 8};
  zoetrope_rendering large = {.size = sizeof large, .filter = ZOETROPE_LANCZOS3, .width = 2000, .height = 2000};
  int64_t *indices = malloc(WANTED * sizeof *indices);
  size_t size = 4u * 2000 * 2000 * 4, found;
  uint8_t *pixels = malloc(size);
  zoetrope_buffer few = {pixels, size, 0, 0};
  zoetrope_bytes *png;
  zoetrope_edit reversed = {.kind = ZOETROPE_EDIT_REVERSE};
  zoetrope_edit resized = {.kind = ZOETROPE_EDIT_RESIZE, .width = 2000, .filter = ZOETROPE_LANCZOS3};
  zoetrope_writer_options apng = {.size = sizeof apng, .format = ZOETROPE_APNG};
  zoetrope_writer_options budget = {.size = sizeof budget, .max_bytes = 1000};
  for (int i = 0; i < CALLS; i++) {
    zoetrope_written written = {.size = sizeof written};
    atomic_store(&shared.has_begun, 0);
    pthread_t thread;
    pthread_create(&thread, NULL, cancel_when_told, &shared);
    atomic_store(&shared.has_begun, 1);
    zoetrope_status status = ZOETROPE_OK;
    for (int round = 0; status == ZOETROPE_OK && round < 1000; round++) switch (i) {
      case 0: status = zoetrope_read_frames(shared.animation, NULL, 4, &large, &few, NULL, NULL); break;
      case 1: status = zoetrope_frame_at_index(shared.animation, FRAMES - 1 - round, &small, &few, NULL, NULL); break;
      case 2:
        status = zoetrope_sample_indices(shared.animation, ZOETROPE_BY_DISTINCT, 0, WANTED, indices, &found, NULL);
        break;
      case 3:
        status = zoetrope_frame_png(shared.animation, round, NULL, &png, NULL, NULL);
        zoetrope_bytes_free(png);
        break;
      case 4:
        status = zoetrope_rewrite(shared.animation, &reversed, 1, sizeof reversed, &apng, NULL, &written, NULL);
        break;
      case 5:
        status = zoetrope_rewrite(shared.animation, &resized, 1, sizeof resized, NULL, NULL, &written, NULL);
        break;
      case 6:
        status = zoetrope_rewrite(shared.animation, NULL, 0, sizeof(zoetrope_edit), &budget, NULL, &written, NULL);
        break;
      default: status = zoetrope_optimize(shared.animation, NULL, NULL, &written, NULL);
    }
    zoetrope_bytes_free(written.bytes);
    CHECK(status == ZOETROPE_CANCELLED);
    pthread_join(thread, NULL);
    zoetrope_clear_cancel(shared.animation);
  }
  /* A call that follows waits for its turn, and is right. */
  uint8_t one[8 * 8 * 4];
  zoetrope_buffer buffer = {one, sizeof one, 0, 0};
  CHECK(zoetrope_frame_at_index(shared.animation, 0, &small, &buffer, NULL, NULL) == ZOETROPE_OK);
  free(pixels);
  free(indices);
  free(bytes);
  zoetrope_close(shared.animation);
}

/* ---- Playback ---- */

typedef struct {
  atomic_int shown, ended, code;
  zoetrope_player *_Atomic watched; /* asked in `end` for its state */
  int state_at_end;
  bool waits_for_handle;
  int stop_after;
  zoetrope_player *player; /* set to wait for and free it in the callback */
  int wait_status;
  int64_t last_index, last_time;
  bool in_order;
} viewer;

static int32_t show(void *context, const zoetrope_shown_frame *frame) {
  viewer *me = context;
  int count = atomic_fetch_add(&me->shown, 1) + 1;
  if (frame->presentation_ns < me->last_time || !frame->pixels || frame->bytes_per_row < 4 * (size_t)frame->width)
    me->in_order = false;
  me->last_time = frame->presentation_ns;
  me->last_index = frame->index;
  volatile uint8_t last = ((const uint8_t *)frame->pixels)[(size_t)(frame->height - 1) * frame->bytes_per_row];
  (void)last;
  if (me->player) {
    me->wait_status = zoetrope_player_wait(me->player, NULL);
    zoetrope_player_free(me->player);
    me->player = NULL;
  }
  if (me->waits_for_handle) return atomic_load(&me->watched) != NULL;
  return me->stop_after && count >= me->stop_after;
}

static void end(void *context, const zoetrope_error *error) {
  viewer *me = context;
  atomic_store(&me->code, error->code);
  zoetrope_player *watched = atomic_load(&me->watched);
  if (watched) {
    me->state_at_end = zoetrope_player_state(watched);
    if (zoetrope_player_seek(watched, 0, NULL) == ZOETROPE_OK) me->state_at_end = -1;
    if (zoetrope_player_set_rate(watched, 2, NULL) == ZOETROPE_OK) me->state_at_end = -1;
  }
  atomic_fetch_add(&me->ended, 1);
}

static void test_playback(const char *path) {
  zoetrope_animation *animation = open_path(path);
  zoetrope_error error;
  int64_t count = info_of(animation).frame_count;
  zoetrope_player *player;
  zoetrope_playback once = {.size = sizeof once, .plays = 1, .rate = 1000, .late = ZOETROPE_LATE_STRETCH};
  viewer all = {.in_order = true};
  CHECK(zoetrope_play(animation, NULL, &once, show, end, &all, &player, NULL) == ZOETROPE_OK);
  /* The player keeps what it needs. */
  zoetrope_close(animation);
  CHECK(zoetrope_player_wait(player, NULL) == ZOETROPE_OK);
  CHECK(all.shown == count && all.ended == 1 && all.code == ZOETROPE_OK && all.in_order);
  CHECK(all.last_index == count - 1);
  zoetrope_player_free(player);
  animation = open_path(path);
  viewer one = {.in_order = true, .stop_after = 1};
  CHECK(zoetrope_play(animation, NULL, &once, show, end, &one, &player, NULL) == ZOETROPE_OK);
  CHECK(zoetrope_player_wait(player, &error) == ZOETROPE_CANCELLED && error.code == ZOETROPE_CANCELLED);
  CHECK(one.shown == 1 && one.ended == 1 && one.code == ZOETROPE_CANCELLED);
  CHECK(zoetrope_player_state(player) == ZOETROPE_ENDED);
  CHECK(zoetrope_player_seek(player, 0, NULL) == ZOETROPE_PARAMETER);
  zoetrope_player_free(player);
  /* It has ended for its own last callback, too: the handle is known before the frame after it stops. */
  zoetrope_playback endless = {.size = sizeof endless, .plays = -1, .rate = 100};
  viewer watched = {.in_order = true, .waits_for_handle = true};
  CHECK(zoetrope_play(animation, NULL, &endless, show, end, &watched, &player, NULL) == ZOETROPE_OK);
  atomic_store(&watched.watched, player);
  CHECK(zoetrope_player_wait(player, NULL) == ZOETROPE_CANCELLED);
  CHECK(watched.state_at_end == ZOETROPE_ENDED);
  zoetrope_player_free(player);
  /* Stopped from here, in the middle of an endless play. */
  viewer more = {.in_order = true};
  CHECK(zoetrope_play(animation, NULL, &endless, show, end, &more, &player, NULL) == ZOETROPE_OK);
  while (atomic_load(&more.shown) < 3) usleep(1000);
  CHECK(zoetrope_player_state(player) == ZOETROPE_PLAYING);
  zoetrope_player_pause(player);
  CHECK(zoetrope_player_state(player) == ZOETROPE_PAUSED);
  zoetrope_player_resume(player);
  CHECK(zoetrope_player_seek(player, 0, NULL) == ZOETROPE_OK);
  CHECK(zoetrope_player_seek_time(player, 100000000, NULL) == ZOETROPE_OK);
  CHECK(zoetrope_player_seek_time(player, INT64_MIN, NULL) == ZOETROPE_OK);
  CHECK(zoetrope_player_set_rate(player, 50, NULL) == ZOETROPE_OK);
  CHECK(zoetrope_player_set_rate(player, 0, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_player_set_rate(player, NAN, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_player_seek(player, count, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_player_seek(player, INT64_MIN, NULL) == ZOETROPE_PARAMETER);
  zoetrope_player_stop(player);
  CHECK(zoetrope_player_wait(player, NULL) == ZOETROPE_CANCELLED);
  CHECK(zoetrope_player_state(player) == ZOETROPE_ENDED);
  CHECK(zoetrope_player_seek(player, 0, &error) == ZOETROPE_PARAMETER && strstr(error.message, "ended"));
  CHECK(zoetrope_player_seek_time(player, 0, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_player_set_rate(player, 2, NULL) == ZOETROPE_PARAMETER);
  zoetrope_player_stop(player);
  CHECK(more.ended == 1);
  zoetrope_player_free(player);
  /* Freed in its own callback, which cannot wait for itself. The handle is handed over while playback is
     paused and no callback runs. */
  viewer self = {.in_order = true};
  zoetrope_playback slow = {.size = sizeof slow, .plays = -1, .rate = 100};
  viewer *shared = &self;
  CHECK(zoetrope_play(animation, NULL, &slow, show, end, shared, &player, NULL) == ZOETROPE_OK);
  while (atomic_load(&self.shown) < 1) usleep(1000);
  zoetrope_player_pause(player);
  int before;
  do {
    before = atomic_load(&self.shown);
    usleep(50000);
  } while (before != atomic_load(&self.shown));
  self.player = player;
  zoetrope_player_resume(player);
  while (atomic_load(&self.ended) < 1) usleep(1000);
  CHECK(self.wait_status == ZOETROPE_PARAMETER && self.ended == 1 && self.code == ZOETROPE_CANCELLED);
  /* Freed at once. */
  viewer none = {.in_order = true};
  CHECK(zoetrope_play(animation, NULL, &endless, show, end, &none, &player, NULL) == ZOETROPE_OK);
  zoetrope_player_free(player);
  CHECK(none.ended == 1);
  zoetrope_rendering rgb = {.size = sizeof rgb, .format = ZOETROPE_RGB8};
  CHECK(zoetrope_play(animation, &rgb, &once, show, end, &none, &player, NULL) == ZOETROPE_PARAMETER && !player);
  CHECK(zoetrope_play(animation, NULL, &once, NULL, end, &none, &player, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_play(animation, NULL, &once, show, end, &none, NULL, NULL) == ZOETROPE_PARAMETER);
  once.start_frame = count;
  CHECK(zoetrope_play(animation, NULL, &once, show, NULL, &none, &player, NULL) == ZOETROPE_PARAMETER);
  once = (zoetrope_playback){.size = sizeof once, .rate = -1};
  CHECK(zoetrope_play(animation, NULL, &once, show, NULL, &none, &player, NULL) == ZOETROPE_PARAMETER);
  once = (zoetrope_playback){.size = sizeof once, .plays = -2};
  CHECK(zoetrope_play(animation, NULL, &once, show, NULL, &none, &player, NULL) == ZOETROPE_PARAMETER);
  CHECK(none.ended == 1);
  zoetrope_close(animation);
}

/* Frames that are due 20 times a second and take longer: stopping does not wait for them, and they pile up
   nowhere. */
static void test_hostile_player(void) {
  size_t count;
  uint8_t *bytes = make_dots(10000, &count);
  zoetrope_options strict = {.size = sizeof strict, .limits = ZOETROPE_LIMITS_STRICT};
  zoetrope_playback fast = {.size = sizeof fast, .plays = -1, .rate = 1000};
  zoetrope_animation *animation;
  CHECK(zoetrope_open_bytes(bytes, count, &strict, &animation, NULL) == ZOETROPE_OK);
  free(bytes);
  for (int late = ZOETROPE_LATE_SKIP; late <= ZOETROPE_LATE_STRETCH; late++) {
    viewer me = {.in_order = true};
    zoetrope_player *player;
    fast.late = late;
    CHECK(zoetrope_play(animation, NULL, &fast, show, end, &me, &player, NULL) == ZOETROPE_OK);
    while (atomic_load(&me.shown) < 20) usleep(1000);
    zoetrope_player_free(player);
    CHECK(me.ended == 1 && me.code == ZOETROPE_CANCELLED && me.in_order);
  }
  zoetrope_close(animation);
  /* A canvas has 64 MiB. */
  struct rusage usage;
  CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
  printf("peak memory: %ld MiB\n", usage.ru_maxrss / 1024);
  /* The sanitizer keeps what was freed. */
  CHECK(usage.ru_maxrss < 1536 * 1024);
}

typedef struct { int shown, compared, wrong; int64_t next_time; } clock_watcher;

static int32_t watch(void *context, const zoetrope_shown_frame *frame) {
  clock_watcher *me = context;
  if (me->shown++ && !frame->skipped) {
    me->compared++;
    if (frame->presentation_ns != me->next_time) me->wrong++;
  }
  me->next_time = frame->presentation_ns + frame->duration_ns;
  return 0;
}

/* A frame of 1/12 s has no whole number of nanoseconds. */
static void test_durations_of_playback(const char *path) {
  zoetrope_animation *animation = open_path(path);
  int64_t duration;
  CHECK(zoetrope_get_duration(animation, 0, &duration, NULL) == ZOETROPE_OK);
  double rates[] = {7, 20};
  for (int i = 0; i < 2; i++) {
    zoetrope_playback once = {.size = sizeof once, .plays = 1, .rate = rates[i]};
    zoetrope_player *player;
    clock_watcher watcher = {0};
    CHECK(zoetrope_play(animation, NULL, &once, watch, NULL, &watcher, &player, NULL) == ZOETROPE_OK);
    CHECK(zoetrope_player_wait(player, NULL) == ZOETROPE_OK);
    zoetrope_player_free(player);
    CHECK(watcher.shown > 0 && watcher.wrong == 0);
    CHECK(watcher.next_time == (int64_t)ceil((double)duration / rates[i]));
  }
  zoetrope_close(animation);
}

/* What a frame calls dirty is so since the last one with the same rendering; a new one is dirty all over. */
static void test_dirty(const char *path) {
  zoetrope_animation *animation;
  CHECK(zoetrope_open_file(path, NULL, &animation, NULL) == ZOETROPE_OK);
  zoetrope_rendering half = {.size = sizeof half, .width = 62, .height = 12};
  zoetrope_layout layout = layout_of(animation, NULL);
  uint8_t *pixels = malloc(layout.byte_count);
  zoetrope_buffer buffer = {pixels, layout.byte_count, 0, 0};
  for (int64_t i = 0; i < 4; i++) {
    zoetrope_frame frame = {0};
    const zoetrope_rendering *rendering = i % 2 ? &half : NULL;
    CHECK(zoetrope_frame_at_index(animation, i, rendering, &buffer, &frame, NULL) == ZOETROPE_OK);
    layout = layout_of(animation, rendering);
    CHECK(frame.dirty_x == 0 && frame.dirty_y == 0);
    CHECK(frame.dirty_width == layout.width && frame.dirty_height == layout.height);
  }
  zoetrope_frame frame = {0};
  CHECK(zoetrope_frame_at_index(animation, 4, &half, &buffer, &frame, NULL) == ZOETROPE_OK);
  CHECK(frame.dirty_width < 62);
  free(pixels);
  zoetrope_close(animation);
}

static void test_fork(const char *path) {
  /* A child that drops what it inherited must not touch the locks of threads that it does not have. */
  zoetrope_animation *inherited;
  zoetrope_player *player;
  viewer none = {.in_order = true};
  zoetrope_playback endless = {.size = sizeof endless, .plays = -1};
  CHECK(zoetrope_open_file(path, NULL, &inherited, NULL) == ZOETROPE_OK);
  CHECK(zoetrope_play(inherited, NULL, &endless, show, end, &none, &player, NULL) == ZOETROPE_OK);
  int ends[2];
  CHECK(pipe(ends) == 0);
  pid_t child = fork();
  if (child == 0) {
    zoetrope_player_pause(player);
    zoetrope_player_stop(player);
    zoetrope_player_free(player);
    zoetrope_close(inherited);
    zoetrope_animation *animation;
    char status = (char)zoetrope_open_file(path, NULL, &animation, NULL);
    /* Killed, so that no tool looks for what the child left on purpose. */
    if (write(ends[1], &status, 1) == 1) raise(SIGKILL);
    _exit(1);
  }
  close(ends[1]);
  char told = 0;
  CHECK(read(ends[0], &told, 1) == 1 && told == ZOETROPE_FORKED);
  close(ends[0]);
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  zoetrope_player_free(player);
  zoetrope_close(inherited);
}

/* A child that has its parent's process identity: each is the first of a namespace. */
static void test_fork_among_first_processes(const char *program, const char *path) {
  pid_t child = fork();
  if (child == 0) {
    if (unshare(CLONE_NEWPID)) _exit(77);
    pid_t first = fork();
    if (first == 0) execl(program, program, "--first-process", path, (char *)NULL);
    int status;
    _exit(waitpid(first, &status, 0) == first && WIFEXITED(status) ? WEXITSTATUS(status) : 99);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) printf("not tested: namespaces of processes are not allowed\n");
  else CHECK(WEXITSTATUS(status) == ZOETROPE_FORKED);
}

static int be_first_process(const char *path) {
  zoetrope_animation *animation;
  if (getpid() != 1 || zoetrope_open_file(path, NULL, &animation, NULL)) return 98;
  if (unshare(CLONE_NEWPID)) return 77;
  pid_t child = fork();
  if (child == 0) _exit(getpid() == 1 ? zoetrope_open_file(path, NULL, &animation, NULL) : 97);
  int status = 0;
  zoetrope_close(animation);
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 96;
}

/* Starts and durations add up, and a frame's start shows that frame. */
static void test_times(const char *path) {
  zoetrope_animation *animation;
  if (zoetrope_open_file(path, NULL, &animation, NULL)) return;
  size_t count = (size_t)info_of(animation).frame_count;
  zoetrope_frame_info *frames = calloc(count, sizeof *frames);
  for (int32_t delays = 0; delays <= ZOETROPE_DELAYS_IMAGE_IO; delays++) {
    int64_t now = 0, index = -1;
    CHECK(zoetrope_get_frames(animation, delays, 0, count, frames, sizeof *frames, NULL) == ZOETROPE_OK);
    for (size_t i = 0; i < count; i++) {
      CHECK(frames[i].start_ns == now && frames[i].duration_ns >= 0);
      now += frames[i].duration_ns;
      if (frames[i].duration_ns == 0) continue;
      CHECK(zoetrope_frame_index_at(animation, delays, frames[i].start_ns, &index, NULL) == ZOETROPE_OK);
      CHECK(index == (int64_t)i);
      CHECK(zoetrope_frame_index_at(animation, delays, now - 1, &index, NULL) == ZOETROPE_OK);
      CHECK(index == (int64_t)i);
    }
    int64_t duration = -1;
    CHECK(zoetrope_get_duration(animation, delays, &duration, NULL) == ZOETROPE_OK && duration == now);
  }
  free(frames);
  zoetrope_close(animation);
}

/* Reads everything of a file, and of copies of it that are cut or have a byte changed. */
static void test_file(const char *path) {
  size_t count;
  uint8_t *bytes = read_file(path, &count);
  if (!bytes) {
    CHECK(!path);
    return;
  }
  for (int round = 0; round < 8; round++) {
    size_t length = round % 2 ? count * (size_t)round / 8 : count;
    size_t place = count > 20 ? 13 + (count - 13) * (size_t)round / 9 : 0;
    uint8_t old = bytes[place];
    if (round) bytes[place] ^= (uint8_t)(0x11 * round);
    zoetrope_options options = {.size = sizeof options, .limits = ZOETROPE_LIMITS_STRICT, .damage = round % 3};
    zoetrope_animation *animation;
    zoetrope_error error = {0};
    zoetrope_status status = zoetrope_open_bytes(bytes, length, &options, &animation, &error);
    CHECK((status == ZOETROPE_OK) == (animation != NULL));
    CHECK(status == ZOETROPE_OK || (error.code == status && *error.message));
    if (animation) {
      zoetrope_rendering box = {.size = sizeof box, .width = 64, .height = 64};
      zoetrope_layout layout = layout_of(animation, &box);
      zoetrope_info info = info_of(animation);
      int64_t frames = info.frame_count < 40 ? info.frame_count : 40;
      uint8_t *pixels = malloc(layout.byte_count);
      zoetrope_buffer buffer = {pixels, layout.byte_count, 0, 0};
      for (int64_t i = 0; i < frames; i++) {
        status = zoetrope_frame_at_index(animation, i, &box, &buffer, NULL, &error);
        CHECK(status == ZOETROPE_OK || *error.message);
      }
      free(pixels);
      zoetrope_close(animation);
    }
    bytes[place] = old;
  }
  free(bytes);
}

int main(int count, char **arguments) {
  /* Without a leak check, which cannot look into the first process of a namespace. */
  if (count == 3 && !strcmp(arguments[1], "--first-process")) _exit(be_first_process(arguments[2]));
  if (count < 4) {
    fprintf(stderr, "usage: abi_test DELAYS.gif DAMAGED METADATA.png FILE...\n");
    return 2;
  }
  const char *delays = arguments[1];
  test_bad_arguments(delays);
  test_facts(delays);
  test_damage(arguments[2]);
  test_metadata(arguments[3]);
  test_pixels(delays);
  test_renderings(delays);
  test_sampling(delays);
  test_png(delays);
  test_reader(delays);
  test_descriptors(delays);
  test_versions();
  test_closing_ends_reading();
  test_threads(delays);
  test_cancelling_a_call_that_waits(delays);
  test_that_calls_take_turns(delays);
  test_timeout(delays);
  test_timeout_of_a_silent_pipe();
  test_cancelling_opening(delays);
  test_cancelling_opening_of_a_silent_pipe();
  if (!getenv("ABI_TEST_SLOW")) {
    test_hostile_calls();
    test_hostile_player();
  }
  test_playback(delays);
  for (int i = 4; i < count; i++)
    if (strstr(arguments[i], "/spinner.png")) test_durations_of_playback(arguments[i]);
  test_dirty(delays);
  test_fork(delays);
  if (!getenv("ABI_TEST_SLOW")) test_fork_among_first_processes(arguments[0], delays);
  for (int i = 4; i < count; i++) {
    test_times(arguments[i]);
    test_file(arguments[i]);
  }
  printf("%d checks, %d failed\n", checks, failures);
  return failures != 0;
}

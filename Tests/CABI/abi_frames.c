/* Pixels of frames: their layout, scaling, sampling, encoding and dirty rectangles. */
#include "abi_test.h"

void test_pixels(const char *path) {
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

void test_renderings(const char *path) {
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

void test_sampling(const char *path) {
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

void test_png(const char *path) {
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

/* What a frame calls dirty is so since the last one with the same rendering; a new one is dirty all over. */
void test_dirty(const char *path) {
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

/* Reads everything of a file, and of copies of it that are cut or have a byte changed. */
void test_file(const char *path) {
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

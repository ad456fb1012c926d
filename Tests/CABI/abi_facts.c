/* Arguments, and what a handle reports without decoding a frame. */
#include "abi_test.h"

#include <errno.h>

void test_bad_arguments(const char *path) {
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
  /* A success leaves the error as it is. */
  zoetrope_error before = error;
  CHECK(zoetrope_open_file(path, NULL, &animation, &error) == ZOETROPE_OK && !memcmp(&before, &error, sizeof error));
  zoetrope_close(animation);
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

void test_versions(void) {
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

void test_facts(const char *path) {
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

void test_damage(const char *path) {
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

void test_metadata(const char *path) {
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

/* Starts and durations add up, and a frame's start shows that frame. */
void test_times(const char *path) {
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

/* Tests of frame stores with the C ABI: store_test FOLDER FILE FILE2. FILE has several frames.
   Runs under the address sanitizer and valgrind too: `make test-lib WITH=address`. */
#define _GNU_SOURCE
#include <pthread.h>
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

static char directory[4096];

static zoetrope_store *open_store(int64_t byte_limit) {
  zoetrope_store_options options = {.size = sizeof options, .byte_limit = byte_limit};
  zoetrope_store *store = NULL;
  zoetrope_error error;
  zoetrope_status status = zoetrope_store_open(directory, &options, &store, &error);
  CHECK(status == ZOETROPE_OK);
  if (status) fprintf(stderr, "%s: %s\n", error.name, error.message);
  return store;
}

static zoetrope_animation *open_file(const char *path) {
  zoetrope_animation *animation = NULL;
  CHECK(zoetrope_open_file(path, NULL, &animation, NULL) == ZOETROPE_OK);
  return animation;
}

static zoetrope_store_statistics statistics_of(zoetrope_store *store) {
  zoetrope_store_statistics statistics = {.size = sizeof statistics};
  CHECK(zoetrope_store_get_statistics(store, &statistics, NULL) == ZOETROPE_OK);
  return statistics;
}

/* Whether `frame` has the pixels that `animation` draws. */
static bool has_pixels(const zoetrope_stored_frame *frame, zoetrope_animation *animation, int64_t index,
                       const zoetrope_rendering *rendering) {
  zoetrope_layout layout = {.size = sizeof layout};
  CHECK(zoetrope_get_layout(animation, rendering, &layout, NULL) == ZOETROPE_OK);
  CHECK(layout.width == frame->width && layout.height == frame->height);
  CHECK(frame->bytes_per_row >= layout.bytes_per_row && frame->bytes_per_row % 64 == 0);
  uint8_t *pixels = malloc(layout.byte_count);
  zoetrope_buffer buffer = {.pixels = pixels, .byte_count = layout.byte_count};
  CHECK(zoetrope_frame_at_index(animation, index, rendering, &buffer, NULL, NULL) == ZOETROPE_OK);
  bool is_same = true;
  for (int64_t y = 0; y < frame->height; y++)
    is_same = is_same && !memcmp((const uint8_t *)frame->pixels + y * frame->bytes_per_row,
                                 pixels + y * layout.bytes_per_row, layout.bytes_per_row);
  free(pixels);
  return is_same;
}

static void test_frames(const char *path) {
  zoetrope_store *store = open_store(0);
  zoetrope_animation *animation = open_file(path);
  zoetrope_info info = {.size = sizeof info};
  CHECK(zoetrope_get_info(animation, &info, NULL) == ZOETROPE_OK);
  zoetrope_rendering renderings[] = {
    {.format = ZOETROPE_RGBA8}, {.format = ZOETROPE_RGBX8, .width = 40}, {.format = ZOETROPE_GRAY8, .height = 9},
    {.format = ZOETROPE_RGB565}, {.format = ZOETROPE_BGRA8_PREMULTIPLIED, .width = 7, .height = 7,
                                  .fit = ZOETROPE_STRETCH, .filter = ZOETROPE_LANCZOS3, .linear_light = 1}};
  const int count = sizeof renderings / sizeof *renderings;
  zoetrope_stored_frame frame = {.size = sizeof frame};
  zoetrope_lease *lease = NULL;
  for (int i = 0; i < count; i++) {
    renderings[i].size = sizeof renderings[i];
    CHECK(zoetrope_store_find(store, animation, 1, &renderings[i], &frame, &lease, NULL) == ZOETROPE_OK);
    CHECK(lease == NULL && frame.pixels == NULL);
    for (int64_t index = info.frame_count - 1; index >= 0; index -= 2) {
      CHECK(zoetrope_store_frame(store, animation, index, &renderings[i], &frame, &lease, NULL) == ZOETROPE_OK);
      CHECK(lease && frame.is_stored && has_pixels(&frame, animation, index, &renderings[i]));
      zoetrope_lease_free(lease);
      CHECK(zoetrope_store_find(store, animation, index, &renderings[i], &frame, &lease, NULL) == ZOETROPE_OK);
      CHECK(lease && frame.is_stored && has_pixels(&frame, animation, index, &renderings[i]));
      zoetrope_lease_free(lease);
    }
  }
  zoetrope_store_statistics statistics = statistics_of(store);
  int64_t kept = count * ((info.frame_count + 1) / 2);
  CHECK(statistics.frame_count == kept && statistics.insertions == kept && statistics.hits == kept);
  CHECK(statistics.byte_limit == 256 << 20 && statistics.byte_count > 0 && !statistics.is_read_only);

  /* The rest, and in another handle. */
  int64_t stored = 7;
  CHECK(zoetrope_store_fill(store, animation, &renderings[1], &stored, NULL) == ZOETROPE_OK);
  CHECK(stored == info.frame_count / 2);
  CHECK(zoetrope_store_fill(store, animation, &renderings[1], &stored, NULL) == ZOETROPE_OK && stored == 0);
  CHECK(zoetrope_store_fill(store, animation, NULL, NULL, NULL) == ZOETROPE_OK);
  zoetrope_store *other = open_store(0);
  CHECK(zoetrope_store_find(other, animation, 1, &renderings[1], &frame, &lease, NULL) == ZOETROPE_OK && lease);
  CHECK(has_pixels(&frame, animation, 1, &renderings[1]));
  CHECK(statistics_of(other).hits == 1 && statistics_of(other).insertions == 0);

  /* A lease outlives the store, the animation and the frame itself. */
  zoetrope_animation *again = open_file(path);
  CHECK(zoetrope_store_remove(other, animation, NULL) == ZOETROPE_OK);
  CHECK(statistics_of(store).frame_count == 0);
  zoetrope_store_close(other);
  zoetrope_store_close(store);
  zoetrope_close(animation);
  CHECK(has_pixels(&frame, again, 1, &renderings[1]));
  zoetrope_lease_free(lease);
  zoetrope_close(again);
}

static void test_arguments(const char *path) {
  zoetrope_store *store = (void *)1;
  zoetrope_error error;
  zoetrope_store_options wrong[] = {{.size = 15}, {.size = sizeof *wrong, .byte_limit = -1}};
  for (int i = 0; i < 2; i++) {
    CHECK(zoetrope_store_open(directory, &wrong[i], &store, &error) == ZOETROPE_PARAMETER && *error.message);
    CHECK(store == NULL);
  }
  CHECK(zoetrope_store_open("", NULL, &store, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_store_open(directory, NULL, NULL, NULL) == ZOETROPE_PARAMETER);
  store = open_store(0);
  zoetrope_animation *animation = open_file(path);
  zoetrope_stored_frame frame = {.size = sizeof frame}, small = {.size = 335};
  zoetrope_lease *lease = (void *)1;
  CHECK(zoetrope_store_frame(NULL, animation, 0, NULL, &frame, &lease, NULL) == ZOETROPE_PARAMETER && !lease);
  CHECK(zoetrope_store_frame(store, NULL, 0, NULL, &frame, &lease, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_store_frame(store, animation, -1, NULL, &frame, &lease, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_store_frame(store, animation, 1 << 20, NULL, &frame, &lease, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_store_frame(store, animation, 0, NULL, NULL, &lease, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_store_frame(store, animation, 0, NULL, &small, &lease, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_store_frame(store, animation, 0, NULL, &frame, NULL, NULL) == ZOETROPE_PARAMETER);
  zoetrope_rendering packed = {.size = sizeof packed, .format = ZOETROPE_RGB8};
  CHECK(zoetrope_store_frame(store, animation, 0, &packed, &frame, &lease, &error) == ZOETROPE_PARAMETER);
  CHECK(strstr(error.message, "RGBX8") && !lease);
  CHECK(zoetrope_store_fill(store, animation, &packed, NULL, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_store_fill(NULL, animation, NULL, NULL, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_store_get_statistics(store, NULL, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_store_remove(NULL, NULL, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_store_prune(NULL, 0, NULL) == ZOETROPE_PARAMETER);
  CHECK(zoetrope_store_prune(store, -1, &error) == ZOETROPE_PARAMETER && strstr(error.message, "-1"));
  zoetrope_lease_free(NULL);
  zoetrope_store_close(NULL);

  /* Cancelled calls, and those that do not decode. */
  CHECK(zoetrope_store_fill(store, animation, NULL, NULL, NULL) == ZOETROPE_OK);
  zoetrope_cancel(animation);
  CHECK(zoetrope_store_frame(store, animation, 0, NULL, &frame, &lease, NULL) == ZOETROPE_CANCELLED);
  CHECK(zoetrope_store_fill(store, animation, NULL, NULL, NULL) == ZOETROPE_CANCELLED);
  zoetrope_clear_cancel(animation);
  CHECK(zoetrope_store_prune(store, 0, NULL) == ZOETROPE_OK && statistics_of(store).frame_count == 0);
  CHECK(zoetrope_store_frame(store, animation, 0, NULL, &frame, &lease, NULL) == ZOETROPE_OK);
  CHECK(zoetrope_store_remove(store, NULL, NULL) == ZOETROPE_OK && statistics_of(store).frame_count == 0);
  CHECK(has_pixels(&frame, animation, 0, NULL));
  zoetrope_lease_free(lease);
  zoetrope_close(animation);
  zoetrope_store_close(store);

  /* Others may write to it. */
  CHECK(chmod(directory, 0777) == 0);
  CHECK(zoetrope_store_open(directory, NULL, &store, &error) == ZOETROPE_STORE && store == NULL);
  CHECK(!strcmp(error.name, "storeDenied"));
  CHECK(chmod(directory, 0700) == 0);
}

/* A store without room: frames are drawn into memory, and filling fails. */
static void test_full(const char *path) {
  zoetrope_store *store = open_store(1);
  zoetrope_animation *animation = open_file(path);
  zoetrope_stored_frame frame = {.size = sizeof frame};
  zoetrope_lease *lease;
  zoetrope_error error;
  CHECK(zoetrope_store_frame(store, animation, 1, NULL, &frame, &lease, NULL) == ZOETROPE_OK);
  CHECK(lease && !frame.is_stored);
  CHECK(zoetrope_store_fill(store, animation, NULL, NULL, &error) == ZOETROPE_STORE);
  CHECK(!strcmp(error.name, "storeFull"));
  zoetrope_animation *again = open_file(path);
  zoetrope_close(animation);
  zoetrope_store_close(store);
  CHECK(has_pixels(&frame, again, 1, NULL));
  zoetrope_lease_free(lease);
  zoetrope_close(again);
}

static const char *shared_path;

/* Fills and reads a store on a handle of its own. */
static void *use_store(void *context) {
  zoetrope_store *store = context;
  zoetrope_animation *animation = open_file(shared_path);
  zoetrope_rendering rendering = {.size = sizeof rendering, .width = 24};
  zoetrope_info info = {.size = sizeof info};
  CHECK(zoetrope_get_info(animation, &info, NULL) == ZOETROPE_OK);
  for (int round = 0; round < 3; round++)
    for (int64_t index = 0; index < info.frame_count; index++) {
      zoetrope_stored_frame frame = {.size = sizeof frame};
      zoetrope_lease *lease;
      CHECK(zoetrope_store_frame(store, animation, index, &rendering, &frame, &lease, NULL) == ZOETROPE_OK);
      CHECK(has_pixels(&frame, animation, index, &rendering));
      zoetrope_lease_free(lease);
      if (round == 1 && index == 2) CHECK(zoetrope_store_remove(store, animation, NULL) == ZOETROPE_OK);
    }
  zoetrope_close(animation);
  return NULL;
}

static void test_threads(const char *path) {
  shared_path = path;
  zoetrope_store *store = open_store(0);
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, use_store, store);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  zoetrope_store_close(store);
}

/* A relative path means the same directory after the program has changed its directory. */
static void test_relative_path(const char *folder, const char *path) {
  char before[4096];
  CHECK(getcwd(before, sizeof before) != NULL);
  zoetrope_animation *animation = open_file(path);
  zoetrope_store *store;
  /* A new directory, because a store of an earlier run would already be full. */
  char fresh[4096];
  snprintf(fresh, sizeof fresh, "%s/relative-XXXXXX", folder);
  CHECK(mkdtemp(fresh) != NULL && chdir(fresh) == 0);
  CHECK(zoetrope_store_open("relative-store", NULL, &store, NULL) == ZOETROPE_OK);
  CHECK(chdir(before) == 0);
  int64_t count = 0;
  CHECK(zoetrope_store_fill(store, animation, NULL, &count, NULL) == ZOETROPE_OK && count > 0);
  CHECK(statistics_of(store).frame_count == count);
  CHECK(access("relative-store", F_OK) != 0);
  zoetrope_store_close(store);
  zoetrope_close(animation);
}

static void test_fork(const char *path) {
  /* Volatile, so that valgrind finds them in the child, which cannot free them. */
  static zoetrope_store *volatile store;
  static zoetrope_animation *volatile animation;
  static zoetrope_lease *volatile kept;
  store = open_store(0);
  animation = open_file(path);
  zoetrope_stored_frame frame = {.size = sizeof frame};
  zoetrope_lease *lease;
  CHECK(zoetrope_store_frame(store, animation, 0, NULL, &frame, &lease, NULL) == ZOETROPE_OK);
  kept = lease;
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    zoetrope_lease *other;
    bool is_refused = zoetrope_store_frame(store, animation, 0, NULL, &frame, &other, NULL) == ZOETROPE_FORKED;
    zoetrope_lease_free(kept);
    zoetrope_store_close(store);
    /* Killed, so that no tool looks for what the child left on purpose. */
    if (is_refused) raise(SIGKILL);
    _exit(1);
  }
  int status;
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  zoetrope_lease_free(lease);
  zoetrope_close(animation);
  zoetrope_store_close(store);
}

int main(int count, char **arguments) {
  if (count < 3) return 2;
  snprintf(directory, sizeof directory, "%s/store-%d", arguments[1], (int)getpid());
  test_frames(arguments[2]);
  test_arguments(arguments[2]);
  test_full(arguments[2]);
  for (int i = 2; i < count; i++) test_threads(arguments[i]);
  test_relative_path(arguments[1], arguments[2]);
  test_fork(arguments[2]);
  printf("%d checks, %d failed\n", checks, failures);
  return failures > 0;
}

/* Calls that are cancelled or run out of time. */
#include "abi_test.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/time.h>

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

void test_cancelling_a_call_that_waits(const char *path) {
  size_t count = 0;
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

/* ---- Files that ask for everything ---- */

static void *cancel_when_told(void *context) {
  queue *mine = context;
  while (!atomic_load(&mine->has_begun)) usleep(100);
  usleep(20000);
  zoetrope_cancel(mine->animation);
  return NULL;
}

/* Every call that decodes ends when it is cancelled. */
void test_hostile_calls(void) {
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

/* ---- Time limits ---- */

void test_timeout(const char *path) {
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
void test_timeout_of_a_silent_pipe(void) {
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

void test_cancelling_opening(const char *path) {
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
void test_cancelling_opening_of_a_silent_pipe(void) {
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

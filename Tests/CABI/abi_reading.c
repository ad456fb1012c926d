/* Where bytes come from, and who may read them: callbacks, descriptors, threads. */
#include "abi_test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>

void test_reader(const char *path) {
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
  CHECK(!strcmp(error.message, "reader.read failed: it returned -5"));
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
  zoetrope_rendering gray = {.size = sizeof gray, .format = ZOETROPE_GRAY8};
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

void test_descriptors(const char *path) {
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

void test_threads(const char *path) {
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
void test_closing_ends_reading(void) {
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

void test_that_calls_take_turns(const char *path) {
  size_t count = 0;
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

/* Writing frames: arguments, pixel formats, files, sinks and threads. */
#include "writer_test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

void test_bad_arguments(void) {
  zoetrope_writer *writer = (void *)1;
  zoetrope_error error;
  CHECK(zoetrope_writer_create(NULL, NULL, NULL, &error) == ZOETROPE_PARAMETER && strstr(error.message, "writer"));
  zoetrope_destination destination = {.size = 47};
  CHECK(zoetrope_writer_create(&destination, NULL, &writer, &error) == ZOETROPE_PARAMETER && writer == NULL);
  CHECK(strstr(error.message, "zoetrope_destination"));
  destination = (zoetrope_destination){.size = sizeof destination, .path = in_folder("a.webp")};
  CHECK(zoetrope_writer_create(&destination, NULL, &writer, &error) == ZOETROPE_PARAMETER);
  CHECK(strstr(error.message, ".webp"));
  destination.path = "a\x1b[0m\nb";
  CHECK(zoetrope_writer_create(&destination, NULL, &writer, &error) == ZOETROPE_PARAMETER);
  CHECK(strstr(error.message, "\"a\\u{1B}[0m\\nb\" does not end in") == error.message);
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

void test_pixel_formats(void) {
  static const struct { int32_t format, container; int channels; bool is_deep; } forms[] = {
    {ZOETROPE_RGBA8, ZOETROPE_APNG, 4, false}, {ZOETROPE_BGRA8, ZOETROPE_APNG, 4, false},
    {ZOETROPE_RGBX8, ZOETROPE_APNG, 4, false}, {ZOETROPE_RGB8, ZOETROPE_APNG, 3, false},
    {ZOETROPE_GRAY8, ZOETROPE_APNG, 1, false}, {ZOETROPE_RGBA16, ZOETROPE_APNG, 4, true},
    {ZOETROPE_RGB16, ZOETROPE_APNG, 3, true}, {ZOETROPE_GRAY16, ZOETROPE_APNG, 1, true},
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

void test_files(void) {
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
  /* A file that is larger than this program may write: an error, and no SIGXFSZ. */
  struct rlimit limit;
  CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
  struct rlimit tight = {.rlim_cur = 64, .rlim_max = limit.rlim_max};
  CHECK(zoetrope_writer_create(&destination, NULL, &writer, NULL) == ZOETROPE_OK);
  CHECK(setrlimit(RLIMIT_FSIZE, &tight) == 0);
  zoetrope_status refused = ZOETROPE_OK;
  for (int i = 0; i < COUNT && refused == ZOETROPE_OK; i++) refused = append(writer, i, 1, 25, &error);
  if (refused == ZOETROPE_OK) refused = zoetrope_writer_finish(writer, NULL, &error);
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  CHECK(refused == ZOETROPE_IO && error.system_error == EFBIG && strstr(error.message, "file.gif"));
  zoetrope_writer_free(writer);
  CHECK(access(path, F_OK) != 0);
  /* A folder that does not exist. */
  destination.path = "/nonexistent/\x1b[0m.png";
  CHECK(zoetrope_writer_create(&destination, NULL, &writer, NULL) == ZOETROPE_OK);
  append(writer, 0, 1, 25, NULL);
  CHECK(zoetrope_writer_finish(writer, NULL, &error) == ZOETROPE_IO && error.system_error == ENOENT);
  CHECK(strstr(error.message, "\"/nonexistent/\\u{1B}[0m.png\": ") == error.message);
  zoetrope_writer_free(writer);
}

/* A relative path means the same file after the program has changed its directory. */
void test_relative_paths(void) {
  char before[4096];
  CHECK(getcwd(before, sizeof before) != NULL);
  zoetrope_destination destination = {.size = sizeof destination, .path = "relative.png"};
  for (int is_complete = 0; is_complete < 2; is_complete++)
    for (int is_early = 0; is_early < 2; is_early++) {
      CHECK(chdir(folder) == 0);
      zoetrope_writer *writer;
      CHECK(zoetrope_writer_create(&destination, NULL, &writer, NULL) == ZOETROPE_OK);
      if (is_early) CHECK(chdir(before) == 0);
      for (int i = 0; i < COUNT; i++) CHECK(append(writer, i, 1, 25, NULL) == ZOETROPE_OK);
      CHECK(chdir(before) == 0);
      if (is_complete) CHECK(zoetrope_writer_finish(writer, NULL, NULL) == ZOETROPE_OK);
      zoetrope_writer_free(writer);
      CHECK(access("relative.png", F_OK) != 0);
      CHECK((unlink(in_folder("relative.png")) == 0) == is_complete);
    }
}

void test_sinks(void) {
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

void test_threads(void) {
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

void test_refusals(void) {
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

void test_fork(const char *path) {
  zoetrope_writer *writer;
  zoetrope_animation *animation;
  CHECK(zoetrope_writer_create(NULL, NULL, &writer, NULL) == ZOETROPE_OK);
  CHECK(append(writer, 0, 1, 10, NULL) == ZOETROPE_OK);
  CHECK(zoetrope_open_file(path, NULL, &animation, NULL) == ZOETROPE_OK);
  pid_t child = fork();
  if (child == 0) {
    zoetrope_written written = {.size = sizeof written};
    zoetrope_error error;
    bool is_right = append(writer, 1, 1, 10, &error) == ZOETROPE_FORKED && strstr(error.message, "call exec") &&
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

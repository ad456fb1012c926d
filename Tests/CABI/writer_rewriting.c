/* Edits of animations, and smaller files with the same pixels. */
#include "writer_test.h"

#include <pthread.h>

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

void test_rewriting(const char *path) {
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
  CHECK(mine->ends == 1 && mine->complete == 0 && error.of_destination == 1);
  CHECK(zoetrope_rewrite(animation, edits, 1, 0, NULL, &destination, NULL, &error) == ZOETROPE_PARAMETER);
  CHECK(error.of_destination == 0);
  free(mine);
  zoetrope_close(animation);
}

static void *cancel_animation(void *context) {
  zoetrope_cancel(context);
  return NULL;
}

void test_cancelling_a_rewrite(const char *path) {
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

void test_optimizing(const char *path) {
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
  /* A name that says something else, unless the format is given. */
  bool is_gif = info.format == ZOETROPE_GIF;
  zoetrope_destination destination = {.size = sizeof destination, .path = in_folder(is_gif ? "a.PNG" : "a.gif")};
  CHECK(zoetrope_optimize(animation, NULL, &destination, &written, &error) == ZOETROPE_PARAMETER);
  CHECK(strstr(error.message, "keeps the format") && strstr(error.message, is_gif ? " ends in .PNG" : " ends in .gif"));
  CHECK(access(destination.path, F_OK));
  options.format = is_gif ? ZOETROPE_GIF : ZOETROPE_APNG;
  CHECK(zoetrope_optimize(animation, &options, &destination, &written, &error) == ZOETROPE_OK);
  CHECK(!unlink(destination.path));
  destination.path = in_folder(is_gif ? "a.gif" : "a.png");
  CHECK(zoetrope_optimize(animation, NULL, &destination, &written, &error) == ZOETROPE_OK);
  CHECK(!unlink(destination.path));
  zoetrope_close(animation);
}

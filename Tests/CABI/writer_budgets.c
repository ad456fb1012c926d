/* Rewriting within a limit on bytes. */
#include "writer_test.h"

/* Pictures with gradients and grain, which take more bytes the more exact they are. */
static zoetrope_bytes *write_film(int32_t format, int frames, int32_t tolerance) {
  enum { SIDE = 96 };
  zoetrope_writer *writer;
  zoetrope_writer_options options = {.size = sizeof options, .format = format, .tolerance = tolerance};
  CHECK(zoetrope_writer_create(NULL, &options, &writer, NULL) == ZOETROPE_OK);
  uint8_t *pixels = malloc(SIDE * SIDE * 4);
  zoetrope_picture picture = {.size = sizeof picture, .pixels = pixels, .byte_count = SIDE * SIDE * 4, .width = SIDE,
                              .height = SIDE};
  uint32_t noise = 1;
  for (int frame = 0; frame < frames; frame++) {
    for (int i = 0; i < SIDE * SIDE; i++) {
      noise = noise * 1664525 + 1013904223;
      uint8_t grain = noise >> 29;
      uint8_t samples[4] = {(uint8_t)(i % SIDE + 5 * frame + grain), (uint8_t)(i / SIDE + grain), grain, 255};
      memcpy(pixels + i * 4, samples, 4);
    }
    CHECK(zoetrope_writer_append(writer, &picture, 1, 25, NULL) == ZOETROPE_OK);
  }
  free(pixels);
  zoetrope_written written = {.size = sizeof written};
  CHECK(zoetrope_writer_finish(writer, &written, NULL) == ZOETROPE_OK);
  CHECK(written.width == SIDE && written.height == SIDE && written.tolerance == tolerance);
  zoetrope_writer_free(writer);
  return written.bytes;
}

static zoetrope_animation *make_film(int32_t format, int frames, int32_t tolerance, int64_t *byte_count) {
  zoetrope_bytes *film = write_film(format, frames, tolerance);
  if (byte_count) *byte_count = (int64_t)zoetrope_bytes_count(film);
  zoetrope_animation *animation = open_bytes(film, false);
  zoetrope_bytes_free(film);
  return animation;
}

void test_budgets(void) {
  int64_t exact, near;
  zoetrope_close(make_film(ZOETROPE_APNG, 12, 60, &near));
  zoetrope_animation *animation = make_film(ZOETROPE_GIF, 12, 0, &exact), *still = make_film(ZOETROPE_GIF, 1, 0, NULL);
  zoetrope_error error;
  zoetrope_written written = {.size = sizeof written};
  zoetrope_writer_options options = {.size = sizeof options, .tolerance = 60};
  CHECK(zoetrope_rewrite(animation, NULL, 0, sizeof(zoetrope_edit), &options, NULL, &written, NULL) == ZOETROPE_OK);
  CHECK(written.byte_count < exact && written.tolerance == 60 && written.frame_rate == 0);
  zoetrope_bytes_free(written.bytes);
  CHECK(zoetrope_optimize(animation, &options, NULL, &written, NULL) == ZOETROPE_OK);
  CHECK(written.byte_count < exact && written.tolerance == 60 && written.frame_count == 12);
  zoetrope_bytes_free(written.bytes);
  options = (zoetrope_writer_options){.size = sizeof options, .colors = 16};
  CHECK(zoetrope_rewrite(animation, NULL, 0, sizeof(zoetrope_edit), &options, NULL, &written, NULL) == ZOETROPE_OK);
  CHECK(written.colors == 16 && written.byte_count < exact);
  zoetrope_bytes_free(written.bytes);

  /* Ever smaller limits, and what is given up for them; pinned properties stay. */
  for (int part = 2; part <= 16; part *= 2) {
    options = (zoetrope_writer_options){.size = sizeof options, .max_bytes = exact / part};
    CHECK(zoetrope_rewrite(animation, NULL, 0, sizeof(zoetrope_edit), &options, NULL, &written, &error) ==
          ZOETROPE_OK);
    CHECK(written.byte_count <= exact / part && zoetrope_bytes_count(written.bytes) == (size_t)written.byte_count);
    CHECK(written.tolerance || written.colors || written.frame_rate || written.width < 96);
    zoetrope_animation *result = open_bytes(written.bytes, false);
    zoetrope_info made = info_of(result);
    CHECK(made.width == written.width && made.height == written.height && made.frame_count == written.frame_count);
    CHECK((written.frame_count < 12) == (written.frame_rate > 0));
    CHECK(written.frame_count + written.dropped_count == 12);
    zoetrope_close(result);
    zoetrope_bytes_free(written.bytes);
  }
  options = (zoetrope_writer_options){.size = sizeof options, .max_bytes = exact / 2, .keep_size = 1,
                                      .keep_frame_rate = 1};
  CHECK(zoetrope_rewrite(animation, NULL, 0, sizeof(zoetrope_edit), &options, NULL, &written, NULL) == ZOETROPE_OK);
  CHECK(written.width == 96 && written.frame_count == 12 && written.byte_count <= exact / 2);
  zoetrope_bytes_free(written.bytes);
  CHECK(zoetrope_optimize(animation, &options, NULL, &written, NULL) == ZOETROPE_OK);
  CHECK(written.width == 96 && written.frame_count == 12 && written.byte_count <= exact / 2 && written.tolerance > 0);
  zoetrope_bytes_free(written.bytes);

  /* Too small a limit: an error that names the smallest possible size, and no file. */
  options = (zoetrope_writer_options){.size = sizeof options, .max_bytes = 50};
  record *mine = calloc(1, sizeof *mine);
  zoetrope_destination destination = {.size = sizeof destination, .context = mine, .write = take, .end = end};
  CHECK(zoetrope_rewrite(animation, NULL, 0, sizeof(zoetrope_edit), &options, &destination, NULL, &error) ==
        ZOETROPE_OVER_BUDGET);
  CHECK(error.code == ZOETROPE_OVER_BUDGET && !strcmp(error.name, "overBudget") && strstr(error.message, "50"));
  CHECK(error.limit == ZOETROPE_LIMIT_BYTES && error.limit_allowed == 50);
  CHECK(error.limit_found > 50 || error.limit_found == -1);
  CHECK(mine->ends == 1 && mine->complete == 0);
  CHECK(zoetrope_optimize(animation, &options, NULL, &written, &error) == ZOETROPE_OVER_BUDGET);
  CHECK(error.limit == ZOETROPE_LIMIT_BYTES && written.bytes == NULL);
  free(mine);

  /* Presets. */
  options = (zoetrope_writer_options){.size = sizeof options, .preset = "discord-emoji", .max_bytes = 40000};
  CHECK(zoetrope_rewrite(animation, NULL, 0, sizeof(zoetrope_edit), &options, NULL, &written, NULL) == ZOETROPE_OK);
  CHECK(written.byte_count <= 40000 && written.format == ZOETROPE_GIF);
  zoetrope_bytes_free(written.bytes);
  options = (zoetrope_writer_options){.size = sizeof options, .preset = "signal-sticker", .format = ZOETROPE_APNG};
  CHECK(zoetrope_rewrite(still, NULL, 0, sizeof(zoetrope_edit), &options, NULL, &written, NULL) == ZOETROPE_OK);
  CHECK(written.width == 512 && written.height == 512 && written.byte_count <= 300 * 1024);
  zoetrope_bytes_free(written.bytes);
  /* A site's limit on frames, which a pin excludes. */
  zoetrope_animation *long_film = make_film(ZOETROPE_GIF, 55, 0, NULL);
  options = (zoetrope_writer_options){.size = sizeof options, .preset = "slack-emoji"};
  CHECK(zoetrope_rewrite(long_film, NULL, 0, sizeof(zoetrope_edit), &options, NULL, &written, NULL) == ZOETROPE_OK);
  CHECK(written.frame_count <= 50 && written.frame_count + written.dropped_count == 55);
  zoetrope_bytes_free(written.bytes);
  options.keep_frame_rate = 1;
  CHECK(zoetrope_rewrite(long_film, NULL, 0, sizeof(zoetrope_edit), &options, NULL, &written, &error) ==
        ZOETROPE_OVER_BUDGET);
  CHECK(error.limit == ZOETROPE_LIMIT_FRAMES && error.limit_found == 55 && error.limit_allowed == 50);
  zoetrope_close(long_film);
  const struct { const char *preset; zoetrope_edit edit; int64_t limit, found, allowed; } refused[] = {
    {"line-sticker", {.kind = ZOETROPE_EDIT_FRAMES, .start = 0, .end = 3}, ZOETROPE_LIMIT_FRAMES, 3, 5},
    {"line-sticker", {.kind = ZOETROPE_EDIT_DURATION, .end = 6000000000}, ZOETROPE_LIMIT_DURATION, 6000000000,
     4000000000},
    {"signal-sticker", {.kind = ZOETROPE_EDIT_CROP, .width = 96, .height = 40}, ZOETROPE_LIMIT_SIDES, 96, 512},
    {"imessage-small", {.kind = ZOETROPE_EDIT_RESIZE, .width = 20}, ZOETROPE_LIMIT_SIDES, 20, 300},
  };
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    options = (zoetrope_writer_options){.size = sizeof options, .format = ZOETROPE_APNG};
    strcpy(options.preset, refused[i].preset);
    CHECK(zoetrope_rewrite(animation, &refused[i].edit, 1, sizeof refused[i].edit, &options, NULL, &written,
                           &error) == ZOETROPE_OVER_BUDGET);
    CHECK(error.limit == refused[i].limit && error.limit_found == refused[i].found);
    CHECK(error.limit_allowed == refused[i].allowed && strstr(error.message, refused[i].preset));
  }
  zoetrope_writer_options wrong[] = {{.preset = "myspace"}, {.preset = "whatsapp"}, {.keep_size = 1},
                                     {.preset = "signal-sticker", .format = ZOETROPE_GIF},
                                     {.max_bytes = 9, .keep_frame_rate = 2}};
  memset(&wrong[0].preset, 'x', sizeof wrong[0].preset);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    wrong[i].size = sizeof wrong[i];
    CHECK(zoetrope_rewrite(animation, NULL, 0, sizeof(zoetrope_edit), &wrong[i], NULL, &written, &error) ==
          ZOETROPE_PARAMETER && *error.message);
  }
  options = (zoetrope_writer_options){.size = sizeof options, .preset = "discord-emoji"};
  CHECK(zoetrope_optimize(animation, &options, NULL, &written, NULL) == ZOETROPE_PARAMETER);

  /* No caller knows less than version 1 of the ABI, whose sizes these are. */
  zoetrope_edit reverse = {.kind = ZOETROPE_EDIT_REVERSE};
  options = (zoetrope_writer_options){.size = 144};
  written.size = 112;
  CHECK(zoetrope_rewrite(still, &reverse, 1, 104, &options, NULL, &written, &error) == ZOETROPE_OK);
  zoetrope_bytes_free(written.bytes);
  CHECK(zoetrope_rewrite(still, &reverse, 1, 103, &options, NULL, &written, &error) == ZOETROPE_PARAMETER);
  CHECK(strstr(error.message, "element_size is 103: set it to sizeof(zoetrope_edit)"));
  options.size--;
  CHECK(zoetrope_rewrite(still, &reverse, 1, 104, &options, NULL, &written, &error) == ZOETROPE_PARAMETER);
  options.size = 144;
  written.size--;
  CHECK(zoetrope_rewrite(still, &reverse, 1, 104, &options, NULL, &written, &error) == ZOETROPE_PARAMETER);
  CHECK(strstr(error.message, "zoetrope_written.size is 111"));
  written.size = sizeof written;
  zoetrope_close(still);
  zoetrope_close(animation);
}

typedef struct {
  uint8_t *bytes;
  zoetrope_animation *animation;
  int reads, cancelled_at; /* 0: never */
} film;

static int64_t read_film(void *context, int64_t offset, void *buffer, size_t count) {
  film *mine = context;
  if (++mine->reads == mine->cancelled_at) zoetrope_cancel(mine->animation);
  memcpy(buffer, mine->bytes + offset, count);
  return (int64_t)count;
}

/* The search encodes many files: it ends within one of them, and the file is discarded. */
void test_cancelling_a_budget(void) {
  zoetrope_bytes *written = write_film(ZOETROPE_GIF, 40, 0);
  size_t count = zoetrope_bytes_count(written);
  film shared = {.bytes = malloc(count)};
  CHECK(zoetrope_bytes_copy(written, shared.bytes, count) == count);
  zoetrope_bytes_free(written);
  zoetrope_reader reader = {.size = sizeof reader, .context = &shared, .byte_count = (int64_t)count,
                            .read = read_film};
  zoetrope_writer_options options = {.size = sizeof options, .max_bytes = 30000, .effort = ZOETROPE_EFFORT_SMALL};
  int reads = 0;
  /* Not cancelled, then at the first read, and in the middle. How many reads there are varies a little. */
  for (int half = 0; half < 3; half++) {
    CHECK(zoetrope_open_reader(&reader, NULL, &shared.animation, NULL) == ZOETROPE_OK);
    shared.reads = 0;
    shared.cancelled_at = half == 0 ? 0 : half == 1 ? 1 : 1 + reads / 2;
    record *mine = calloc(1, sizeof *mine);
    zoetrope_destination destination = {.size = sizeof destination, .context = mine, .write = take, .end = end};
    zoetrope_status status = zoetrope_rewrite(shared.animation, NULL, 0, sizeof(zoetrope_edit), &options,
                                              &destination, NULL, NULL);
    CHECK(status == (half ? ZOETROPE_CANCELLED : ZOETROPE_OK));
    CHECK(mine->ends <= 1 && mine->complete == !half && (half || mine->count <= 30000));
    free(mine);
    zoetrope_close(shared.animation);
    if (!half) reads = shared.reads;
  }
  CHECK(reads > 2);
  free(shared.bytes);
}

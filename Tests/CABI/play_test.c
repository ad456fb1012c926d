/* Plays a file once, as fast as possible: play_test FILE. For valgrind. */
#include <stdio.h>
#include <zoetrope.h>

static int32_t show(void *context, const zoetrope_shown_frame *frame) {
  int64_t *sum = context;
  const unsigned char *pixels = frame->pixels;
  /* Every byte can be read. */
  for (int64_t y = 0; y < frame->height; y++)
    for (int64_t x = 0; x < 4 * frame->width; x++) sum[1] += pixels[(size_t)y * frame->bytes_per_row + (size_t)x];
  sum[0]++;
  return 0;
}

int main(int count, char **arguments) {
  zoetrope_animation *animation;
  zoetrope_player *player;
  zoetrope_error error;
  zoetrope_options options = {.size = sizeof options, .limits = ZOETROPE_LIMITS_STRICT};
  zoetrope_playback once = {.size = sizeof once, .plays = 1, .rate = 1000, .late = ZOETROPE_LATE_STRETCH};
  zoetrope_rendering box = {.size = sizeof box, .width = 40, .height = 40};
  int64_t sum[2] = {0, 0};
  if (count < 2 || zoetrope_open_file(arguments[1], &options, &animation, &error)) return 2;
  zoetrope_status status = zoetrope_play(animation, &box, &once, show, NULL, sum, &player, &error);
  if (status == ZOETROPE_OK) {
    status = zoetrope_player_wait(player, &error);
    zoetrope_player_free(player);
  }
  zoetrope_close(animation);
  printf("%s, %d frames, %s\n", status ? error.message : "played", (int)sum[0], sum[1] ? "drawn" : "empty");
  return status != 0;
}

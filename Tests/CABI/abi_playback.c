/* Players, also in a forked child. */
#include "abi_test.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>

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

void test_playback(const char *path) {
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
void test_hostile_player(void) {
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
void test_durations_of_playback(const char *path) {
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

void test_fork(const char *path) {
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

/* Loads the library, uses it and unloads it, twice: unload_test LIBRARY FILE. Threads of the library may
   still run when dlclose is called. */
#define _DEFAULT_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zoetrope.h>

static void *load(void *library, const char *name) {
  void *symbol = dlsym(library, name);
  if (!symbol) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  return symbol;
}

static int32_t show(void *context, const zoetrope_shown_frame *frame) {
  (void)context;
  (void)frame;
  return 0;
}

int main(int count, char **arguments) {
  if (count < 3) return 2;
  for (int round = 0; round < 2; round++) {
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    /* POSIX lets data pointers stand for functions; ISO C does not. */
    zoetrope_status (*open_file)(const char *, const zoetrope_options *, zoetrope_animation **, zoetrope_error *);
    zoetrope_status (*play)(zoetrope_animation *, const zoetrope_rendering *, const zoetrope_playback *,
                            zoetrope_shown_callback, zoetrope_ended_callback, void *, zoetrope_player **,
                            zoetrope_error *);
    void (*free_player)(zoetrope_player *), (*close_animation)(zoetrope_animation *);
    *(void **)&open_file = load(library, "zoetrope_open_file");
    *(void **)&play = load(library, "zoetrope_play");
    *(void **)&free_player = load(library, "zoetrope_player_free");
    *(void **)&close_animation = load(library, "zoetrope_close");
    zoetrope_animation *animation;
    zoetrope_player *player;
    if (open_file(arguments[2], NULL, &animation, NULL) ||
        play(animation, NULL, NULL, show, NULL, NULL, &player, NULL))
      return 1;
    free_player(player);
    close_animation(animation);
    dlclose(library);
    /* Long enough for a thread that ends to run code that is no longer there. */
    usleep(100000);
  }
  return 0;
}

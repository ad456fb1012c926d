/* Prints an animation's frames as text, sampled by time: contact FILE [COUNT]

   cc contact.c -o contact $(pkg-config --cflags --libs zoetrope) */
#include <stdio.h>
#include <stdlib.h>
#include <zoetrope.h>

enum { WIDTH = 48, HEIGHT = 20 };

static int fail(const char *path, const zoetrope_error *error) {
  fprintf(stderr, "%s: %s: %s", path, error->name, error->message);
  if (error->frame >= 0) fprintf(stderr, ", frame %lld", (long long)error->frame);
  if (error->byte_offset >= 0) fprintf(stderr, ", byte %lld", (long long)error->byte_offset);
  fprintf(stderr, "\n");
  return 1;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: contact FILE [COUNT]\n");
    return 2;
  }
  int count = argc > 2 ? atoi(argv[2]) : 3;
  if (count < 1 || count > 100) count = 3;

  /* Limits for untrusted files; the defaults are higher. */
  zoetrope_options options = {.size = sizeof options, .limits = ZOETROPE_LIMITS_STRICT};
  zoetrope_animation *animation;
  zoetrope_error error;
  if (zoetrope_open_file(argv[1], &options, &animation, &error)) return fail(argv[1], &error);

  zoetrope_info info = {.size = sizeof info};
  int64_t duration = 0;
  if (zoetrope_get_info(animation, &info, &error) ||
      zoetrope_get_duration(animation, ZOETROPE_DELAYS_BROWSER, &duration, &error))
    return fail(argv[1], &error);
  printf("%lldx%lld, %lld frames, %.2f s\n", (long long)info.width, (long long)info.height,
         (long long)info.frame_count, (double)duration / 1e9);

  /* One call decodes, scales and converts all samples. */
  zoetrope_rendering grey = {.size = sizeof grey, .format = ZOETROPE_GRAY8, .fit = ZOETROPE_STRETCH,
                             .width = WIDTH, .height = HEIGHT};
  size_t frame = WIDTH * HEIGHT, found = 0;
  unsigned char *pixels = malloc((size_t)count * frame);
  zoetrope_frame *frames = calloc((size_t)count, sizeof *frames);
  if (!pixels || !frames) return 1;
  zoetrope_buffer buffer = {.pixels = pixels, .byte_count = (size_t)count * frame};
  if (zoetrope_sample(animation, ZOETROPE_BY_TIME, ZOETROPE_DELAYS_BROWSER, (size_t)count, &grey, &buffer,
                      frames, &found, &error))
    return fail(argv[1], &error);
  for (size_t i = 0; i < found; i++) {
    printf("frame %lld%s\n", (long long)frames[i].index, frames[i].damage.is_present ? " (damaged)" : "");
    for (int y = 0; y < HEIGHT; y++) {
      for (int x = 0; x < WIDTH; x++) putchar(" .:-=+*#%@"[pixels[i * frame + (size_t)(y * WIDTH + x)] * 10 / 256]);
      putchar('\n');
    }
  }
  free(frames);
  free(pixels);
  zoetrope_close(animation);
  return 0;
}

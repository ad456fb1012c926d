/* Writes an animation of a moving disc: write FILE.gif|FILE.png

   cc write.c -o write $(pkg-config --cflags --libs zoetrope) */
#include <stdio.h>
#include <stdlib.h>
#include <zoetrope.h>

enum { SIDE = 96, COUNT = 30, RADIUS = 12 };

static void draw(unsigned char *pixels, int index) {
  /* From the left edge to the right one and back, on a transparent background. */
  int half = COUNT / 2, step = index < half ? index : COUNT - index;
  int center = RADIUS + (SIDE - 2 * RADIUS) * step / half;
  for (int y = 0; y < SIDE; y++)
    for (int x = 0; x < SIDE; x++) {
      int dx = x - center, dy = y - SIDE / 2;
      int is_inside = dx * dx + dy * dy < RADIUS * RADIUS;
      unsigned char *pixel = pixels + 4 * (y * SIDE + x);
      pixel[0] = is_inside ? 230 : 0;
      pixel[1] = is_inside ? 90 : 0;
      pixel[2] = is_inside ? 30 : 0;
      pixel[3] = is_inside ? 255 : 0;
    }
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: write FILE.gif|FILE.png\n");
    return 2;
  }
  static unsigned char pixels[SIDE * SIDE * 4];
  zoetrope_picture picture = {.size = sizeof picture, .pixels = pixels, .byte_count = sizeof pixels,
                              .width = SIDE, .height = SIDE, .format = ZOETROPE_RGBA8};
  /* The file appears when it is complete. */
  zoetrope_destination file = {.size = sizeof file, .path = argv[1]};
  zoetrope_writer *writer;
  zoetrope_written written = {.size = sizeof written};
  zoetrope_error error;
  zoetrope_status status = zoetrope_writer_create(&file, NULL, &writer, &error);
  /* A first pass over all colours, so that the file can use a palette. */
  for (int i = 0; !status && i < COUNT; i++) {
    draw(pixels, i);
    status = zoetrope_writer_survey(writer, &picture, &error);
  }
  for (int i = 0; !status && i < COUNT; i++) {
    draw(pixels, i);
    status = zoetrope_writer_append(writer, &picture, 1, 30, &error);
  }
  if (!status) status = zoetrope_writer_finish(writer, &written, &error);
  zoetrope_writer_free(writer);
  if (status) {
    fprintf(stderr, "%s: %s: %s\n", argv[1], error.name, error.message);
    return 1;
  }
  printf("%lld frames, %lld bytes\n", (long long)written.frame_count, (long long)written.byte_count);
  return 0;
}

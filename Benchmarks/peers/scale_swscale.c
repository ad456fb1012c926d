/* Times libswscale on pictures of ScaleBench's sizes: `CASE opaque FILTER ms`, best of several.
 * RGB0 in and out, one thread, accurate rounding. libswscale does not weight colours by alpha.
 * cc -O2 scale_swscale.c -o scale_swscale $(pkg-config --cflags --libs libswscale libavutil)
 */
#include <libavutil/mem.h>
#include <libswscale/swscale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

struct filter { const char *name; int flags; };
static const struct filter filters[] = {
    {"nearest", SWS_POINT}, {"box", SWS_AREA}, {"bilinear", SWS_BILINEAR},
    {"bicubic", SWS_BICUBIC}, {"lanczos3", SWS_LANCZOS},
};

static struct SwsContext *context_for(int sw, int sh, int dw, int dh, const struct filter *f) {
  /* Catmull-Rom, as in the other programs; libswscale's default is blurrier. */
  double cubic[2] = {0, 0.5};
  return sws_getContext(
      sw, sh, AV_PIX_FMT_RGB0, dw, dh, AV_PIX_FMT_RGB0,
      f->flags | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP, NULL, NULL,
      f->flags == SWS_BICUBIC ? cubic : NULL);
}

/* raw IN OUT WIDTH HEIGHT TO-WIDTH TO-HEIGHT FILTER: scales a file of plain RGBA rows. */
static int scale_file(char **a) {
  int sw = atoi(a[2]), sh = atoi(a[3]), dw = atoi(a[4]), dh = atoi(a[5]);
  FILE *in = fopen(a[0], "rb"), *out = fopen(a[1], "wb");
  const struct filter *f = filters;
  while (f < filters + sizeof filters / sizeof *filters && strcmp(f->name, a[6])) f++;
  if (!in || !out || f == filters + sizeof filters / sizeof *filters) return 2;
  int source_stride = (sw * 4 + 63) & ~63, target_stride = (dw * 4 + 63) & ~63;
  uint8_t *source = av_malloc((size_t)source_stride * sh + 64);
  uint8_t *target = av_malloc((size_t)target_stride * dh + 64);
  for (int y = 0; y < sh; y++)
    if (fread(source + (size_t)y * source_stride, 4, sw, in) != (size_t)sw) return 2;
  struct SwsContext *context = context_for(sw, sh, dw, dh, f);
  if (!context) return 2;
  const uint8_t *planes[1] = {source};
  uint8_t *results[1] = {target};
  sws_scale(context, planes, &source_stride, 0, sh, results, &target_stride);
  for (int y = 0; y < dh; y++) {
    uint8_t *row = target + (size_t)y * target_stride;
    for (int x = 0; x < dw; x++) row[4 * x + 3] = 255;
    fwrite(row, 4, dw, out);
  }
  return fclose(out);
}

int main(int count, char **arguments) {
  if (count == 9 && !strcmp(arguments[1], "raw")) return scale_file(arguments + 2);
  static const struct { const char *name; int sw, sh, dw, dh; } cases[] = {
      {"thumbnail", 1920, 1080, 320, 180},
      {"shrink", 800, 600, 500, 375},
      {"terminal", 480, 360, 128, 96},
      {"enlarge", 320, 240, 800, 600},
  };
  for (unsigned c = 0; c < sizeof cases / sizeof *cases; c++) {
    int source_stride = (cases[c].sw * 4 + 63) & ~63, target_stride = (cases[c].dw * 4 + 63) & ~63;
    uint8_t *source = av_malloc((size_t)source_stride * cases[c].sh + 64);
    uint8_t *target = av_malloc((size_t)target_stride * cases[c].dh + 64);
    uint32_t state = 2463534242u;
    for (int y = 0; y < cases[c].sh; y++)
      for (int x = 0; x < cases[c].sw; x++) {
        state ^= state << 13; state ^= state >> 17; state ^= state << 5;
        ((uint32_t *)(source + (size_t)y * source_stride))[x] = state | 0xFF000000u;
      }
    for (unsigned f = 0; f < sizeof filters / sizeof *filters; f++) {
      struct SwsContext *context =
          context_for(cases[c].sw, cases[c].sh, cases[c].dw, cases[c].dh, &filters[f]);
      if (!context) continue;
      const uint8_t *in[1] = {source};
      uint8_t *out[1] = {target};
      double best = 1e9, spent = 0;
      for (int runs = 0; spent < 0.12 || runs < 3; runs++) {
        double start = now();
        sws_scale(context, in, &source_stride, 0, cases[c].sh, out, &target_stride);
        double took = now() - start;
        spent += took;
        if (took < best) best = took;
      }
      printf("%s opaque %s %.3f\n", cases[c].name, filters[f].name, best * 1000);
      sws_freeContext(context);
    }
    av_free(source);
    av_free(target);
  }
  return 0;
}

/* Times libswscale on pictures of ScaleBench's sizes: `CASE opaque FILTER ms`, best of several.
 * RGB0 in and out, one thread, accurate rounding. libswscale does not weigh colours by alpha.
 * cc -O2 scale_swscale.c -o scale_swscale $(pkg-config --cflags --libs libswscale libavutil)
 */
#include <libavutil/mem.h>
#include <libswscale/swscale.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

int main(void) {
  static const struct { const char *name; int sw, sh, dw, dh; } cases[] = {
      {"thumbnail", 1920, 1080, 320, 180},
      {"shrink", 800, 600, 500, 375},
      {"terminal", 480, 360, 128, 96},
      {"enlarge", 320, 240, 800, 600},
  };
  static const struct { const char *name; int flags; } filters[] = {
      {"nearest", SWS_POINT}, {"box", SWS_AREA}, {"bilinear", SWS_BILINEAR},
      {"bicubic", SWS_BICUBIC}, {"lanczos3", SWS_LANCZOS},
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
      struct SwsContext *context = sws_getContext(
          cases[c].sw, cases[c].sh, AV_PIX_FMT_RGB0, cases[c].dw, cases[c].dh, AV_PIX_FMT_RGB0,
          filters[f].flags | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP, NULL, NULL,
          NULL);
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

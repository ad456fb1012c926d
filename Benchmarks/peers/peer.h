// Shared by the peer programs: reading the file, and the best of several runs.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline void report(int frames, double best) { printf("frames=%d ms=%.3f\n", frames, best * 1e3); }

static inline int measure(int count, char **words, int (*decode)(const uint8_t *, size_t)) {
  FILE *file = count > 1 ? fopen(words[1], "rb") : NULL;
  if (!file) return 2;
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  rewind(file);
  uint8_t *bytes = malloc(size);
  if (fread(bytes, 1, size, file) != size) return 1;
  int repeats = count > 2 ? atoi(words[2]) : 3, frames = 0;
  double best = 1e9;
  for (int run = 0; run < repeats; run++) {
    double start = seconds();
    frames = decode(bytes, size);
    double time = seconds() - start;
    if (time < best) best = time;
  }
  report(frames, best);
  return 0;
}

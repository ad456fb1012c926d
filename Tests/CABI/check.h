/* Counts checks, and those that fail, on any thread. The file with `main` defines the counts. */
#include <stdatomic.h>
#include <stdio.h>

extern atomic_int checks, failures;
#define CHECK(condition)                                                              \
  do {                                                                                \
    checks++;                                                                         \
    if (!(condition)) {                                                               \
      failures++;                                                                     \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);         \
    }                                                                                 \
  } while (0)

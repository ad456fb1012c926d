/* Counts checks, and those that fail. */
#include <stdio.h>

static int checks, failures;
#define CHECK(condition)                                                              \
  do {                                                                                \
    checks++;                                                                         \
    if (!(condition)) {                                                               \
      failures++;                                                                     \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);         \
    }                                                                                 \
  } while (0)

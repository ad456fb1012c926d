// Throws through a shared object and the program, both of which find their tables with Scripts/older-glibc.c.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#ifdef IN_LIBRARY
__attribute__((visibility("default"))) int catches(int depth) {
  if (depth > 0) return catches(depth - 1) + 1;
  try {
    throw std::runtime_error("thrown");
  } catch (const std::exception &) {
    return 1;
  }
}
#else
int catches(int depth);
extern "C" float hypotf(float, float);

static void throws(int depth) {
  if (depth == 0) throw std::runtime_error("thrown");
  throws(depth - 1);
}

int main() {
  int caught = 0;
  for (int round = 0; round < 100; round++) {
    try {
      throws(round);
    } catch (const std::exception &) {
      caught++;
    }
  }
  volatile float large = 3e38f, infinite = INFINITY, none = NAN, three = 3, four = 4;
  bool sums = hypotf(three, four) == 5 && hypotf(large, 0) == large && hypotf(none, infinite) == INFINITY &&
              std::isnan(hypotf(none, four)) && hypotf(large, large) == INFINITY;
  if (caught != 100 || catches(20) != 21 || !sums) {
    std::fprintf(stderr, "%d exceptions caught, %d in the library, hypotf %d\n", caught, catches(20), sums);
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
#endif

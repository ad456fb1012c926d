#include "zt_memory.h"

#include <limits.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

void zt_return_freed_blocks(size_t count) {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, count > INT_MAX ? INT_MAX : (int)count);
#else
  (void)count;
#endif
}

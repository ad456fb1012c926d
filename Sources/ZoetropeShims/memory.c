#define _GNU_SOURCE
#include "zt_memory.h"

#include <limits.h>
#include <sys/uio.h>
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

bool zt_is_cached(int descriptor, int64_t offset, size_t count) {
#ifdef RWF_NOWAIT
  enum { most = 1 << 18, step = 1 << 14 };
  char bytes[step];
  if (count > most) return false;
  while (count > 0) {
    struct iovec part = {bytes, count < step ? count : step};
    ssize_t done = preadv2(descriptor, &part, 1, offset, RWF_NOWAIT);
    if (done <= 0) return false;
    offset += done;
    count -= (size_t)done;
  }
  return true;
#else
  (void)descriptor, (void)offset;
  return count == 0;
#endif
}

#define _GNU_SOURCE
#include "zt_file.h"

#include <errno.h>
#include <fcntl.h>

int zt_lock_byte(int descriptor, int64_t offset, int kind) {
#ifdef F_OFD_SETLK
  static const short types[] = {F_UNLCK, F_RDLCK, F_WRLCK};
  struct flock request = {
      .l_type = types[kind], .l_whence = SEEK_SET, .l_start = offset, .l_len = 1};
  int result;
  do result = fcntl(descriptor, F_OFD_SETLK, &request);
  while (result != 0 && errno == EINTR);
  if (result == 0) return 0;
  return errno == EACCES ? EAGAIN : errno;
#else
  (void)descriptor, (void)offset, (void)kind;
  return ENOSYS;
#endif
}

void zt_punch_hole(int descriptor, int64_t offset, int64_t count) {
#ifdef FALLOC_FL_PUNCH_HOLE
  (void)!fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, count);
#else
  (void)descriptor, (void)offset, (void)count;
#endif
}

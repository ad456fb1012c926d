#define _GNU_SOURCE
#include "zt_system.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

bool zt_is_raised(const int32_t *flag) { return __atomic_load_n(flag, __ATOMIC_RELAXED) != 0; }

int zt_processor_count(void) {
#ifdef CPU_ALLOC
  // The system rejects a set that is too small for the maximum number of processors, so try larger sets.
  for (int most = 1024; most <= 1 << 20; most *= 2) {
    cpu_set_t *set = CPU_ALLOC(most);
    if (!set) break;
    size_t size = CPU_ALLOC_SIZE(most);
    int result = sched_getaffinity(0, size, set), error = errno;
    int count = result == 0 ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (count > 0) return count;
    if (result == 0 || error != EINVAL) break;
  }
#endif
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online < 1 ? 1 : (int)online;
}

void zt_write_byte(int descriptor) {
  if (write(descriptor, "", 1) < 0) return;
}

int zt_open_unnamed(const char *directory) {
#ifdef O_TMPFILE
  return open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#else
  (void)directory;
  errno = ENOSYS;
  return -1;
#endif
}

int zt_open_pipe_again(int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) != 0 || !S_ISFIFO(status.st_mode)) return -1;
  // Reject the write end of a pipe, because /proc would allow even that to be opened for reading.
  int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) == O_WRONLY) return -1;
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

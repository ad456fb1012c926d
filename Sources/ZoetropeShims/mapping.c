#define _GNU_SOURCE
#include "zt_mapping.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

// Files being scanned, one at a time by each of a few threads, and the frame tables that are open.
enum { zt_slot_count = 64 };

// What the handler looks at. `start` is 0 in a slot that is free; `end` is set before it, and both
// are sound for as long as anybody may touch the mapping.
typedef struct {
  _Atomic uintptr_t start, end;
  atomic_bool has_gap;
} zt_slot;

static zt_slot zt_slots[zt_slot_count];
static pthread_mutex_t zt_lock = PTHREAD_MUTEX_INITIALIZER;
static int zt_used;
static struct sigaction zt_previous;
static uintptr_t zt_page_mask;

// What the system maps round a fault by itself is 64 KiB at most; less where pages are not in memory.
enum { zt_step = 1 << 16 };

// Runs in the thread that faulted, at the very instruction. mmap is no more than a system call, and
// errno is put back, so nothing here may be in the middle of anything. Two threads may be here for
// one page; the second replaces zeros by zeros.
static void zt_handle(int number, siginfo_t *info, void *context) {
  uintptr_t address = (uintptr_t)info->si_addr;
  for (int index = 0; index < zt_slot_count; index++) {
    zt_slot *slot = &zt_slots[index];
    uintptr_t start = atomic_load(&slot->start), end = atomic_load(&slot->end);
    if (start == 0 || address < start || address >= end) continue;
    int error = errno;
    // All of the rest: what lies behind a page that is gone is gone too, or will not be used.
    uintptr_t page = address & zt_page_mask;
    void *filled = mmap((void *)page, end - page, PROT_READ,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    errno = error;
    if (filled == MAP_FAILED) break;
    atomic_store(&slot->has_gap, true);
    return;
  }
  if (zt_previous.sa_flags & SA_SIGINFO) {
    zt_previous.sa_sigaction(number, info, context);
  } else if (zt_previous.sa_handler != SIG_DFL && zt_previous.sa_handler != SIG_IGN) {
    zt_previous.sa_handler(number);
  } else {
    // The instruction runs again on return, and now ends the process as it would have.
    signal(SIGBUS, SIG_DFL);
  }
}

static zt_slot *zt_find(uintptr_t start) {
  for (int index = 0; index < zt_slot_count; index++)
    if (atomic_load(&zt_slots[index].start) == start) return &zt_slots[index];
  return NULL;
}

// Whether a few pages from all over the mapping are in memory. True as well where the system does not
// tell, as of other people's files.
static bool zt_is_in_memory(uint8_t *bytes, size_t count) {
  enum { probes = 16 };
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  for (size_t index = 0; index < probes; index++) {
    unsigned char state = 1;
    size_t offset = (count - 1) / (probes - 1) * index;
    if (mincore(bytes + offset / page * page, 1, &state) == 0 && !(state & 1)) return false;
  }
  return true;
}

static const uint8_t *zt_map_guarded(int descriptor, size_t count, bool for_scan) {
  if (count == 0) return NULL;
  pthread_mutex_lock(&zt_lock);
  zt_slot *slot = zt_find(0);
  void *bytes = slot ? mmap(NULL, count, PROT_READ, MAP_SHARED, descriptor, 0) : MAP_FAILED;
  if (bytes != MAP_FAILED && for_scan && !zt_is_in_memory(bytes, count)) {
    munmap(bytes, count);
    bytes = MAP_FAILED;
  }
  if (bytes != MAP_FAILED) {
    // Should parts of it not be in memory after all, more is read ahead.
    if (for_scan) madvise(bytes, count, MADV_SEQUENTIAL);
    if (zt_used++ == 0) {
      zt_page_mask = ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
      struct sigaction action = {.sa_sigaction = zt_handle, .sa_flags = SA_SIGINFO};
      sigemptyset(&action.sa_mask);
      // Known before the handler can run.
      sigaction(SIGBUS, NULL, &zt_previous);
      sigaction(SIGBUS, &action, NULL);
    }
    atomic_store(&slot->has_gap, false);
    atomic_store(&slot->end, (uintptr_t)bytes + count);
    atomic_store(&slot->start, (uintptr_t)bytes);
  }
  pthread_mutex_unlock(&zt_lock);
  return bytes == MAP_FAILED ? NULL : bytes;
}

const uint8_t *zt_map(int descriptor, size_t count) { return zt_map_guarded(descriptor, count, true); }

const uint8_t *zt_map_table(int descriptor, size_t count) {
  return zt_map_guarded(descriptor, count, false);
}

void zt_unmap(const uint8_t *bytes) {
  pthread_mutex_lock(&zt_lock);
  zt_slot *slot = zt_find((uintptr_t)bytes);
  if (slot) {
    // First, since the next mapping of anybody may get this address.
    atomic_store(&slot->start, 0);
    munmap((void *)bytes, atomic_load(&slot->end) - (uintptr_t)bytes);
    if (--zt_used == 0) sigaction(SIGBUS, &zt_previous, NULL);
  }
  pthread_mutex_unlock(&zt_lock);
}

bool zt_map_has_gap(const uint8_t *bytes) {
  zt_slot *slot = zt_find((uintptr_t)bytes);
  return slot && atomic_load(&slot->has_gap);
}

void zt_map_unblock(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGBUS);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void zt_map_touch(const uint8_t *bytes, size_t start, size_t end) {
  for (size_t offset = start; offset < end; offset += zt_step)
    (void)*(const volatile uint8_t *)(bytes + offset);
}

void zt_map_release(const uint8_t *bytes, size_t start, size_t end) {
  if (start < end) madvise((void *)(bytes + start), end - start, MADV_DONTNEED);
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

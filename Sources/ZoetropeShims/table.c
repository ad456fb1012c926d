#define _GNU_SOURCE
#include "zt_table.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

enum { zt_slot_count = 64 };

// The handler's view of a mapping. `start` is 0 in a free slot; `end` is set before it, and both
// are valid as long as the mapping may be accessed.
typedef struct {
  _Atomic uintptr_t start, end;
  atomic_bool has_gap;
} zt_slot;

static zt_slot zt_slots[zt_slot_count];
static pthread_mutex_t zt_lock = PTHREAD_MUTEX_INITIALIZER;
static int zt_used;
// Whether the handler was installed, even if the host has since installed one over it.
static bool zt_is_installed;
static struct sigaction zt_previous;
static uintptr_t zt_page_mask;

// Runs in the faulting thread, at the faulting instruction. mmap is a plain system call, and errno
// is restored, so nothing here can be in an inconsistent state. Two threads may fault on one page;
// the second replaces zeros with zeros.
static void zt_handle(int number, siginfo_t *info, void *context) {
  uintptr_t address = (uintptr_t)info->si_addr;
  // Otherwise a program sent the signal, and there is no address.
  bool is_fault = info->si_code > 0;
  for (int index = 0; is_fault && index < zt_slot_count; index++) {
    zt_slot *slot = &zt_slots[index];
    uintptr_t start = atomic_load(&slot->start), end = atomic_load(&slot->end);
    if (start == 0 || address < start || address >= end) continue;
    int error = errno;
    // First, since other threads read the zeros as soon as they are there.
    atomic_store(&slot->has_gap, true);
    // To the end: what follows a missing page is missing too.
    uintptr_t page = address & zt_page_mask;
    void *filled = mmap((void *)page, end - page, PROT_READ,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    errno = error;
    if (filled == MAP_FAILED) break;
    return;
  }
  if (zt_previous.sa_flags & SA_SIGINFO) {
    zt_previous.sa_sigaction(number, info, context);
  } else if (zt_previous.sa_handler != SIG_DFL && zt_previous.sa_handler != SIG_IGN) {
    zt_previous.sa_handler(number);
  } else {
    if (!is_fault && zt_previous.sa_handler == SIG_IGN) return;
    // On return the instruction runs again, and now ends the process as it would have without this
    // handler. A signal that was sent has to be sent again; it arrives on return.
    signal(SIGBUS, SIG_DFL);
    if (!is_fault) raise(SIGBUS);
  }
}

static bool zt_is_default(const struct sigaction *action) {
  return !(action->sa_flags & SA_SIGINFO) &&
         (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN);
}

// Installs the handler unless it is. Called with the lock.
static void zt_install(void) {
  // Once: the handler may be reading it.
  if (zt_page_mask == 0) zt_page_mask = ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
  // SA_ONSTACK: the host may run its threads on small stacks with an alternate signal stack.
  struct sigaction action = {.sa_sigaction = zt_handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  struct sigaction current;
  sigaction(SIGBUS, NULL, &current);
  // If the host has set a handler over this one, which may chain to it, keep the original previous
  // one. If the host has set none instead, nothing chains.
  if (zt_is_installed && !zt_is_default(&current)) return;
  // Saved before the handler can run.
  zt_previous = current;
  sigaction(SIGBUS, &action, NULL);
  zt_is_installed = true;
}

static zt_slot *zt_find(uintptr_t start) {
  for (int index = 0; index < zt_slot_count; index++)
    if (atomic_load(&zt_slots[index].start) == start) return &zt_slots[index];
  return NULL;
}

const uint8_t *zt_map(int descriptor, size_t count) {
  if (count == 0) return NULL;
  pthread_mutex_lock(&zt_lock);
  zt_slot *slot = zt_find(0);
  void *bytes = slot ? mmap(NULL, count, PROT_READ, MAP_SHARED, descriptor, 0) : MAP_FAILED;
  if (bytes != MAP_FAILED) {
    zt_used++;
    zt_install();
    atomic_store(&slot->has_gap, false);
    atomic_store(&slot->end, (uintptr_t)bytes + count);
    atomic_store(&slot->start, (uintptr_t)bytes);
  }
  pthread_mutex_unlock(&zt_lock);
  return bytes == MAP_FAILED ? NULL : bytes;
}

void zt_unmap(const uint8_t *bytes) {
  pthread_mutex_lock(&zt_lock);
  zt_slot *slot = zt_find((uintptr_t)bytes);
  if (slot) {
    // First, since the next mapping in the process may get this address.
    atomic_store(&slot->start, 0);
    munmap((void *)bytes, atomic_load(&slot->end) - (uintptr_t)bytes);
    if (--zt_used == 0) {
      // A handler installed over this one stays; it may chain to this one, which then passes on.
      struct sigaction current;
      sigaction(SIGBUS, NULL, &current);
      if ((current.sa_flags & SA_SIGINFO) && current.sa_sigaction == zt_handle) {
        sigaction(SIGBUS, &zt_previous, NULL);
        zt_is_installed = false;
      }
    }
  }
  pthread_mutex_unlock(&zt_lock);
}

bool zt_map_has_gap(const uint8_t *bytes) {
  zt_slot *slot = zt_find((uintptr_t)bytes);
  return slot && atomic_load(&slot->has_gap);
}

void zt_will_need(const void *bytes, size_t count) {
  uintptr_t start = (uintptr_t)bytes & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
  madvise((void *)start, (uintptr_t)bytes + count - start, MADV_WILLNEED);
}

void zt_will_scatter(const void *bytes, size_t count) {
  madvise((void *)bytes, count, MADV_RANDOM);
}

void zt_touch(const void *bytes, size_t count) {
  // Volatile, or the compiler drops the reads.
  const volatile uint8_t *at = bytes, *end = at + count;
  for (; at < end; at += 4096) (void)*at;
}

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

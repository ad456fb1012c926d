#define _GNU_SOURCE
#include "zt_table.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { zt_slot_count = 64 };

// A slot of the table in which the handler looks up mappings. `start` is 0 in a free slot. `sequence` is odd while
// `start` and `end` are changing.
typedef struct {
  _Atomic uint32_t sequence;
  _Atomic uintptr_t start, end;
  atomic_bool has_gap;
} zt_slot;

static zt_slot zt_slots[zt_slot_count];
static pthread_mutex_t zt_lock = PTHREAD_MUTEX_INITIALIZER;
static int zt_used;
// Whether the handler was installed. It stays true if the host program has since installed another handler over it.
static bool zt_is_installed;
// The action for SIGBUS outside mappings. The current entry is never changed in place, because a handler may be reading
// it. Instead, the other entry is written and then becomes the current one.
static struct sigaction zt_actions[2];
static _Atomic int zt_action;
static uintptr_t zt_page_mask;

// Sets the action for SIGBUS outside mappings. Must be called with the lock held, or in a handler.
static void zt_set_previous(const struct sigaction *action) {
  int other = 1 - atomic_load(&zt_action);
  zt_actions[other] = *action;
  atomic_store(&zt_action, other);
}

// Replaces the page at `address` with zeros. If that fails, replaces all pages from that page to `end`.
static bool zt_fill(uintptr_t address, uintptr_t end) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  uintptr_t page = address & zt_page_mask, size = ~zt_page_mask + 1;
  // Replace only one page, because the pages after an unreadable sector are intact, and bitmaps may be using them. The
  // pages after the end of a truncated file fault one by one, and the system merges their mappings.
  if (mmap((void *)page, size, PROT_READ, flags, -1, 0) != MAP_FAILED) return true;
  // The process has too many mappings to split another one.
  return mmap((void *)page, end - page, PROT_READ, flags, -1, 0) != MAP_FAILED;
}

#ifdef DEBUG
// A change that a test makes to a slot between the loads of its start and its end. It happens once, in the thread that
// requested it.
static _Thread_local struct {
  zt_slot *slot;
  uintptr_t start, end;
} zt_change;
static void zt_set_range(zt_slot *slot, uintptr_t start, uintptr_t end);

static void zt_make_change(zt_slot *slot) {
  if (slot != zt_change.slot) return;
  zt_change.slot = NULL;
  zt_set_range(slot, zt_change.start, zt_change.end);
}
#else
static void zt_make_change(zt_slot *slot) { (void)slot; }
#endif

// Returns the slot of the mapping that contains `address`, or NULL.
//
// A slot that changes while it is read is skipped. It cannot be the right one, because the mapping in which this thread
// faulted is in use, and the slot of a mapping in use does not change. Without `sequence`, the start of one mapping and
// the end of a later mapping in the same slot could enclose a third mapping.
static zt_slot *zt_find_around(uintptr_t address) {
  for (int index = 0; index < zt_slot_count; index++) {
    zt_slot *slot = &zt_slots[index];
    uint32_t sequence = atomic_load(&slot->sequence);
    uintptr_t start = atomic_load(&slot->start);
    zt_make_change(slot);
    uintptr_t end = atomic_load(&slot->end);
    if (sequence % 2 != 0 || atomic_load(&slot->sequence) != sequence) continue;
    if (start != 0 && address >= start && address < end) return slot;
  }
  return NULL;
}

// Replaces the missing page at `address` with zeros. Returns false if `address` lies in no mapping, or if the
// replacement fails.
static bool zt_mend(uintptr_t address) {
  zt_slot *slot = zt_find_around(address);
  if (!slot) return false;
  // Set the flag first, because other threads can read the zeros as soon as these appear.
  atomic_store(&slot->has_gap, true);
  return zt_fill(address, atomic_load(&slot->end));
}

// Calls the handler of `previous` as the system would have called it if it were installed. Honours its mask, SA_NODEFER
// and SA_RESETHAND.
static void zt_call(const struct sigaction *previous, int number, siginfo_t *info, void *context) {
  if (previous->sa_flags & SA_RESETHAND) {
    // A handler may raise the signal again to end the process. It must then not be called a second time.
    struct sigaction once = {.sa_handler = SIG_DFL};
    zt_set_previous(&once);
  }
  sigset_t blocked = previous->sa_mask, bus, old;
  sigemptyset(&bus);
  sigaddset(&bus, SIGBUS);
  pthread_sigmask(SIG_BLOCK, &blocked, &old);
  if (previous->sa_flags & SA_NODEFER) pthread_sigmask(SIG_UNBLOCK, &bus, NULL);
  if (previous->sa_flags & SA_SIGINFO)
    previous->sa_sigaction(number, info, context);
  else
    previous->sa_handler(number);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static bool zt_is_default(const struct sigaction *action) {
  return !(action->sa_flags & SA_SIGINFO) &&
         (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN);
}

// The SIGBUS handler. It runs in the faulting thread, at the faulting instruction. It makes only plain system calls and
// restores errno, so it neither depends on nor leaves behind any inconsistent state. If two threads fault on the same
// page, the second replaces zeros with zeros.
static void zt_handle(int number, siginfo_t *info, void *context) {
  int error = errno;
  // If `si_code` is not positive, a program has sent the signal, and there is no address.
  bool is_fault = info->si_code > 0;
  if (!(is_fault && zt_mend((uintptr_t)info->si_addr))) {
    struct sigaction previous = zt_actions[atomic_load(&zt_action)];
    if (!zt_is_default(&previous)) {
      zt_call(&previous, number, info, context);
    } else if (is_fault || previous.sa_handler == SIG_DFL) {
      // When the handler returns, the instruction runs again and ends the process, as it would have done without this
      // handler. A signal that a program has sent must be raised again, and arrives when the handler returns.
      signal(SIGBUS, SIG_DFL);
      if (!is_fault) raise(SIGBUS);
    }
  }
  errno = error;
}

// Returns whether `current`, the action that the system has for SIGBUS, is this handler.
static bool zt_is_on_top(const struct sigaction *current) {
  return (current->sa_flags & SA_SIGINFO) && current->sa_sigaction == zt_handle;
}

// Installs the handler unless it is already installed. Must be called with the lock held.
static void zt_install(void) {
  // Set the mask only once, because the handler may be reading it.
  if (zt_page_mask == 0) zt_page_mask = ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
  // SA_ONSTACK is set because the host program may run threads on small stacks with an alternate signal stack.
  struct sigaction action = {.sa_sigaction = zt_handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  struct sigaction current;
  sigaction(SIGBUS, NULL, &current);
  // If the host program has installed a handler over this one, that handler may call this one, so keep the original
  // previous handler. If it has reset the action to the default instead, nothing calls this handler, so install it
  // again.
  if (zt_is_installed && !zt_is_default(&current)) return;
  // Save the previous action before the handler can run.
  zt_set_previous(&current);
  sigaction(SIGBUS, &action, NULL);
  zt_is_installed = true;
}

void zt_set_bus_handler(void (*handler)(int), int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, current;
  sigemptyset(&action.sa_mask);
  pthread_mutex_lock(&zt_lock);
  sigaction(SIGBUS, NULL, &current);
  if (zt_is_on_top(&current))
    zt_set_previous(&action);
  else
    sigaction(SIGBUS, &action, NULL);
  pthread_mutex_unlock(&zt_lock);
}

static zt_slot *zt_find(uintptr_t start) {
  for (int index = 0; index < zt_slot_count; index++)
    if (atomic_load(&zt_slots[index].start) == start) return &zt_slots[index];
  return NULL;
}

// Sets the range of a slot. Must be called with the lock held.
static void zt_set_range(zt_slot *slot, uintptr_t start, uintptr_t end) {
  atomic_fetch_add(&slot->sequence, 1);
  atomic_store(&slot->start, start);
  atomic_store(&slot->end, end);
  atomic_fetch_add(&slot->sequence, 1);
}

#ifdef DEBUG
void zt_set_range_for_test(const uint8_t *bytes, size_t count, const uint8_t *next, bool is_late) {
  pthread_mutex_lock(&zt_lock);
  zt_slot *slot = zt_find((uintptr_t)bytes);
  uintptr_t start = (uintptr_t)next;
  if (slot && is_late) {
    zt_change.start = start;
    zt_change.end = start + count;
    zt_change.slot = slot;
  } else if (slot) {
    zt_set_range(slot, start, start + count);
  }
  pthread_mutex_unlock(&zt_lock);
}

bool zt_is_mapped(const void *address) { return zt_find_around((uintptr_t)address) != NULL; }
#endif

const uint8_t *zt_map(int descriptor, size_t count) {
  if (count == 0) return NULL;
  pthread_mutex_lock(&zt_lock);
  zt_slot *slot = zt_find(0);
  void *bytes = slot ? mmap(NULL, count, PROT_READ, MAP_SHARED, descriptor, 0) : MAP_FAILED;
  if (bytes != MAP_FAILED) {
    zt_used++;
    zt_install();
    atomic_store(&slot->has_gap, false);
    zt_set_range(slot, (uintptr_t)bytes, (uintptr_t)bytes + count);
  }
  pthread_mutex_unlock(&zt_lock);
  return bytes == MAP_FAILED ? NULL : bytes;
}

void zt_unmap(const uint8_t *bytes) {
  pthread_mutex_lock(&zt_lock);
  zt_slot *slot = zt_find((uintptr_t)bytes);
  if (slot) {
    size_t count = atomic_load(&slot->end) - (uintptr_t)bytes;
    // Free the slot before the memory is unmapped, because the next mapping of the process may get the same address.
    zt_set_range(slot, 0, 0);
    munmap((void *)bytes, count);
    if (--zt_used == 0) {
      // A handler that was installed over this one stays. It may call this one, which then passes signals on.
      struct sigaction current;
      sigaction(SIGBUS, NULL, &current);
      if (zt_is_on_top(&current)) {
        sigaction(SIGBUS, &zt_actions[atomic_load(&zt_action)], NULL);
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
  // The pointers are volatile, because the compiler would otherwise drop the reads.
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

int zt_punch_hole(int descriptor, int64_t offset, int64_t count) {
#ifdef FALLOC_FL_PUNCH_HOLE
  int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  return fallocate(descriptor, mode, offset, count) == 0 ? 0 : errno;
#else
  (void)descriptor, (void)offset, (void)count;
  return ENOSYS;
#endif
}

int64_t zt_find_hole(int descriptor, int64_t offset) {
#ifdef SEEK_HOLE
  return lseek(descriptor, offset, SEEK_HOLE);
#else
  (void)descriptor, (void)offset;
  return -1;
#endif
}

int64_t zt_file_size_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur > INT64_MAX) return INT64_MAX;
  return (int64_t)limit.rlim_cur;
}

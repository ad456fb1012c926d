/* Thread sanitizer runs only: tells the sanitizer about the contended path of Swift's `Mutex`, which
   lies in libswiftSynchronization, is not instrumented, and so looks like no lock at all: a program
   of ten lines that does nothing but count under a Mutex is reported as a race without this.
   Build: clang -O1 -shared -fPIC -o mutex_hints.so mutex_hints.c -ldl; run with LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self
typedef SWIFT void (*LockSlow)(uint32_t, SELF);
typedef SWIFT void (*UnlockSlow)(SELF);
typedef SWIFT _Bool (*TryLockSlow)(SELF);
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
SWIFT void lock_slow(uint32_t id, SELF) __asm__(LOCK);
SWIFT void lock_slow(uint32_t id, SELF) {
  static LockSlow real;
  if (!real) real = (LockSlow)dlsym(RTLD_NEXT, LOCK);
  real(id, self);
  if (__tsan_acquire) __tsan_acquire(self);
}
SWIFT void unlock_slow(SELF) __asm__(UNLOCK);
SWIFT void unlock_slow(SELF) {
  static UnlockSlow real;
  if (!real) real = (UnlockSlow)dlsym(RTLD_NEXT, UNLOCK);
  if (__tsan_release) __tsan_release(self);
  real(self);
}

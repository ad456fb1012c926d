// Interposes system calls of a program, and lets them fail in realistic ways: see IOFaultTests.swift.
//
//   clang -shared -fPIC -o faults.so faults.c -ldl; LD_PRELOAD=./faults.so FAULT=short zoetrope ...
//
// FAULT is one of: interrupt (every other call ends with EINTR), short (a few bytes at a time), both,
// stuck (opening a file that is called *.gif never ends, whatever signal handlers there are),
// read:N and write:N (EIO and ENOSPC from byte N on), close, link (the calls that give a file its name),
// signal:N (SIGINT comes at read number N of a file, from 0 on), signal-write:S (signal S comes at the first write to a
// regular file), thread:N (no thread starts after N of them).
// Standard input, output and error count like any file; libraries are mapped, not read.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int interrupts, shortens, fails_close, fails_link, sticks, write_signal;
static long read_limit = -1, write_limit = -1, signal_place = -1, thread_limit = -1;
static atomic_long file_reads, calls, threads, bytes_read, bytes_written;

__attribute__((constructor)) static void prepare(void) {
  const char *fault = getenv("FAULT");
  if (fault == NULL) return;
  interrupts = strcmp(fault, "interrupt") == 0 || strcmp(fault, "both") == 0;
  shortens = strcmp(fault, "short") == 0 || strcmp(fault, "both") == 0;
  fails_close = strcmp(fault, "close") == 0;
  fails_link = strcmp(fault, "link") == 0;
  sticks = strcmp(fault, "stuck") == 0;
  if (strncmp(fault, "read:", 5) == 0) read_limit = atol(fault + 5);
  if (strncmp(fault, "write:", 6) == 0) write_limit = atol(fault + 6);
  if (strncmp(fault, "signal:", 7) == 0) signal_place = atol(fault + 7);
  if (strncmp(fault, "signal-write:", 13) == 0) write_signal = atoi(fault + 13);
  if (strncmp(fault, "thread:", 7) == 0) thread_limit = atol(fault + 7);
}

// Whether a signal interrupts this call.
static int is_interrupted(void) {
  if (!interrupts || atomic_fetch_add(&calls, 1) % 2 != 0) return 0;
  errno = EINTR;
  return 1;
}

static size_t shortened(size_t count) {
  if (!shortens || count < 2) return count;
  size_t most = 1 + (size_t)atomic_fetch_add(&calls, 1) % 97;
  return count < most ? count : most;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

// As if a file server is gone: only the end of the process ends the call.
int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, int);
  va_end(rest);
  size_t length = strlen(path);
  if (sticks && length > 4 && strcmp(path + length - 4, ".gif") == 0) {
    write(2, "stuck\n", 6);
    while (1) pause();
  }
  return NEXT(open)(path, flags, mode);
}

ssize_t read(int file, void *bytes, size_t count) {
  if (is_interrupted()) return -1;
  if (read_limit >= 0 && atomic_load(&bytes_read) >= read_limit) return errno = EIO, -1;
  ssize_t done = NEXT(read)(file, bytes, shortened(count));
  if (done > 0) atomic_fetch_add(&bytes_read, done);
  return done;
}

ssize_t pread(int file, void *bytes, size_t count, off_t offset) {
  if (is_interrupted()) return -1;
  // To the process, so that any thread may get it, as from a terminal.
  if (signal_place >= 0 && atomic_fetch_add(&file_reads, 1) == signal_place) kill(getpid(), SIGINT);
  if (read_limit >= 0 && offset + (off_t)count > read_limit) {
    if (offset >= read_limit) return errno = EIO, -1;
    count = (size_t)(read_limit - offset);
  }
  return NEXT(pread)(file, bytes, shortened(count), offset);
}

ssize_t pread64(int file, void *bytes, size_t count, off_t offset) {
  return pread(file, bytes, count, offset);
}

ssize_t write(int file, const void *bytes, size_t count) {
  if (is_interrupted()) return -1;
  struct stat status;
  int is_file = file > 2 && fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  if (write_signal > 0 && is_file && atomic_fetch_add(&calls, 1) == 0) kill(getpid(), write_signal);
  if (write_limit >= 0 && file > 2) {
    long left = write_limit - atomic_load(&bytes_written);
    if (left <= 0) return errno = ENOSPC, -1;
    if ((long)count > left) count = (size_t)left;
  }
  ssize_t done = NEXT(write)(file, bytes, shortened(count));
  if (done > 0 && file > 2) atomic_fetch_add(&bytes_written, done);
  return done;
}

int poll(struct pollfd *files, nfds_t count, int timeout) {
  if (is_interrupted()) return -1;
  return NEXT(poll)(files, count, timeout);
}

int sem_wait(sem_t *semaphore) {
  if (is_interrupted()) return -1;
  return NEXT(sem_wait)(semaphore);
}

int close(int file) {
  int result = NEXT(close)(file);
  if (!fails_close || file <= 2) return result;
  errno = EIO;
  return -1;
}

int link(const char *from, const char *to) {
  if (fails_link) return errno = EIO, -1;
  return NEXT(link)(from, to);
}

int rename(const char *from, const char *to) {
  if (fails_link) return errno = EIO, -1;
  return NEXT(rename)(from, to);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
  // libdispatch tries again until there is one.
  Dl_info caller;
  int is_ours = dladdr(__builtin_return_address(0), &caller) && strstr(caller.dli_fname, "libdispatch") == NULL;
  if (thread_limit >= 0 && is_ours && atomic_fetch_add(&threads, 1) >= thread_limit) return EAGAIN;
  return NEXT(pthread_create)(thread, attributes, start, argument);
}

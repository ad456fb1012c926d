// read_floor FILE: measures the minimum time of reading a file from the system's cache without processing it. The file
// is copied in pieces of 256 KiB and 1 MiB, and mapped, reading one byte in 256, by one thread and by two with half of
// the file each. Prints the best of 9, in milliseconds.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static int file, threads;
static size_t size, piece;
static const unsigned char *mapped;
static volatile unsigned long sum;

static double milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static void *part(void *number) {
  size_t each = size / (size_t)threads, start = each * (size_t)number;
  size_t end = (long)number == threads - 1 ? size : start + each;
  unsigned long seen = 0;
  if (mapped) {
    for (size_t at = start; at < end; at += 256) seen += mapped[at];
  } else {
    unsigned char *buffer = malloc(piece);
    for (size_t at = start; at < end;) {
      ssize_t count = pread(file, buffer, end - at < piece ? end - at : piece, (off_t)at);
      if (count <= 0) break;
      for (ssize_t byte = 0; byte < count; byte += 256) seen += buffer[byte];
      at += (size_t)count;
    }
    free(buffer);
  }
  sum += seen;
  return NULL;
}

// Starts a thread on the other processor, because the system may queue it behind this one for milliseconds.
static void start_elsewhere(pthread_t *thread) {
  cpu_set_t others;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (sched_getaffinity(0, sizeof others, &others) == 0) {
    CPU_CLR(sched_getcpu(), &others);
    if (CPU_COUNT(&others) > 0) pthread_attr_setaffinity_np(&attributes, sizeof others, &others);
  }
  if (pthread_create(thread, &attributes, part, (void *)1L) != 0) abort();
  pthread_attr_destroy(&attributes);
}

static double best(int count, size_t bytes) {
  threads = count;
  piece = bytes;
  double least = 1e9;
  for (int run = 0; run < 9; run++) {
    double start = milliseconds();
    if (!bytes) mapped = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
    pthread_t other;
    if (count == 2) start_elsewhere(&other);
    part((void *)0L);
    if (count == 2) pthread_join(other, NULL);
    if (mapped) munmap((void *)mapped, size);
    mapped = NULL;
    double time = milliseconds() - start;
    if (time < least) least = time;
  }
  return least;
}

int main(int count, char **words) {
  if (count < 2 || (file = open(words[1], O_RDONLY)) < 0) return 2;
  size = (size_t)lseek(file, 0, SEEK_END);
  printf("copy=%.2f,%.2f copy1M=%.2f,%.2f map=%.2f,%.2f\n", best(1, 1 << 18), best(2, 1 << 18),
         best(1, 1 << 20), best(2, 1 << 20), best(1, 0), best(2, 0));
  return 0;
}

/* Limits how many test cases Swift Testing runs at the same time, and lets them open more files.

   Without a limit it starts every case at once. Each case's time limit then counts the time that the
   case waits for a processor, so on a machine with few processors the limits end tests that have
   barely run. With a limit, a case waits for its turn before its time limit begins.

   Swift Testing reads the limit from the environment and offers no setting in a package manifest, so
   this constructor sets it before `main`. A value that the environment already has is kept.

   The library closes idle files, of whichever test, when few descriptors are left. Many cases and
   pipes to programs come near the usual limit of 1024, and tests count the files that stay open.
   Programs that are to have few descriptors are given a limit of their own.

   The programs that tests start inherit the environment: an empty ZOETROPE_CONFIG keeps them from
   reading the configuration file of whoever runs the tests. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "ParallelWidth.h"
#include "zt_system.h"

__attribute__((constructor)) static void limit_parallel_cases(void) {
  /* Most cases wait for child processes, timers or their turn to start programs; three times the
     processors keeps those busy, also beside other programs. No more than 24: a container may have
     the time of far fewer processors than it sees. */
  int cases = 3 * zt_processor_count();
  if (cases < 3) cases = 3;
  if (cases > 24) cases = 24;
  char width[24];
  snprintf(width, sizeof width, "%d", cases);
  setenv("ZOETROPE_CONFIG", "", 1);
  setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", width, 0);
}

__attribute__((constructor)) static void raise_descriptor_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  rlim_t wanted = limit.rlim_max < 8192 ? limit.rlim_max : 8192;
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  setrlimit(RLIMIT_NOFILE, &limit);
}

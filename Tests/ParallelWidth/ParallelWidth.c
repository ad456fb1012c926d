/* Limits how many test cases Swift Testing runs at the same time.

   Without a limit it starts every case at once. Each case's time limit then counts the time that the
   case waits for a processor, so on a machine with few processors the limits end tests that have
   barely run. With a limit, a case waits for its turn before its time limit begins.

   Swift Testing reads the limit from the environment and offers no setting in a package manifest, so
   this constructor sets it before `main`. A value that the environment already has is kept.

   The programs that tests start inherit the environment: an empty ZOETROPE_CONFIG keeps them from
   reading the configuration file of whoever runs the tests. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ParallelWidth.h"

__attribute__((constructor)) static void limit_parallel_cases(void) {
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  char width[24];
  /* Most cases wait for child processes, timers or their turn to start programs; three times the
     processors keeps those busy, also beside other programs. */
  snprintf(width, sizeof width, "%ld", 3 * (processors > 0 ? processors : 1));
  setenv("ZOETROPE_CONFIG", "", 1);
  setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", width, 0);
}

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

#define _GNU_SOURCE
#include "zt_thread.h"

#include <sched.h>

int zt_thread_create(pthread_t *thread, void *(*body)(void *), void *argument) {
#ifdef __GLIBC__
  cpu_set_t allowed, others;
  int here = sched_getcpu();
  pthread_attr_t attributes;
  if (here >= 0 && here < CPU_SETSIZE && sched_getaffinity(0, sizeof allowed, &allowed) == 0 &&
      CPU_COUNT(&allowed) > 1 && pthread_attr_init(&attributes) == 0) {
    others = allowed;
    CPU_CLR(here, &others);
    int status = pthread_attr_setaffinity_np(&attributes, sizeof others, &others);
    if (status == 0) status = pthread_create(thread, &attributes, body, argument);
    pthread_attr_destroy(&attributes);
    if (status == 0) {
      // Nobody has joined or detached it yet, so the handle is good. Of a thread that has ended the C
      // library knows no number and sets the mask of the calling one, to what it is.
      pthread_setaffinity_np(*thread, sizeof allowed, &allowed);
      return 0;
    }
  }
#endif
  return pthread_create(thread, NULL, body, argument);
}

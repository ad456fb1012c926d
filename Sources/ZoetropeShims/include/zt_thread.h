#pragma once
#include <pthread.h>

/// As `pthread_create`, but the thread begins on another processor than the calling one, where it may.
///
/// Some systems put a new thread behind the one that starts it, though another processor is idle, and
/// move it at the next tick of their clock, up to four milliseconds later: longer than most files take.
/// The thread may then run on the processors that the caller may use now. It does not follow when the
/// process is given others later, and the calls are refused, or worse, in some sandboxes: for a program
/// to decide about, not for a library.
int zt_thread_create(pthread_t *_Nonnull thread, void *_Nullable (*_Nonnull body)(void *_Nullable),
                     void *_Nullable argument);

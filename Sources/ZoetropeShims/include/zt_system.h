#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Returns whether `*flag` is not 0. Another thread or a signal handler may change `*flag` during the call.
bool zt_is_raised(const int32_t *flag);

/// Returns the number of processors on which the calling thread and the threads that it starts may run. The result is
/// at least 1, and ignores the quotas of control groups.
int zt_processor_count(void);

/// Writes one byte to `descriptor`. Errors are ignored, for example if the buffer of a pipe is full. This function is
/// async-signal-safe.
void zt_write_byte(int descriptor);

/// Creates and opens a file without a name in `directory`. Returns -1 and sets `errno` on failure, for example if the
/// system or the file system does not support such files.
int zt_open_unnamed(const char *directory);

/// Opens the pipe that `descriptor` refers to again, for non-blocking reads. Returns the new descriptor, or -1 if
/// `descriptor` does not refer to a pipe, is not readable, or the system refuses.
int zt_open_pipe_again(int descriptor);

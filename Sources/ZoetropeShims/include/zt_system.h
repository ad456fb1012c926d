#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Returns whether `*flag` is not 0. Another thread or a signal handler may be changing it.
bool zt_is_raised(const int32_t *flag);

/// Returns the number of processors on which the calling thread, and threads that it starts, may run: at least one.
/// Ignores quotas of control groups.
int zt_processor_count(void);

/// Writes one byte to `descriptor` and ignores errors, for example if its buffer is full. Async-signal-safe.
void zt_write_byte(int descriptor);

/// Creates and opens an unnamed file in `directory`. Returns -1 and sets `errno` if that fails, for
/// example because the system or the file system has no such files.
int zt_open_unnamed(const char *directory);

/// Opens the pipe behind `descriptor` again for non-blocking reads. Returns -1 if `descriptor` is not a pipe, cannot
/// read it either, or the system refuses.
int zt_open_pipe_again(int descriptor);

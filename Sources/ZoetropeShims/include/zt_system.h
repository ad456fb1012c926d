#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Whether `*flag`, which another thread or a signal handler may be changing, is not 0.
bool zt_is_raised(const int32_t *flag);

/// Processors that the calling thread may run on, and threads that it starts; at least one. Quotas of control
/// groups are not counted.
int zt_processor_count(void);

/// Writes one byte to `descriptor`, if that takes it at once. Async-signal-safe.
void zt_write_byte(int descriptor);

/// Makes and opens a file in `directory` that never has a name; -1 with `errno` if the file system,
/// or the system, has no such files.
int zt_open_unnamed(const char *directory);

/// Opens the pipe behind `descriptor` once more, for reads that do not block. Only what `descriptor`
/// may read itself; -1 if it is no pipe, or the system refuses.
int zt_open_pipe_again(int descriptor);

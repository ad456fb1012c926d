#pragma once
#include <stdint.h>

/// Locks the byte at `offset` of an open file description: 0 not at all, 1 shared, 2 exclusive. Does
/// not wait.
///
/// Returns 0, or the number of the error: EAGAIN when another description has a lock in the way.
int zt_lock_byte(int descriptor, int64_t offset, int kind);

/// Gives the disk space of a range back; zeros are read there afterwards. Best effort.
void zt_punch_hole(int descriptor, int64_t offset, int64_t count);

#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Maps the first `count` bytes of the regular file `descriptor` for reading, guarded: where the file is
/// truncated meanwhile, or cannot be read, zeros appear instead of SIGBUS ending the process.
///
/// Returns null when it cannot be mapped, and when 64 mappings are in use. While there is a mapping,
/// SIGBUS has a handler; faults elsewhere are passed on to the one that was there before.
const uint8_t *_Nullable zt_map(int descriptor, size_t count);

/// Ends the mapping that begins at `bytes`.
void zt_unmap(const uint8_t *_Nonnull bytes);

/// Whether zeros stand in for bytes of the mapping that begins at `bytes`.
bool zt_map_has_gap(const uint8_t *_Nonnull bytes);

/// Locks the byte at `offset` of an open file description: 0 not at all, 1 shared, 2 exclusive. Does
/// not wait.
///
/// Returns 0, or the number of the error: EAGAIN when another description has a lock in the way.
int zt_lock_byte(int descriptor, int64_t offset, int kind);

/// Gives the disk space of a range back; zeros are read there afterwards. Best effort.
void zt_punch_hole(int descriptor, int64_t offset, int64_t count);

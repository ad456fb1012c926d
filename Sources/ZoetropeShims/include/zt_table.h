#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Maps the first `count` bytes of the regular file `descriptor` for reading, with a guard. If the file is truncated
/// while it is mapped, or cannot be read, zeros replace the missing bytes. Without the guard, SIGBUS would end the
/// process.
///
/// Returns null if the file cannot be mapped, or if 64 mappings are in use. While a mapping exists, a handler for
/// SIGBUS is installed. For a fault outside all mappings, it calls the previous handler, just as the system would have
/// called it. A program that later installs a handler of its own must pass faults on to this one in the same way.
/// Alternatively, it can install its handler with `zt_set_bus_handler`.
const uint8_t *_Nullable zt_map(int descriptor, size_t count);

/// Sets the handler for SIGBUS outside mappings, like `sigaction`. While a mapping exists, `handler` becomes the
/// previous handler, which the guard calls for such faults.
void zt_set_bus_handler(void (*_Nonnull handler)(int), int flags);

/// Removes the mapping that starts at `bytes`.
void zt_unmap(const uint8_t *_Nonnull bytes);

/// Returns whether zeros have replaced bytes of the mapping that starts at `bytes`.
bool zt_map_has_gap(const uint8_t *_Nonnull bytes);

/// Advises the system to read all `count` bytes at `bytes` from the disk. Does not wait for the reads.
void zt_will_need(const void *_Nonnull bytes, size_t count);

/// Advises the system that the `count` bytes at `bytes` will be read in random order, so that it does not read ahead.
/// `bytes` must be the start of a page.
void zt_will_scatter(const void *_Nonnull bytes, size_t count);

/// Reads one byte of each memory page in the `count` bytes at `bytes`, so that the pages are loaded.
void zt_touch(const void *_Nonnull bytes, size_t count);

/// Locks or unlocks the byte at `offset`. The lock belongs to the open file description of `descriptor`. `kind` is 0 to
/// unlock, 1 for a shared lock, and 2 for an exclusive lock. Does not wait for locks of others.
///
/// Returns 0, or the error number, which is EAGAIN if another open file description has a conflicting lock.
int zt_lock_byte(int descriptor, int64_t offset, int kind);

/// Frees the disk space of the `count` bytes at `offset`, which then read as zeros. Returns 0, or the error number.
int zt_punch_hole(int descriptor, int64_t offset, int64_t count);

/// Returns the offset of the first hole at or after `offset`, or the length of the file if there is no hole. Returns -1
/// if the answer is unknown.
int64_t zt_find_hole(int descriptor, int64_t offset);

/// Returns the maximum size in bytes of files that this process may write (RLIMIT_FSIZE).
int64_t zt_file_size_limit(void);

/// Changes the table slot of the mapping at `bytes` to describe the `count` bytes at `next`. If `is_late`, the change
/// happens only when this thread next reads that slot, between the loads of its start and its end. This function exists
/// only in debug builds, for tests of the handler's lookup.
void zt_set_range_for_test(
    const uint8_t *_Nonnull bytes, size_t count, const uint8_t *_Nonnull next, bool is_late);

/// Returns whether the handler would attribute `address` to a mapping. This function exists only in debug builds.
bool zt_is_mapped(const void *_Nonnull address);

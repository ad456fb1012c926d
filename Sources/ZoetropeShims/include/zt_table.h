#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Maps the first `count` bytes of the regular file `descriptor` for reading, guarded: where the
/// file is truncated meanwhile or cannot be read, zeros appear instead of SIGBUS ending the
/// process.
///
/// Returns null if it cannot be mapped, or if 64 mappings are in use. While there is a mapping,
/// SIGBUS has a handler. It passes faults elsewhere on to the previous one, as the system would have
/// called it. A handler that the program installs over it has to do the same, or use
/// `zt_set_bus_handler`.
const uint8_t *_Nullable zt_map(int descriptor, size_t count);

/// Sets what SIGBUS does where no mapping explains it, as `sigaction` would. While there is a
/// mapping, `handler` becomes the previous one.
void zt_set_bus_handler(void (*_Nonnull handler)(int), int flags);

/// Removes the mapping that starts at `bytes`.
void zt_unmap(const uint8_t *_Nonnull bytes);

/// Whether zeros have replaced bytes of the mapping that starts at `bytes`.
bool zt_map_has_gap(const uint8_t *_Nonnull bytes);

/// Asks the system to read the `count` bytes at `bytes` from the disk, all at once, without waiting.
void zt_will_need(const void *_Nonnull bytes, size_t count);

/// Tells the system that reading one of the `count` bytes at `bytes`, a page's first, says nothing about
/// its neighbours.
void zt_will_scatter(const void *_Nonnull bytes, size_t count);

/// Reads one byte of each page of the `count` bytes at `bytes`.
void zt_touch(const void *_Nonnull bytes, size_t count);

/// Locks the byte at `offset` of an open file description: 0 unlocks, 1 is shared, 2 exclusive.
/// Does not wait.
///
/// Returns 0 or the error number: EAGAIN if another description's lock conflicts.
int zt_lock_byte(int descriptor, int64_t offset, int kind);

/// Frees the disk space of a range, which then reads as zeros. Returns 0 or the error number.
int zt_punch_hole(int descriptor, int64_t offset, int64_t count);

/// Where the first hole at or behind `offset` begins, or the end of the file; -1 if that is unknown.
int64_t zt_find_hole(int descriptor, int64_t offset);

/// The size that a file may grow to by this process's hand (RLIMIT_FSIZE).
int64_t zt_file_size_limit(void);

/// For tests of the handler's lookup, in debug builds alone: gives the slot of the mapping at `bytes` the `count` bytes at `next`
/// instead; if `is_late`, not before this thread next looks into that slot, between the two loads of
/// its range.
void zt_set_range_for_test(
    const uint8_t *_Nonnull bytes, size_t count, const uint8_t *_Nonnull next, bool is_late);

/// Whether the handler takes `address` for one of a mapping. In debug builds alone.
bool zt_is_mapped(const void *_Nonnull address);

#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Maps the first `count` bytes of the regular file `descriptor` for reading, with a guard. If the file is truncated
/// meanwhile or cannot be read, zeros replace the missing bytes, instead of SIGBUS ending the process.
///
/// Returns null if the file cannot be mapped, or if 64 mappings are in use. While a mapping exists, a handler for
/// SIGBUS is installed. It passes faults outside mappings on to the previous handler, just as the system would have
/// called it. A handler that the program installs over this one must do the same. Alternatively, install it with
/// `zt_set_bus_handler`.
const uint8_t *_Nullable zt_map(int descriptor, size_t count);

/// Sets the handler for SIGBUS outside mappings, like `sigaction`. While a mapping exists,
/// `handler` becomes the previous handler, to which the guard passes faults on.
void zt_set_bus_handler(void (*_Nonnull handler)(int), int flags);

/// Removes the mapping that starts at `bytes`.
void zt_unmap(const uint8_t *_Nonnull bytes);

/// Returns whether zeros have replaced bytes of the mapping that starts at `bytes`.
bool zt_map_has_gap(const uint8_t *_Nonnull bytes);

/// Advises the system to read all `count` bytes at `bytes` from the disk. Does not wait.
void zt_will_need(const void *_Nonnull bytes, size_t count);

/// Advises the system that the `count` bytes at `bytes` will be read in random order, so that it does not read ahead.
/// `bytes` must be the start of a page.
void zt_will_scatter(const void *_Nonnull bytes, size_t count);

/// Reads one byte of each page of the `count` bytes at `bytes`.
void zt_touch(const void *_Nonnull bytes, size_t count);

/// Locks the byte at `offset` for an open file description. `kind` is 0 to unlock, 1 for a shared
/// lock, 2 for an exclusive one. Does not wait.
///
/// Returns 0 or the error number, which is EAGAIN if another description has a conflicting lock.
int zt_lock_byte(int descriptor, int64_t offset, int kind);

/// Frees the disk space of a range, which then reads as zeros. Returns 0 or the error number.
int zt_punch_hole(int descriptor, int64_t offset, int64_t count);

/// Returns the offset of the first hole at or after `offset`, or the end of the file if there is none. Returns -1 if
/// that is unknown.
int64_t zt_find_hole(int descriptor, int64_t offset);

/// Returns the maximum size of files that this process writes (RLIMIT_FSIZE).
int64_t zt_file_size_limit(void);

/// Changes the slot of the mapping at `bytes` to the `count` bytes at `next`. If `is_late`, the change happens only
/// when this thread next reads that slot, between the two loads of its range. For tests of the handler's lookup, in
/// debug builds only.
void zt_set_range_for_test(
    const uint8_t *_Nonnull bytes, size_t count, const uint8_t *_Nonnull next, bool is_late);

/// Returns whether the handler would attribute `address` to a mapping. In debug builds only.
bool zt_is_mapped(const void *_Nonnull address);

#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Maps the first `count` bytes of the regular file `descriptor` for reading, guarded: where the
/// file ends meanwhile, or cannot be read, zeros appear instead of SIGBUS ending the process.
///
/// Returns null when it cannot be mapped, when too many mappings are in use, and when parts of the
/// file are not in memory: the system reads ahead less for a mapping than for calls that read, which
/// take half as long then. While there is a mapping, SIGBUS has a handler; faults elsewhere are
/// passed on to the one that was there before.
const uint8_t *_Nullable zt_map(int descriptor, size_t count);

/// As `zt_map`, for a table that is read here and there: also when it is not in memory.
const uint8_t *_Nullable zt_map_table(int descriptor, size_t count);

/// Ends the mapping that begins at `bytes`.
void zt_unmap(const uint8_t *_Nonnull bytes);

/// Whether zeros stand in for bytes of the mapping that begins at `bytes`.
bool zt_map_has_gap(const uint8_t *_Nonnull bytes);

/// Lets SIGBUS reach the calling thread; a fault while it is blocked ends the process.
void zt_map_unblock(void);

/// Maps the pages of bytes `start` to `end` of a mapping that are in memory already: one look in 64 KiB,
/// round which the system maps the rest.
void zt_map_touch(const uint8_t *_Nonnull bytes, size_t start, size_t end);

/// Gives the page tables of bytes `start` to `end`, whole pages, back; a later look maps them again.
void zt_map_release(const uint8_t *_Nonnull bytes, size_t start, size_t end);

/// Whether the `count` bytes of the file `descriptor` from `offset` on are in the system's file cache.
///
/// Reads them and throws them away, at most 256 KiB; false for more, past the file's end, and where the
/// system or the file system cannot say.
bool zt_is_cached(int descriptor, int64_t offset, size_t count);

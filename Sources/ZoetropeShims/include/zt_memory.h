#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Makes the allocator give blocks of `count` bytes and more back to the system when they are freed.
///
/// For the whole process, from now on. Does nothing where the C library has no such switch.
void zt_return_freed_blocks(size_t count);

/// Whether the `count` bytes of the file `descriptor` from `offset` on are in the system's file cache.
///
/// Reads them and throws them away, at most 256 KiB; false for more, past the file's end, and where the
/// system or the file system cannot say.
bool zt_is_cached(int descriptor, int64_t offset, size_t count);

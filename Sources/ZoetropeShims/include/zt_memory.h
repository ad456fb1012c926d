#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Makes the allocator return blocks of `count` bytes or more to the system when they are freed.
///
/// Affects the whole process from then on. Does nothing if the C library has no such option.
void zt_return_freed_blocks(size_t count);

/// Returns whether `count` bytes of the file `descriptor` at `offset` are in the system's file cache.
///
/// Reads and discards the bytes, at most 256 KiB. Returns false for larger ranges, for ranges past the file's end, and
/// if the system or the file system does not provide this information.
bool zt_is_cached(int descriptor, int64_t offset, size_t count);

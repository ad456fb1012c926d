#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Makes the allocator return memory blocks of `count` bytes or more to the system when they are freed.
///
/// The option applies to the whole process from then on. This function does nothing if the C library has no such
/// option.
void zt_return_freed_blocks(size_t count);

/// Returns whether `count` bytes of the file `descriptor` at `offset` are in the system's file cache.
///
/// This function reads and discards the bytes. It returns false for ranges of more than 256 KiB, for ranges past the
/// end of the file, and if the system or the file system does not provide this information.
bool zt_is_cached(int descriptor, int64_t offset, size_t count);

#pragma once
#include <stddef.h>
#include <stdint.h>

/// Makes the allocator give blocks of `count` bytes and more back to the system when they are freed.
///
/// For the whole process, from now on. Does nothing where the C library has no such switch.
void zt_return_freed_blocks(size_t count);

/// Asks the memory for `count` bytes that are read soon, the first at `bytes` and each `stride` behind the
/// one before. Nothing is read: an address that stands for nothing is passed over.
///
/// Into the second-level cache: a core waits for more lines at once that are on their way there than for
/// such as its loads wait for.
static inline void zt_prefetch(const uint8_t *_Nonnull bytes, size_t count, size_t stride) {
  for (size_t index = 0; index < count; index++) __builtin_prefetch(bytes + index * stride, 0, 2);
}

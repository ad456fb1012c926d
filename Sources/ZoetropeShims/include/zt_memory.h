#pragma once
#include <stddef.h>

/// Makes the allocator give blocks of `count` bytes and more back to the system when they are freed.
///
/// For the whole process, from now on. Does nothing where the C library has no such switch.
void zt_return_freed_blocks(size_t count);

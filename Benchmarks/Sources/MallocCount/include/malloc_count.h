#pragma once
#include <stdint.h>

/// Calls of malloc, calloc, realloc and the aligned variants by this process so far.
///
/// Linking this target replaces the C library's entry points by ones that count and pass on.
uint64_t malloc_count(void);

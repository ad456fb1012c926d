#pragma once
#include <stdint.h>

/// The number of calls of malloc, calloc, realloc and the aligned variants by this process so far.
///
/// Linking this target replaces the C library's entry points with wrappers that count.
uint64_t malloc_count(void);

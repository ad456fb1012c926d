#pragma once
#include <stddef.h>
#include <stdint.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if __has_feature(nullability)
#pragma clang assume_nonnull begin
#endif

/// Converts `count` pixels from RGBA with straight alpha to RGB, blended over black. Each channel becomes `value *
/// alpha / 255`, rounded to nearest.
///
/// Reads 4 * `count` bytes at `source` and writes 3 * `count` bytes at `target`, which must not overlap. With vector
/// instructions that shuffle single bytes, this is four times as fast as a loop that every processor can run. The
/// function is written in C because Swift cannot select instructions at run time.
void zt_pack_rgb(const uint8_t *source, uint8_t *target, size_t count);

#if __has_feature(nullability)
#pragma clang assume_nonnull end
#endif

#pragma once
#include <stddef.h>
#include <stdint.h>

/// Expands one GIF image with giflib's own line reader.
///
/// `frame` starts at the image separator and ends with the block terminator. giflib keeps a pointer
/// into it only during the call. `rows` has room for width * height bytes, in stored row order.
/// Returns the number of complete rows. Uses only record-level calls, so no state is kept between
/// frames, and giflib never allocates memory for pixels.
int zt_gif_expand(const uint8_t *_Nonnull frame, size_t count, uint8_t *_Nonnull rows, int width,
                  int height);

/// Returns the version of the giflib headers used at build time, such as 50201 for 5.2.1.
unsigned zt_gif_version(void);

#pragma once
#include <stddef.h>
#include <stdint.h>

/// Expands one image of a GIF to palette indices, with giflib's own line reader.
///
/// The `count` bytes at `frame` start at the image separator and end with the block terminator. giflib keeps a pointer
/// into them only during the call. `rows` must have room for width * height bytes, and receives the rows in the order
/// in which they are stored. Returns the number of complete rows. Only record-level functions of giflib are called, so
/// no state is kept between frames, and giflib never allocates memory for pixels.
int zt_gif_expand(const uint8_t *_Nonnull frame, size_t count, uint8_t *_Nonnull rows, int width,
                  int height);

/// Returns the version of the giflib headers used at build time, such as 50201 for 5.2.1.
unsigned zt_gif_version(void);

#include "zt_pack.h"

// Converts one pixel at a time. Compilers vectorise this loop if the processor has loads and stores of interleaved
// channels, as arm64 does.
static void zt_pack_each(const uint8_t *restrict source, uint8_t *restrict target, size_t count) {
  for (size_t x = 0; x < count; x++) {
    uint16_t alpha = source[4 * x + 3];
    for (int channel = 0; channel < 3; channel++) {
      // The product is at most 65153. The rounded quotient below is exact for all values, and equals `value` if alpha
      // is 255.
      uint16_t product = (uint16_t)(source[4 * x + channel] * alpha + 128);
      target[3 * x + channel] = (uint8_t)((uint16_t)(product + (product >> 8)) >> 8);
    }
  }
}

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx2"))) static __m256i zt_multiplied(__m256i values, __m256i alphas) {
  __m256i product = _mm256_add_epi16(_mm256_mullo_epi16(values, alphas), _mm256_set1_epi16(128));
  return _mm256_srli_epi16(_mm256_add_epi16(product, _mm256_srli_epi16(product, 8)), 8);
}

// Blends eight pixels over black. The resulting alphas do not matter.
__attribute__((target("avx2"))) static __m256i zt_over_black(__m256i pixels) {
  const __m256i alpha = _mm256_setr_epi8(
      3, 3, 3, 3, 7, 7, 7, 7, 11, 11, 11, 11, 15, 15, 15, 15,
      3, 3, 3, 3, 7, 7, 7, 7, 11, 11, 11, 11, 15, 15, 15, 15);
  __m256i alphas = _mm256_shuffle_epi8(pixels, alpha), zero = _mm256_setzero_si256();
  return _mm256_packus_epi16(
      zt_multiplied(_mm256_unpacklo_epi8(pixels, zero), _mm256_unpacklo_epi8(alphas, zero)),
      zt_multiplied(_mm256_unpackhi_epi8(pixels, zero), _mm256_unpackhi_epi8(alphas, zero)));
}

__attribute__((target("avx2"))) static void zt_pack_avx2(
    const uint8_t *source, uint8_t *target, size_t count) {
  const __m256i opaque = _mm256_set1_epi32((int)0xff000000);
  // First gather the twelve RGB bytes of each half, then join the three words of both halves.
  const __m256i bytes = _mm256_setr_epi8(
      0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1,
      0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
  const __m256i words = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7);
  size_t x = 0;
  // Each iteration stores 32 bytes, of which 24 are its eight pixels. The other eight bytes belong to the next pixels,
  // of which at least three remain, and are overwritten later.
  while (count - x >= 11) {
    __m256i pixels = _mm256_loadu_si256((const __m256i *)(source + 4 * x));
    if (!_mm256_testc_si256(pixels, opaque)) pixels = zt_over_black(pixels);
    pixels = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(pixels, bytes), words);
    _mm256_storeu_si256((__m256i *)(target + 3 * x), pixels);
    x += 8;
  }
  zt_pack_each(source + 4 * x, target + 3 * x, count - x);
}
#endif

void zt_pack_rgb(const uint8_t *source, uint8_t *target, size_t count) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) {
    zt_pack_avx2(source, target, count);
    return;
  }
#endif
  zt_pack_each(source, target, count);
}

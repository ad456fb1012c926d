#pragma once
#include <stddef.h>
#include <stdint.h>
/* libFuzzer's own mutations, for a custom mutator to use on parts of an input. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

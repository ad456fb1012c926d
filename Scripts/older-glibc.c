/*
 * Replaces the two functions of glibc 2.35 that libzoetrope needs, so that it runs with glibc 2.34.
 * link-library.sh links these functions in; they are not exported.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stddef.h>

/* In double precision, squares of floats neither overflow nor lose significant bits. */
float hypotf(float x, float y) {
  if (__builtin_isinf(x) || __builtin_isinf(y)) return __builtin_inff();
  return (float)__builtin_sqrt((double)x * x + (double)y * y);
}

struct search {
  uintptr_t address;
  struct dl_find_object *result;
};

static int visit(struct dl_phdr_info *info, size_t size, void *context) {
  struct search *search = context;
  const ElfW(Phdr) *unwinding = NULL;
  int found = 0;
  (void)size;
  for (int index = 0; index < info->dlpi_phnum; index++) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[index];
    uintptr_t start = info->dlpi_addr + header->p_vaddr;
    if (header->p_type == PT_GNU_EH_FRAME) unwinding = header;
    if (header->p_type == PT_LOAD && search->address - start < header->p_memsz) {
      search->result->dlfo_map_start = (void *)start;
      search->result->dlfo_map_end = (void *)(start + header->p_memsz);
      found = 1;
    }
  }
  if (!found) return 0;
  if (unwinding == NULL) return -1;
  search->result->dlfo_eh_frame = (void *)(info->dlpi_addr + unwinding->p_vaddr);
  return 1;
}

/* Finds the unwinding tables of the object that contains `address`, as the unwinder did before glibc 2.35. */
int _dl_find_object(void *address, struct dl_find_object *result) {
  struct search search = {(uintptr_t)address, result};
  *result = (struct dl_find_object){0};
  return dl_iterate_phdr(visit, &search) == 1 ? 0 : -1;
}

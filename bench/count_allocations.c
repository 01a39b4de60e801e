/* This library is preloaded into a process (LD_PRELOAD). It counts the process's heap allocations and prints the
 * count to stderr when the process ends. It does not count calls inside the C library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_long count;

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t n) {
  atomic_fetch_add(&count, 1);
  return __libc_malloc(n);
}
void *calloc(size_t n, size_t size) {
  atomic_fetch_add(&count, 1);
  return __libc_calloc(n, size);
}
void *realloc(void *p, size_t n) {
  atomic_fetch_add(&count, 1);
  return __libc_realloc(p, n);
}
void *aligned_alloc(size_t align, size_t n) {
  atomic_fetch_add(&count, 1);
  return __libc_memalign(align, n);
}
void *mmap(void *at, size_t n, int protection, int flags, int fd, long offset) {
  static void *(*next)(void *, size_t, int, int, int, long);
  if (!next) next = (void *(*)(void *, size_t, int, int, int, long))dlsym(RTLD_NEXT, "mmap");
  atomic_fetch_add(&count, 1);
  return next(at, n, protection, flags, fd, offset);
}

__attribute__((destructor)) static void report(void) { fprintf(stderr, "allocations: %ld\n", atomic_load(&count)); }

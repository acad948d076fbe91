/* 64-bit FNV-1a, for keys and digests of our own; not for security. */
#ifndef CLM_BASE_HASH_H
#define CLM_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define CLM__HASH_START UINT64_C(0xcbf29ce484222325)

/* Folds bytes into a hash; start with CLM__HASH_START. */
uint64_t clm__hash_bytes(uint64_t hash, const void *bytes, size_t count);

/* Folds a text and its end into a hash, so that "a","bc" and "ab","c" differ. */
uint64_t clm__hash_text(uint64_t hash, const char *text);

#endif

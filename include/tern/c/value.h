/* Values of every kind that a model takes or returns: tensors, sequences, maps, and optionals without a
 * value. Included by tern/tern.h.
 *
 * A value is immutable, owns its data, and stays valid after the predictor is freed. Items of a sequence and
 * values of a map share the data of the value that contains them; all may be freed in any order. An array of
 * dims has `rank` numbers; for a scalar, rank is 0 and the array may be NULL. */
#ifndef TERN_C_VALUE_H_
#define TERN_C_VALUE_H_

#include "tern/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Make values ---- */

/* Makes a tensor with a copy of the elements, which are in row-major order. `bytes` must be the size of a
 * tensor of these dims. A byte of a TERN_BOOL that is not 0 becomes 1. */
TERN_CHECKED TernStatus* tern_value_tensor(TernDType dtype, const void* data, size_t bytes,
                                           const int64_t* dims, size_t rank, TernValue** out);
/* Makes a tensor of strings. If `lengths` is NULL, each string ends at its first NUL. */
TERN_CHECKED TernStatus* tern_value_strings(const char* const* strings, const size_t* lengths, size_t count,
                                            const int64_t* dims, size_t rank, TernValue** out);
/* Makes a sequence. Fails if the kind or element type of an item differs from that of the first item. */
TERN_CHECKED TernStatus* tern_value_sequence(const TernValue* const* items, size_t count, TernValue** out);
/* Make a map in which values[i] is the value of keys[i]. Fail if a key occurs twice, or if the kind or
 * element type of a value differs from that of the first value. If `lengths` is NULL, each key ends at its
 * first NUL. */
TERN_CHECKED TernStatus* tern_value_map_i64(const int64_t* keys, const TernValue* const* values, size_t count,
                                            TernValue** out);
TERN_CHECKED TernStatus* tern_value_map_strings(const char* const* keys, const size_t* lengths,
                                                const TernValue* const* values, size_t count,
                                                TernValue** out);
/* Makes an optional without a value. */
TERN_CHECKED TernStatus* tern_value_none(TernValue** out);
TERN_API void tern_value_free(TernValue* value);

/* ---- Any kind ---- */

TERN_API TernKind tern_value_kind(const TernValue* value);
/* Returns the type as text, such as "f32[2,3]" or "seq(map(string,f32[]))". Returns NULL for a NULL value or
 * if memory is exhausted. */
TERN_API const char* tern_value_type(const TernValue* value);
/* Returns the number of elements of a tensor, items of a sequence or entries of a map; else 0. */
TERN_API size_t tern_value_size(const TernValue* value);

/* ---- Tensors; like the functions of tern/c/port.h ---- */

TERN_API TernDType tern_value_dtype(const TernValue* value);
TERN_API size_t tern_value_shape(const TernValue* value, int64_t* dims, size_t capacity);
TERN_API size_t tern_value_bytes(const TernValue* value);
TERN_API const void* tern_value_data(const TernValue* value);
TERN_API const char* tern_value_string(const TernValue* value, size_t index, size_t* length);
TERN_CHECKED TernStatus* tern_value_copy_to(const TernValue* value, TernDType as, void* out, size_t bytes);

/* ---- Sequences and maps ---- */

/* Returns item `index` of a sequence, or value `index` of a map. The caller frees it. */
TERN_CHECKED TernStatus* tern_value_at(const TernValue* value, size_t index, TernValue** out);
/* Returns TERN_I64 or TERN_STRING; TERN_INVALID_DTYPE if the value is not a map. */
TERN_API TernDType tern_value_key_type(const TernValue* value);
/* Stores key `index` of a map in `out`. Fails if the value is not a map with i64 keys, or if the index is out
 * of range. */
TERN_CHECKED TernStatus* tern_value_key_i64(const TernValue* value, size_t index, int64_t* out);
/* Returns key `index` of a map with strings as keys, or NULL. `length` may be NULL. */
TERN_API const char* tern_value_key_string(const TernValue* value, size_t index, size_t* length);
/* Return the value of a key. The caller frees it. Fail with TERN_NOT_FOUND if the map does not contain it. */
TERN_CHECKED TernStatus* tern_value_find_i64(const TernValue* value, int64_t key, TernValue** out);
TERN_CHECKED TernStatus* tern_value_find_string(const TernValue* value, const char* key, TernValue** out);

#ifdef __cplusplus
}
#endif

#endif

/* Ports: the inputs, outputs and overridable constants of a predictor. Included by tern/tern.h.
 *
 * The predictor owns its ports, which are valid until the predictor is freed. An array of dims has `rank`
 * numbers; for a scalar, rank is 0 and the array may be NULL. */
#ifndef TERN_C_PORT_H_
#define TERN_C_PORT_H_

#include "tern/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

TERN_API const char* tern_port_name(const TernPort* port);

/* ---- What the model declares. Thread-safe. ---- */

/* Returns the declared type: "f32[N,3]", "seq(map(string,f32[]))". */
TERN_API const char* tern_port_declared_type(const TernPort* port);
/* Returns -1 if the rank is unknown, or if the port is not a tensor. */
TERN_API int32_t tern_port_declared_rank(const TernPort* port);
/* Returns the size of an axis; -1 if it is open, or if the axis does not exist. */
TERN_API int64_t tern_port_declared_dim(const TernPort* port, size_t axis);
/* Returns the name of an open dim, or an expression such as "2*N". Returns "" if the dim is not open or has
 * no name, and NULL if the axis does not exist. */
TERN_API const char* tern_port_declared_symbol(const TernPort* port, size_t axis);

/* ---- The current value ---- */

/* Returns the element type; TERN_INVALID_DTYPE if the value is not a tensor. Before an input is fed or an
 * output is computed, returns the declared type. */
TERN_API TernDType tern_port_dtype(const TernPort* port);
/* Returns the rank, and copies at most `capacity` dims to `dims`, which may be NULL if `capacity` is 0.
 * Before an input is fed or an output is computed, these are the declared dims, with -1 for open dims. */
TERN_API size_t tern_port_shape(const TernPort* port, int64_t* dims, size_t capacity);
/* Return the number of elements, and the number of their bytes, which is 0 for strings. Both are 0 before the
 * input is fed or the output is computed. */
TERN_API size_t tern_port_size(const TernPort* port);
TERN_API size_t tern_port_bytes(const TernPort* port);
/* Returns the elements in row-major order. Returns NULL if there are none yet, if they are strings, if the
 * value is not a tensor, or if it was fed with tern_port_set_value. A pointer to an output is valid until the
 * next run. A pointer to an input is valid until the input is fed again. The elements of an input may be
 * changed if tern_port_reshape or tern_port_copy_from allocated them. */
TERN_API void* tern_port_data(TernPort* port);
/* Returns an element of a tensor of strings, or NULL if there is none. The string ends with a NUL. It may
 * also contain NULs, so its length is stored in `length`, which may be NULL. The string is valid as long as
 * the elements that tern_port_data returns for other types. */
TERN_API const char* tern_port_string(const TernPort* port, size_t index, size_t* length);
/* Copies all elements to `out`. `bytes` is the size of `out` and must be exactly the size of the elements in
 * the type `as`. This is the element type, or a type that represents every value of the element type exactly,
 * such as f64 for f32, f32 for f16, and i32 for i8. Fails for other types, for strings, and if there are no
 * elements yet. */
TERN_CHECKED TernStatus* tern_port_copy_to(const TernPort* port, TernDType as, void* out, size_t bytes);
/* Copies the current value, of any kind. Use it to read sequences, maps and optionals. For an overridable
 * constant that is not fed, copies the stored value. Fails with TERN_NOT_FOUND if there is no value yet. */
TERN_CHECKED TernStatus* tern_port_get_value(const TernPort* port, TernValue** out);

/* ---- Feed an input ----
 * tern_predictor_run, not these functions, checks the dims against the declared type. The number of bytes
 * must be the size of a tensor of these dims. -1 is not accepted as a dim. */

/* Copies the elements. `dtype` must be the declared element type. A byte of a TERN_BOOL that is not 0 becomes
 * 1. Fails for strings. */
TERN_CHECKED TernStatus* tern_port_copy_from(TernPort* port, TernDType dtype, const void* data, size_t bytes,
                                             const int64_t* dims, size_t rank);
/* Copies `count` strings. If `lengths` is NULL, each string ends at its first NUL. */
TERN_CHECKED TernStatus* tern_port_copy_strings(TernPort* port, const char* const* strings,
                                                const size_t* lengths, size_t count, const int64_t* dims,
                                                size_t rank);
/* Each later run reads `data`, which is memory of the caller, without a copy. This memory must stay valid and
 * unchanged until the end of the last run that reads it. Fails for strings. */
TERN_CHECKED TernStatus* tern_port_share(TernPort* port, TernDType dtype, const void* data, size_t bytes,
                                         const int64_t* dims, size_t rank);
/* Allocates zeroed memory for these dims; tern_port_data returns this memory. If the predictor already owns
 * memory of these dims, the elements stay as they are. */
TERN_CHECKED TernStatus* tern_port_reshape(TernPort* port, const int64_t* dims, size_t rank);
/* Feeds a value of any kind, without a copy. The value may be freed afterwards. */
TERN_CHECKED TernStatus* tern_port_set_value(TernPort* port, const TernValue* value);

/* ---- Bind an output ---- */

/* Each later run writes the result to `data`, which is memory of the caller. This memory must not overlap
 * other inputs and outputs, and must be aligned to the size of an element. It must stay valid until
 * tern_port_reset, another bind, or the end of the last run. A run fails if the result does not have these
 * dims. Fails for strings. */
TERN_CHECKED TernStatus* tern_port_bind(TernPort* port, TernDType dtype, void* data, size_t bytes,
                                        const int64_t* dims, size_t rank);

/* For an input: removes the fed value. An overridable constant has its stored value again. For an output:
 * undoes tern_port_bind. */
TERN_CHECKED TernStatus* tern_port_reset(TernPort* port);

#ifdef __cplusplus
}
#endif

#endif

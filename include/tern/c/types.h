/* The types and constants of Tern's C API, its versions, errors and lists. Included by tern/tern.h, which
 * explains errors, ownership and threads. */
#ifndef TERN_C_TYPES_H_
#define TERN_C_TYPES_H_

#include <stddef.h>
#include <stdint.h>

#include "tern/c/code.h"

#if defined(__GNUC__)
#define TERN_API __attribute__((visibility("default")))
#define TERN_CHECKED __attribute__((visibility("default"), warn_unused_result))
#else
#define TERN_API
#define TERN_CHECKED
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define TERN_API_VERSION 1

typedef struct TernStatus TernStatus;       /* an error */
typedef struct TernConfig TernConfig;       /* the model to load, and the options for running it */
typedef struct TernPredictor TernPredictor; /* a loaded model with the memory of its runs */
typedef struct TernPort TernPort;           /* an input or output; the predictor owns it */
typedef struct TernValue TernValue;         /* a tensor, a sequence, a map, or an optional without a value */
typedef struct TernRunOptions TernRunOptions; /* limits of one run */
typedef struct TernCancel TernCancel;         /* a flag that ends runs early */
typedef struct TernProfile TernProfile;       /* the time per node of some runs */
typedef struct TernStrings TernStrings;       /* a list of strings */

/* An element type: one of the TERN_ constants below. */
typedef int32_t TernDType;
enum {
  TERN_INVALID_DTYPE = 0, /* not a tensor, or unknown */
  TERN_F32 = 1,
  TERN_F64 = 2,
  TERN_F16 = 3,
  TERN_BF16 = 4,
  TERN_F8E4M3FN = 5,
  TERN_F8E4M3FNUZ = 6,
  TERN_F8E5M2 = 7,
  TERN_F8E5M2FNUZ = 8,
  TERN_F8E8M0 = 9,
  TERN_F4E2M1 = 10,
  TERN_I8 = 11,
  TERN_I16 = 12,
  TERN_I32 = 13,
  TERN_I64 = 14,
  TERN_U8 = 15,
  TERN_U16 = 16,
  TERN_U32 = 17,
  TERN_U64 = 18,
  TERN_I4 = 19,
  TERN_U4 = 20,
  TERN_I2 = 21,
  TERN_U2 = 22,
  TERN_BOOL = 23, /* one byte per element, 0 or 1 */
  TERN_STRING = 24,
  TERN_C64 = 25, /* two f32: the real and the imaginary part */
  TERN_C128 = 26
};

/* The kind of a value: one of the TERN_KIND_ constants below. */
typedef int32_t TernKind;
enum {
  TERN_KIND_EMPTY = 0, /* only for a NULL value */
  TERN_KIND_TENSOR = 1,
  TERN_KIND_SEQUENCE = 2,
  TERN_KIND_MAP = 3,
  TERN_KIND_NONE = 4 /* an optional input or output without a value */
};

/* ---- Library ---- */

TERN_API uint32_t tern_api_version(void); /* TERN_API_VERSION of the library */
TERN_API const char* tern_version(void);  /* version of the library: "0.1.0" */
/* Returns the name of an element type, such as "f32", or "invalid". */
TERN_API const char* tern_dtype_name(TernDType dtype);
/* Returns the bits per element. Elements of less than 8 bits are packed, the first one in the low bits.
 * Returns 0 for strings and invalid types. */
TERN_API size_t tern_dtype_bits(TernDType dtype);
/* Returns the time of the clock that deadlines refer to, in nanoseconds (CLOCK_MONOTONIC on Linux). */
TERN_API int64_t tern_clock_ns(void);

/* ---- Errors ---- */

TERN_API TernCode tern_status_code(const TernStatus* status); /* TERN_OK for NULL */
/* Returns the names and numbers of the failure, and the operation that failed. Returns "" for NULL. */
TERN_API const char* tern_status_message(const TernStatus* status);
TERN_API void tern_status_free(TernStatus* status);

/* ---- Lists of strings ---- */

TERN_API size_t tern_strings_count(const TernStrings* strings);
TERN_API const char* tern_strings_at(const TernStrings* strings, size_t index); /* NULL if out of range */
TERN_API void tern_strings_free(TernStrings* strings);

#ifdef __cplusplus
}
#endif

#endif

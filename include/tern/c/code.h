/* The error codes of Tern's C interfaces. Included by tern/tern.h and tern/backend.h. */
#ifndef TERN_C_CODE_H_
#define TERN_C_CODE_H_

typedef enum TernCode {
  TERN_OK = 0,
  TERN_INVALID_ARGUMENT = 1, /* a mistake of the caller: wrong name, shape or option */
  TERN_INVALID_MODEL = 2,    /* the file is broken or contradicts itself */
  TERN_UNSUPPORTED = 3,      /* a valid request that Tern does not support */
  TERN_NOT_FOUND = 4,
  TERN_IO = 5,
  TERN_RESOURCE_EXHAUSTED = 6,
  TERN_INTERNAL = 7,   /* a bug in Tern */
  TERN_CANCELLED = 8,  /* the caller cancelled the run, or the run's time limit passed */
  TERN_UNAVAILABLE = 9 /* only in tern/backend.h: the server cannot answer now */
} TernCode;

#endif

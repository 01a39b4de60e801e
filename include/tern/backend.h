/* The interface between Tern's server and an engine that runs models: a plug-in libtern_backend_NAME.so, or
 * the engine that is built in. A model's configuration selects it by `backend: "NAME"`.
 *
 * Plain C; the layout of a struct never changes within a version. New versions only append fields, and `size`
 * says how many a side knows.
 *
 * Life: tern_backend_1() -> initialise -> load -> describe -> create_instance (any number) -> run … ->
 * destroy_instance -> unload -> finalise. Each handle is used only between the function that returned it and
 * the one that ends it.
 *
 * Threads: initialise and finalise are called once. All other functions may be called on any thread, for
 * different models and instances at the same time; for one instance never two at the same time. Functions of
 * TernHost may be called on any thread.
 *
 * Memory: what a side passes by pointer is valid during the call, unless stated otherwise, and stays its own.
 * No exception may leave a function. */
#ifndef TERN_BACKEND_H_
#define TERN_BACKEND_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TERN_BACKEND_VERSION 1

/* Element types by their numbers in the v2 protocol's model configuration. */
typedef enum TernType {
  TERN_TYPE_INVALID = 0,
  TERN_TYPE_BOOL = 1,
  TERN_TYPE_UINT8 = 2,
  TERN_TYPE_UINT16 = 3,
  TERN_TYPE_UINT32 = 4,
  TERN_TYPE_UINT64 = 5,
  TERN_TYPE_INT8 = 6,
  TERN_TYPE_INT16 = 7,
  TERN_TYPE_INT32 = 8,
  TERN_TYPE_INT64 = 9,
  TERN_TYPE_FP16 = 10,
  TERN_TYPE_FP32 = 11,
  TERN_TYPE_FP64 = 12,
  TERN_TYPE_BYTES = 13,
  TERN_TYPE_BF16 = 14
} TernType;

typedef enum TernCode {
  TERN_OK = 0,
  TERN_INVALID_ARGUMENT = 1, /* the request's mistake */
  TERN_INVALID_MODEL = 2,
  TERN_UNSUPPORTED = 3,
  TERN_NOT_FOUND = 4,
  TERN_IO = 5,
  TERN_RESOURCE_EXHAUSTED = 6,
  TERN_INTERNAL = 7,
  TERN_CANCELLED = 8,
  TERN_UNAVAILABLE = 9
} TernCode;

/* Filled by the side that fails; the caller owns it. Clients read the message: no paths, no secrets. */
typedef struct TernError {
  int32_t code; /* TernCode */
  char message[1020];
} TernError;

/* Row-major, little-endian, without padding. BOOL has one byte per element. BYTES has a uint32 length before
 * the bytes of each element. data may have any alignment. */
typedef struct TernTensor {
  const char* name;
  int32_t type; /* TernType */
  int32_t rank;
  const int64_t* dims; /* includes the batch dim */
  const void* data;
  uint64_t bytes;
} TernTensor;

/* An input or output of a configuration. */
typedef struct TernTensorInfo {
  const char* name;
  int32_t type;
  int32_t rank;
  const int64_t* dims; /* without the batch dim if max_batch_size > 0; -1: any size */
  int32_t optional;    /* inputs only: requests may leave it out */
} TernTensorInfo;

typedef struct TernText {
  const char* key;
  const char* value;
} TernText;

/* One version of a model. */
typedef struct TernModelInfo {
  uint32_t size; /* sizeof(TernModelInfo) */
  const char* name;
  const char* folder; /* absolute: the version's */
  const char* file;   /* absolute: the model file or folder; empty if the model has none */
  const char* config; /* JSON, as GET /v2/models/NAME/config returns it */
  int32_t max_batch_size;
  const TernTensorInfo* inputs;
  const TernTensorInfo* outputs;
  const TernText* parameters; /* `parameters` of the configuration, sorted by key */
  uint64_t input_count, output_count, parameter_count;
} TernModelInfo;

typedef struct TernDescription TernDescription; /* what describe fills in */
typedef struct TernOutputs TernOutputs;         /* the outputs of one execution or of one response */
typedef struct TernRequest TernRequest;         /* a request that run_request answers */
typedef struct TernMetrics TernMetrics;

/* One batch: the tensors of all its requests, concatenated along the batch dim. */
typedef struct TernBatch {
  uint32_t size;
  int32_t threads; /* that the execution may use */
  const TernTensor* inputs;
  const char* const* outputs; /* names of the outputs that are asked for; output_count is 0: all */
  uint64_t input_count, output_count;
  const void* stop; /* for TernHost::stopped */
} TernBatch;

/* Functions of the server. The struct outlives the plug-in. */
typedef struct TernHost {
  uint32_t version; /* TERN_BACKEND_VERSION of the server */
  uint32_t size;

  /* level: 0 information, 1 warning, 2 error. */
  void (*log)(int32_t level, const char* message);

  /* For describe. Tensors that the configuration lists are compared with these, and get types and dims that
   * it leaves open. If it lists none, these are added. */
  void (*add_input)(TernDescription* to, const TernTensorInfo* tensor);
  void (*add_output)(TernDescription* to, const TernTensorInfo* tensor);
  void (*set_max_batch_size)(TernDescription* to, int32_t max_batch_size, int32_t dynamic_batching);
  void (*set_decoupled)(TernDescription* to, int32_t decoupled);

  /* Adds an output and returns memory of `bytes` bytes for it, aligned to 64 bytes, not zeroed. The memory
   * may belong to the client (shared memory), so write each byte once. Null: there is no memory. tensor->data
   * is not read. */
  void* (*allocate)(TernOutputs* to, const TernTensor* tensor);
  /* Adds an output that stays in the plug-in's memory. tensor->data is valid until the server calls
   * release(owner), on any thread, once; also after unload, but before finalise. */
  void (*give)(TernOutputs* to, const TernTensor* tensor, void* owner, void (*release)(void* owner));
  /* Nonzero if nobody waits for this batch any more; run may then return TERN_CANCELLED. */
  int32_t (*stopped)(const TernBatch* batch);

  /* For run_request. A request is valid until its final response is sent. */
  const TernTensor* (*input)(const TernRequest* request, const char* name); /* null: the request has none */
  const char* (*parameter)(const TernRequest* request, const char* name);   /* as text; null: none */
  int32_t (*cancelled)(const TernRequest* request);
  /* A response to fill with allocate or give. It must be passed to send. */
  TernOutputs* (*response)(TernRequest* request);
  void (*send)(TernOutputs* response, int32_t final);
  /* Ends the request without a further response, or with an error if `error` is not null. */
  void (*finish)(TernRequest* request, const TernError* error);

  /* Reports a value of the model by name; the server may show it as a gauge. */
  void (*metric)(TernMetrics* to, const char* name, double value);
} TernHost;

enum {
  TERN_BACKEND_PARALLEL = 1 /* run uses up to TernBatch::threads threads */
};

/* Functions of an engine. Those that return int32_t return a TernCode and fill *error unless it is TERN_OK.
 * Those that return a handle return null on failure. Functions marked optional may be null. */
typedef struct TernBackend {
  uint32_t version; /* TERN_BACKEND_VERSION */
  uint32_t size;    /* sizeof(TernBackend) */
  const char* name;
  uint32_t flags; /* TERN_BACKEND_… */

  /* *backend: an own handle, which may be null. Optional. */
  int32_t (*initialise)(const TernHost* host, void** backend, TernError* error);
  void (*finalise)(void* backend); /* optional */

  void* (*load)(void* backend, const TernModelInfo* info, TernError* error);
  void (*unload)(void* model); /* all instances are gone */
  /* Completes the configuration: inputs, outputs, batch size. Refuses one that contradicts the model.
   * Optional: the configuration must then be complete. */
  int32_t (*describe)(void* model, const TernModelInfo* info, TernDescription* to, TernError* error);
  uint64_t (*memory_bytes)(void* model);         /* optional */
  void (*metrics)(void* model, TernMetrics* to); /* optional */

  void* (*create_instance)(void* model, TernError* error);
  /* Returns when all requests of run_request are finished. */
  void (*destroy_instance)(void* instance);
  /* Executes a batch. Outputs have the batch dim of the inputs if max_batch_size > 0. */
  int32_t (*run)(void* instance, const TernBatch* batch, TernOutputs* outputs, TernError* error);
  /* Decoupled models: answers one request by any number of responses, the last one final. May return before
   * they are sent, and send them on other threads. Optional. */
  void (*run_request)(void* instance, TernRequest* request);
} TernBackend;

/* The only symbol that the server looks up. The result is valid until the library is closed. */
const TernBackend* tern_backend_1(void);

#ifdef __cplusplus
}
#endif
#endif

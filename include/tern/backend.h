/* The interface between Tern's server and an engine that runs models. An engine is either built in or a
 * plug-in libtern_backend_NAME.so. A model's configuration selects the engine by `backend: "NAME"`.
 *
 * The interface is plain C. TERN_BACKEND_VERSION is its version. A later version only appends fields to
 * structs; existing fields stay where they are. The side that fills a struct sets `size` to the sizeof that
 * it was compiled with. The other side must not read fields beyond `size`. A server accepts engines of its
 * own version and of all earlier ones. Version 2 appends TernBatch::rows, the functions of TernHost from
 * reschedule on, and TernBackend::end_sequence.
 *
 * Order of calls: tern_backend_1() -> initialise -> load -> describe -> create_instance (any number) -> run …
 * -> destroy_instance -> unload -> finalise. A handle is valid from the call that returns it to the call that
 * destroys it.
 *
 * Threads: the server calls initialise and finalise once. It may call all other functions on any thread.
 * Calls for different models and instances may overlap. Two calls for the same instance never overlap.
 * Functions of TernHost may be called on any thread.
 *
 * Memory: unless stated otherwise, memory that is passed by pointer belongs to the caller and is valid only
 * during the call. No exception may leave a function. */
#ifndef TERN_BACKEND_H_
#define TERN_BACKEND_H_

#include <stdint.h>

#include "tern/c/code.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TERN_BACKEND_VERSION 2

/* Element types. The values are the same as in the model configuration of the v2 protocol. */
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

/* An error. The caller of a function owns the struct, and a function that fails fills it. The server sends
 * `message` to clients, so it must not contain paths or secrets. */
typedef struct TernError {
  int32_t code; /* TernCode */
  char message[1020];
} TernError;

/* Elements are row-major and little-endian, without padding. BOOL has one byte per element. BYTES has a
 * uint32 length before the bytes of each element. `data` may have any alignment. */
typedef struct TernTensor {
  const char* name;
  int32_t type; /* TernType */
  int32_t rank;
  const int64_t* dims; /* includes the batch dim */
  const void* data;
  uint64_t bytes;
} TernTensor;

/* The declaration of an input or output. */
typedef struct TernTensorInfo {
  const char* name;
  int32_t type;
  int32_t rank;
  const int64_t* dims; /* without the batch dim if max_batch_size > 0; -1 means any size */
  int32_t optional;    /* for inputs: nonzero if requests may omit it */
} TernTensorInfo;

typedef struct TernText {
  const char* key;
  const char* value;
} TernText;

/* One version of a model. */
typedef struct TernModelInfo {
  uint32_t size; /* sizeof(TernModelInfo) */
  const char* name;
  const char* folder; /* absolute path of the version's folder */
  const char* file;   /* absolute path of the model file or folder; empty if the model has none */
  const char* config; /* the JSON that GET /v2/models/NAME/config returns */
  int32_t max_batch_size;
  const TernTensorInfo* inputs;
  const TernTensorInfo* outputs;
  const TernText* parameters; /* `parameters` of the configuration, sorted by key */
  uint64_t input_count, output_count, parameter_count;
} TernModelInfo;

typedef struct TernDescription TernDescription; /* the inputs and outputs that describe reports */
typedef struct TernOutputs TernOutputs;         /* the outputs of one execution or of one response */
typedef struct TernRequest TernRequest;         /* a request that run_request answers */
typedef struct TernMetrics TernMetrics;

/* One batch: the tensors of all its requests, concatenated along the batch dim. */
typedef struct TernBatch {
  uint32_t size;
  int32_t threads; /* number of threads that the execution may use */
  const TernTensor* inputs;
  const char* const* outputs; /* names of the outputs to compute; if output_count is 0, all outputs */
  uint64_t input_count, output_count;
  const void* stop; /* for TernHost::stopped; a plug-in must not read it */
  void* rows;       /* version 2; for TernHost::row_parameters and row_sequence; a plug-in must not read it */
} TernBatch;

/* Functions of the server. The struct outlives the plug-in. */
typedef struct TernHost {
  uint32_t version; /* TERN_BACKEND_VERSION of the server */
  uint32_t size;

  /* level is 0 for information, 1 for a warning, 2 for an error. */
  void (*log)(int32_t level, const char* message);

  /* An engine calls the next four functions in describe. add_input reports one input of the model. If the
   * configuration lists no inputs at all, the server adds this input to the configuration. If the
   * configuration lists an input of this name, its type and dims must agree, and the server fills in what the
   * configuration leaves open. add_output does the same for outputs. */
  void (*add_input)(TernDescription* to, const TernTensorInfo* tensor);
  void (*add_output)(TernDescription* to, const TernTensorInfo* tensor);
  void (*set_max_batch_size)(TernDescription* to, int32_t max_batch_size, int32_t dynamic_batching);
  void (*set_decoupled)(TernDescription* to, int32_t decoupled);

  /* Adds an output and returns memory of `bytes` bytes for it, aligned to 64 bytes. Its contents are
   * undefined: the memory is not zeroed and may contain data of another client's request. The engine must
   * write every byte, because all bytes are sent to the client. The memory may be shared with the client, so
   * write each byte only once. Returns null if the tensor is invalid or no memory can be allocated. Ignores
   * tensor->data. */
  void* (*allocate)(TernOutputs* to, const TernTensor* tensor);
  /* Adds an output that stays in the plug-in's memory. tensor->data must stay valid until the server calls
   * release(owner). The server calls it exactly once, on any thread, before finalise but possibly after
   * unload. */
  void (*give)(TernOutputs* to, const TernTensor* tensor, void* owner, void (*release)(void* owner));
  /* Returns nonzero if no client waits for this batch any more. run may then return TERN_CANCELLED. */
  int32_t (*stopped)(const TernBatch* batch);

  /* An engine calls the functions from `input` to `finish` to answer a request of run_request. The request is
   * valid until its final response is sent. */
  const TernTensor* (*input)(const TernRequest* request, const char* name); /* null if there is none */
  const char* (*parameter)(const TernRequest* request, const char* name); /* as text; null if there is none */
  int32_t (*cancelled)(const TernRequest* request);
  /* Creates a response, which is filled with allocate or give. It must be passed to send. */
  TernOutputs* (*response)(TernRequest* request);
  void (*send)(TernOutputs* response, int32_t final);
  /* Ends the request. If `error` is null, the client gets no further response. Otherwise the client gets the
   * error. */
  void (*finish)(TernRequest* request, const TernError* error);

  /* Reports one number about the model. The server may export it as a gauge of this name. */
  void (*metric)(TernMetrics* to, const char* name, double value);

  /* The next functions are for run. They exist from version 2 on. A row is an index of the batch dim; it is 0
   * if the model has no batch dim.
   *
   * reschedule asks for another iteration of the request in this row. The request comes again in a later
   * batch, with the same inputs, with the states that this iteration returns, and with a START control that
   * is false. Other requests may join or leave between two iterations. The request is answered when run
   * returns without a reschedule of its row. If `respond` is nonzero and the model is decoupled, the outputs
   * of this iteration are sent as a response that is not the last one; otherwise they are dropped. The
   * configuration must have sequence_batching { iterative_sequence: true }; without it, the request fails. */
  void (*reschedule)(TernOutputs* to, uint64_t row, int32_t respond);
  /* Returns the parameters of the row's request as texts, valid during the call of run, and sets *count to
   * their number. */
  const TernText* (*row_parameters)(const TernBatch* batch, uint64_t row, uint64_t* count);
  /* Returns the id of the row's sequence, valid during the call of run. A number is written in decimal.
   * Returns null if the row belongs to no sequence. */
  const char* (*row_sequence)(const TernBatch* batch, uint64_t row);
  /* Like allocate, but for a new value of a state. If the configuration has no state with this output_name,
   * returns null, and the execution fails with an error that says so. A state without a new value keeps its
   * old value. */
  void* (*state)(TernOutputs* to, const TernTensor* tensor);
} TernHost;

enum {
  TERN_BACKEND_PARALLEL = 1 /* run uses up to TernBatch::threads threads */
};

/* Functions of an engine. Functions that return int32_t return a TernCode, and fill *error if the code is not
 * TERN_OK. Functions that return a handle return null and fill *error on failure. Functions marked optional
 * may be null. */
typedef struct TernBackend {
  uint32_t version; /* TERN_BACKEND_VERSION */
  uint32_t size;    /* sizeof(TernBackend) */
  const char* name;
  uint32_t flags; /* TERN_BACKEND_… */

  /* Sets *backend to the handle that the server passes to load and finalise. The handle may be null.
   * Optional. */
  int32_t (*initialise)(const TernHost* host, void** backend, TernError* error);
  void (*finalise)(void* backend); /* optional */

  void* (*load)(void* backend, const TernModelInfo* info, TernError* error);
  void (*unload)(void* model); /* called after all instances are destroyed */
  /* Reports the inputs, outputs and batch size that the configuration leaves open. Fails if the configuration
   * contradicts the model. Optional. If it is null, the configuration must be complete. */
  int32_t (*describe)(void* model, const TernModelInfo* info, TernDescription* to, TernError* error);
  uint64_t (*memory_bytes)(void* model);         /* optional */
  void (*metrics)(void* model, TernMetrics* to); /* optional */

  void* (*create_instance)(void* model, TernError* error);
  /* Returns when all requests that were passed to run_request are finished. */
  void (*destroy_instance)(void* instance);
  /* Executes a batch. If max_batch_size > 0, dim 0 of every output must equal dim 0 of the inputs. The server
   * calls run for decoupled models, too, if run_request is null or the model is iterative. */
  int32_t (*run)(void* instance, const TernBatch* batch, TernOutputs* outputs, TernError* error);
  /* For decoupled models. Answers one request with any number of responses. The last call for the request is
   * send with `final` = 1, or finish. The function may return before it has sent all responses, and may send
   * responses on other threads. Optional. */
  void (*run_request)(void* instance, TernRequest* request);

  /* Version 2. For engines that keep something per sequence id. Tells an instance that a sequence ended
   * without the engine's knowledge: the client cancelled an iterative request that the engine rescheduled, an
   * iteration failed or took too long, or the sequence was idle for too long. The server does not call the
   * function for a sequence that ended regularly, by a request with the END flag or an iteration without
   * reschedule. It does not call it for sequences that exist when the instance is destroyed. It does not call
   * it for decoupled models that run_request executes, because it does not track their sequences: requests of
   * one id may run on several instances, and the engine itself must forget sequences that it no longer needs.
   * The server calls the function before the id is used again. The engine may not know the id. Optional. */
  void (*end_sequence)(void* instance, const char* id);
} TernBackend;

/* The only symbol that the server looks up. The result is valid until the library is closed. */
const TernBackend* tern_backend_1(void);

#ifdef __cplusplus
}
#endif
#endif

/* Tern's C API: load a model, feed it, run it, read the results.
 *
 *   TernConfig* config = tern_config_new();
 *   tern_config_set_model_path(config, "model.onnx");
 *   TernPredictor* predictor = NULL;
 *   TernStatus* status = tern_predictor_create(config, &predictor);
 *   if (status) return fail(status);  // prints tern_status_message(status) and frees it
 *   TernPort* image = tern_predictor_input_at(predictor, 0);
 *   const int64_t dims[] = {1, 3, 224, 224};
 *   status = tern_port_copy_from(image, TERN_F32, pixels, sizeof pixels, dims, 4);
 *   if (!status) status = tern_predictor_run(predictor, NULL);
 *   if (status) return fail(status);
 *   const float* scores = tern_port_data(tern_predictor_output_at(predictor, 0));
 *
 * Errors: a function that can fail returns a TernStatus*, which is NULL on success. The caller owns the
 * status and frees it with tern_status_free. If such a function has an out parameter, it sets it to NULL (or
 * leaves numbers unchanged) on failure. A NULL argument is an error, unless the comment permits it. The other
 * functions accept NULL and indices out of range, and then return NULL, 0 or -1, as their comments say.
 *
 * Ownership: the caller owns the object that a function stores in an out parameter or returns from
 * tern_..._new, and frees it with the function tern_..._free of its type. These functions accept NULL.
 * Pointers that other functions return belong to the object in the first argument. They are valid until that
 * object is freed, unless the comment says otherwise. Arguments belong to the caller and may be freed after
 * the call, unless the comment says otherwise.
 *
 * Threads: one thread at a time may use a predictor and its ports. If a second thread feeds or runs the
 * predictor at the same time, its call fails with TERN_INVALID_ARGUMENT. Reading a port while another thread
 * feeds or runs the predictor is undefined behaviour. Clones share the weights and may run at the same time.
 * Values, profiles and statuses are immutable; any number of threads may read them.
 *
 * Strings are UTF-8 and end with a NUL. Functions that accept strings of a tensor also accept their lengths,
 * because these strings may contain NULs.
 *
 * Versions: TERN_API_VERSION grows when functions or constants are added. Nothing is changed or removed, so a
 * program runs with every library whose tern_api_version() is at least the TERN_API_VERSION that the program
 * was compiled with. All types are opaque, and options have setter functions, so that new options do not
 * change the layout of anything. */
#ifndef TERN_TERN_H_
#define TERN_TERN_H_

#include "tern/c/port.h"
#include "tern/c/profile.h"
#include "tern/c/types.h"
#include "tern/c/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Configuration ----
 * A setter that fails stores its error in the config, and tern_predictor_create returns the first one. */

/* Returns a config with the default options, or NULL if memory is exhausted. */
TERN_API TernConfig* tern_config_new(void);
TERN_API void tern_config_free(TernConfig* config);
/* A file or folder. Its format is detected from the contents. The weights of a .tern file, and the external
 * data of an ONNX or MindSpore model, stay memory-mapped until the predictor and all its clones are freed. Do
 * not write into a mapped file; to replace a model, write another file and rename it. */
TERN_API void tern_config_set_model_path(TernConfig* config, const char* path);
/* A file with the weights, for formats that keep them in a file of their own, such as Caffe's. */
TERN_API void tern_config_set_weights_path(TernConfig* config, const char* path);
/* Which signature to use, for formats with several, such as TensorFlow's SavedModel. The default is the
 * model's default signature. */
TERN_API void tern_config_set_signature(TernConfig* config, const char* name);
/* The type of an input, such as "f32[N,3,224,224]", for formats that declare none, such as TorchScript. Names
 * in place of numbers are open dims. Other formats ignore it. */
TERN_API void tern_config_set_input_type(TernConfig* config, const char* name, const char* type);
/* A model in memory. Exactly one of the path and the buffer must be set. The bytes of a .tern model must
 * stay valid until the predictor and all its clones are freed, and should be aligned to 64 bytes. The bytes
 * of a model of another format must stay valid until tern_predictor_create returns. */
TERN_API void tern_config_set_model_buffer(TernConfig* config, const void* data, size_t bytes);
/* The number of threads, at most 1024. 0 means one thread per core that the process may use. */
TERN_API void tern_config_set_threads(TernConfig* config, int32_t count);
/* The number of input shapes whose plans are cached; at least 1. */
TERN_API void tern_config_set_plan_cache(TernConfig* config, int32_t count);
/* Limits the memory of intermediate values. A run that needs more fails with TERN_RESOURCE_EXHAUSTED. 0 (the
 * default) means that the limit is the machine's memory. */
TERN_API void tern_config_set_memory_limit(TernConfig* config, size_t bytes);
/* Limits the bytes of the outputs that one Loop or Scan collects. 0 (the default) means 4 GiB or a quarter of
 * the machine's memory, whichever is less. */
TERN_API void tern_config_set_collect_limit(TernConfig* config, size_t bytes);
/* Overrides the batch size (dim 0 of the inputs) of a model that was exported with a fixed batch size. 0 (the
 * default) keeps the model's batch size. */
TERN_API void tern_config_set_batch(TernConfig* config, int64_t size);
/* How far the graph is optimized at load: "none", "basic", "extended" or "layout" (the default). */
TERN_API void tern_config_set_optimize(TernConfig* config, const char* level);
/* "fp32" (the default) computes in the types that the model specifies. With "bf16", some ops round their
 * operands to bf16: attention, and matrix products, convolutions and recurrent layers with constant weights.
 * "auto" means bf16 where that is measured to be faster, and fp32 elsewhere. "fast" is fp32 with algorithms
 * whose errors may exceed 1e-6 of the results. */
TERN_API void tern_config_set_precision(TernConfig* config, const char* name);
/* The time budget for measuring which kernels are the fastest on this machine, at most 600000 ms. With 0 (the
 * default), kernels are chosen by estimated times. */
TERN_API void tern_config_set_tune_ms(TernConfig* config, int64_t milliseconds);
/* The folder for measurements. "" means that they are not stored. The default is $TERN_CACHE_DIR, else
 * $XDG_CACHE_HOME/tern, else ~/.cache/tern. */
TERN_API void tern_config_set_cache_dir(TernConfig* config, const char* folder);
/* If `on` is not 0, the slow reference evaluator runs the model. */
TERN_API void tern_config_set_reference(TernConfig* config, int32_t on);
/* Selects the states: pairs of an input and an output whose value the predictor keeps between runs. "auto"
 * finds them by the names of common exporters, "past=present,past=present" lists them, "none" means no
 * states. If this function is not called, the predictor has the states that the model declares. */
TERN_API void tern_config_set_states(TernConfig* config, const char* pairs);

/* ---- Predictors ---- */

/* Loads the model. The config may be changed or freed afterwards. */
TERN_CHECKED TernStatus* tern_predictor_create(const TernConfig* config, TernPredictor** out);
/* Makes a predictor that shares the weights, for use by another thread. Its inputs are not fed, and its
 * states are empty or zero. The predictors may be freed in any order. */
TERN_CHECKED TernStatus* tern_predictor_clone(const TernPredictor* predictor, TernPredictor** out);
/* Frees the predictor and its ports. Values and profiles stay valid. */
TERN_API void tern_predictor_free(TernPredictor* predictor);

TERN_API size_t tern_predictor_input_count(const TernPredictor* predictor);
TERN_API size_t tern_predictor_output_count(const TernPredictor* predictor);
/* Returns the number of overridable constants. These are initializers of an ONNX model that its graph also
 * lists as inputs. They may be fed in place of their stored values; tern_port_reset restores these. */
TERN_API size_t tern_predictor_overridable_count(const TernPredictor* predictor);
/* Ports in the order of the model. Return NULL if the index is out of range. */
TERN_API TernPort* tern_predictor_input_at(TernPredictor* predictor, size_t index);
TERN_API TernPort* tern_predictor_output_at(TernPredictor* predictor, size_t index);
TERN_API TernPort* tern_predictor_overridable_at(TernPredictor* predictor, size_t index);
/* Find a port by its name. The predictor owns the port. Inputs include overridable constants. If there is no
 * port of this name, both functions fail with TERN_NOT_FOUND, and the message lists the names. If the name
 * belongs to a state, they fail with TERN_INVALID_ARGUMENT. */
TERN_CHECKED TernStatus* tern_predictor_input(TernPredictor* predictor, const char* name, TernPort** out);
TERN_CHECKED TernStatus* tern_predictor_output(TernPredictor* predictor, const char* name, TernPort** out);

/* Checks the inputs, builds a plan if none is cached for their shapes, and runs the plan. `options` may be
 * NULL. After a failure the predictor stays usable, but its outputs have no value until a run succeeds. */
TERN_CHECKED TernStatus* tern_predictor_run(TernPredictor* predictor, const TernRunOptions* options);
/* Returns warnings, one sentence each, about the import, the stored measurements, and ops that run on the
 * slow reference evaluator. Call it after the first run, because kernels are chosen then. */
TERN_CHECKED TernStatus* tern_predictor_warnings(const TernPredictor* predictor, TernStrings** out);

/* States; see tern_config_set_states. Their inputs and outputs are not among the ports. Functions that take
 * an index return NULL (or -1) if the index is out of range. */
TERN_API size_t tern_predictor_state_count(const TernPredictor* predictor);
/* The name of the state, which is the name of its input. */
TERN_API const char* tern_predictor_state_name(const TernPredictor* predictor, size_t index);
TERN_API const char* tern_predictor_state_output(const TernPredictor* predictor, size_t index);
TERN_API const char* tern_predictor_state_type(const TernPredictor* predictor, size_t index);
/* The growing axis; -1 means a fixed size. */
TERN_API int32_t tern_predictor_state_axis(const TernPredictor* predictor, size_t index);
/* Returns the current length of the growing states, such as the number of tokens so far; 0 if none grows. */
TERN_API int64_t tern_predictor_state_length(const TernPredictor* predictor);
/* Makes growing states empty and sets states of fixed size to zero. */
TERN_CHECKED TernStatus* tern_predictor_reset_states(TernPredictor* predictor);
/* Copies the state's current value. Fails with TERN_NOT_FOUND if there is no such state, or if neither a run
 * nor tern_predictor_set_state has set it since the last reset. */
TERN_CHECKED TernStatus* tern_predictor_get_state(const TernPredictor* predictor, const char* name,
                                                  TernValue** out);
/* Copies the value to the state, for the next run to read. */
TERN_CHECKED TernStatus* tern_predictor_set_state(TernPredictor* predictor, const char* name,
                                                  const TernValue* value);

/* ---- Options of a run ----
 * A setter that fails stores its error in the options, and tern_predictor_run returns the first one. The same
 * options may be used by any number of runs, also at the same time, if no thread changes them. */

/* Returns options without limits, or NULL if memory is exhausted. */
TERN_API TernRunOptions* tern_run_options_new(void);
TERN_API void tern_run_options_free(TernRunOptions* options);
/* Limits the time of each run, measured from the call of tern_predictor_run; 0 means no limit. A run that
 * exceeds the limit fails with TERN_CANCELLED. Limits are checked between the steps of a run. */
TERN_API void tern_run_options_set_timeout_ns(TernRunOptions* options, int64_t nanoseconds);
/* An absolute time limit on the clock of tern_clock_ns; INT64_MAX means no limit. If a timeout is also set,
 * the earlier of the two applies. */
TERN_API void tern_run_options_set_deadline_ns(TernRunOptions* options, int64_t nanoseconds);
/* Runs end with TERN_CANCELLED after the flag is set. The options share the flag, so `cancel` may be freed
 * before them. NULL removes the flag. */
TERN_API void tern_run_options_set_cancel(TernRunOptions* options, const TernCancel* cancel);
/* A text for the error messages of the run, for example a request's id. */
TERN_API void tern_run_options_set_tag(TernRunOptions* options, const char* tag);

/* Returns a flag that is not set, or NULL if memory is exhausted. The functions below are thread-safe, except
 * tern_cancel_free. tern_cancel_set is also safe in a signal handler. */
TERN_API TernCancel* tern_cancel_new(void);
TERN_API void tern_cancel_set(TernCancel* cancel);
TERN_API void tern_cancel_clear(TernCancel* cancel);
TERN_API int32_t tern_cancel_is_set(const TernCancel* cancel); /* 0 or 1 */
TERN_API void tern_cancel_free(TernCancel* cancel);

#ifdef __cplusplus
}
#endif

#endif

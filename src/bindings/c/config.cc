// The options of the C API: the config of a predictor and the limits of a run.
#include "bindings/c/handles.h"

using tern::c::TryGet;
using tern::c::TrySet;

TernConfig* tern_config_new(void) {
  return TryGet<TernConfig*>(nullptr, [] { return new TernConfig(); });
}
void tern_config_free(TernConfig* config) { delete config; }

void tern_config_set_model_path(TernConfig* config, const char* path) {
  TrySet(config, __func__, {{"path", path}}, [&] { config->config.model_path(path); });
}
void tern_config_set_weights_path(TernConfig* config, const char* path) {
  TrySet(config, __func__, {{"path", path}}, [&] { config->config.weights_path(path); });
}
void tern_config_set_signature(TernConfig* config, const char* name) {
  TrySet(config, __func__, {{"name", name}}, [&] { config->config.signature(name); });
}
void tern_config_set_input_type(TernConfig* config, const char* name, const char* type) {
  TrySet(config, __func__, {{"name", name}, {"type", type}}, [&] { config->config.input_type(name, type); });
}
void tern_config_set_model_buffer(TernConfig* config, const void* data, size_t bytes) {
  TrySet(config, __func__, {{"data", data}}, [&] { config->config.model_buffer(data, bytes); });
}
void tern_config_set_threads(TernConfig* config, int32_t count) {
  TrySet(config, __func__, {}, [&] { config->config.threads(count); });
}
void tern_config_set_plan_cache(TernConfig* config, int32_t count) {
  TrySet(config, __func__, {}, [&] { config->config.plan_cache(count); });
}
void tern_config_set_memory_limit(TernConfig* config, size_t bytes) {
  TrySet(config, __func__, {}, [&] { config->config.memory_limit(bytes); });
}
void tern_config_set_collect_limit(TernConfig* config, size_t bytes) {
  TrySet(config, __func__, {}, [&] { config->config.collect_limit(bytes); });
}
void tern_config_set_batch(TernConfig* config, int64_t size) {
  TrySet(config, __func__, {}, [&] { config->config.batch(size); });
}
void tern_config_set_optimize(TernConfig* config, const char* level) {
  TrySet(config, __func__, {{"level", level}}, [&] { config->config.optimize(level); });
}
void tern_config_set_precision(TernConfig* config, const char* name) {
  TrySet(config, __func__, {{"name", name}}, [&] { config->config.precision(name); });
}
void tern_config_set_tune_ms(TernConfig* config, int64_t milliseconds) {
  TrySet(config, __func__, {}, [&] { config->config.tune_ms(milliseconds); });
}
void tern_config_set_cache_dir(TernConfig* config, const char* folder) {
  TrySet(config, __func__, {{"folder", folder}}, [&] { config->config.cache_dir(folder); });
}
void tern_config_set_reference(TernConfig* config, int32_t on) {
  TrySet(config, __func__, {}, [&] { config->config.reference(on != 0); });
}
void tern_config_set_states(TernConfig* config, const char* pairs) {
  TrySet(config, __func__, {{"pairs", pairs}}, [&] { config->config.states(pairs); });
}

TernRunOptions* tern_run_options_new(void) {
  return TryGet<TernRunOptions*>(nullptr, [] { return new TernRunOptions(); });
}
void tern_run_options_free(TernRunOptions* options) { delete options; }

void tern_run_options_set_timeout_ns(TernRunOptions* options, int64_t nanoseconds) {
  TrySet(options, __func__, {}, [&] { options->options.timeout = std::chrono::nanoseconds(nanoseconds); });
}
void tern_run_options_set_deadline_ns(TernRunOptions* options, int64_t nanoseconds) {
  const std::chrono::nanoseconds since_epoch(nanoseconds);
  TrySet(options, __func__, {},
         [&] { options->options.deadline = std::chrono::steady_clock::time_point(since_epoch); });
}
void tern_run_options_set_cancel(TernRunOptions* options, const TernCancel* cancel) {
  TrySet(options, __func__, {}, [&] {
    options->cancel = cancel ? cancel->flag : nullptr;
    options->options.cancel = options->cancel.get();
  });
}
void tern_run_options_set_tag(TernRunOptions* options, const char* tag) {
  TrySet(options, __func__, {{"tag", tag}}, [&] { options->options.tag = tag; });
}

TernCancel* tern_cancel_new(void) {
  return TryGet<TernCancel*>(nullptr,
                             [] { return new TernCancel{std::make_shared<std::atomic<bool>>(false)}; });
}
void tern_cancel_set(TernCancel* cancel) {
  if (cancel) cancel->flag->store(true);
}
void tern_cancel_clear(TernCancel* cancel) {
  if (cancel) cancel->flag->store(false);
}
int32_t tern_cancel_is_set(const TernCancel* cancel) { return cancel && cancel->flag->load() ? 1 : 0; }
void tern_cancel_free(TernCancel* cancel) { delete cancel; }

// The predictors of the C API: creation, ports, runs and states.
#include <algorithm>

#include "bindings/c/handles.h"

using tern::c::Store;
using tern::c::Try;
using tern::v1::Status;

TernPredictor::TernPredictor(tern::v1::Predictor p) : predictor(std::move(p)), states(predictor.States()) {
  for (size_t i = 0; i < predictor.InputNames().size(); ++i) inputs.emplace_back(predictor.Input(i));
  for (size_t i = 0; i < predictor.OutputNames().size(); ++i) outputs.emplace_back(predictor.Output(i));
  for (const std::string& name : predictor.OverridableNames()) constants.emplace_back(predictor.Input(name));
}

namespace {

TernPort* At(std::vector<TernPort>& ports, size_t index) {
  return index < ports.size() ? &ports[index] : nullptr;
}

TernPort* Find(std::vector<TernPort>& ports, const char* name) {
  const auto has_name = [&](const TernPort& port) { return port.tensor.name() == name; };
  const auto it = std::find_if(ports.begin(), ports.end(), has_name);
  return it == ports.end() ? nullptr : &*it;
}

const tern::v1::StateInfo* StateAt(const TernPredictor* predictor, size_t index) {
  return index < tern_predictor_state_count(predictor) ? &predictor->states[index] : nullptr;
}

template <class T> void Clear(T** out) {
  if (out) *out = nullptr;
}

}  // namespace

TernStatus* tern_predictor_create(const TernConfig* config, TernPredictor** out) {
  Clear(out);
  return Try(__func__, {{"config", config}, {"out", out}}, [&] {
    if (!config->error.ok()) return config->error;
    return Store(tern::v1::Predictor::Create(config->config), out);
  });
}

TernStatus* tern_predictor_clone(const TernPredictor* predictor, TernPredictor** out) {
  Clear(out);
  return Try(__func__, {{"predictor", predictor}, {"out", out}},
             [&] { return Store(predictor->predictor.Clone(), out); });
}

void tern_predictor_free(TernPredictor* predictor) { delete predictor; }

size_t tern_predictor_input_count(const TernPredictor* predictor) {
  return predictor ? predictor->inputs.size() : 0;
}
size_t tern_predictor_output_count(const TernPredictor* predictor) {
  return predictor ? predictor->outputs.size() : 0;
}
size_t tern_predictor_overridable_count(const TernPredictor* predictor) {
  return predictor ? predictor->constants.size() : 0;
}
TernPort* tern_predictor_input_at(TernPredictor* predictor, size_t index) {
  return predictor ? At(predictor->inputs, index) : nullptr;
}
TernPort* tern_predictor_output_at(TernPredictor* predictor, size_t index) {
  return predictor ? At(predictor->outputs, index) : nullptr;
}
TernPort* tern_predictor_overridable_at(TernPredictor* predictor, size_t index) {
  return predictor ? At(predictor->constants, index) : nullptr;
}

TernStatus* tern_predictor_input(TernPredictor* predictor, const char* name, TernPort** out) {
  Clear(out);
  return Try(__func__, {{"predictor", predictor}, {"name", name}, {"out", out}}, [&]() -> Status {
    *out = Find(predictor->inputs, name);
    if (!*out) *out = Find(predictor->constants, name);
    return *out ? Status() : predictor->predictor.Input(name).status();
  });
}

TernStatus* tern_predictor_output(TernPredictor* predictor, const char* name, TernPort** out) {
  Clear(out);
  return Try(__func__, {{"predictor", predictor}, {"name", name}, {"out", out}}, [&]() -> Status {
    *out = Find(predictor->outputs, name);
    return *out ? Status() : predictor->predictor.Output(name).status();
  });
}

TernStatus* tern_predictor_run(TernPredictor* predictor, const TernRunOptions* options) {
  return Try(__func__, {{"predictor", predictor}}, [&] {
    if (!options) return predictor->predictor.Run();
    return options->error.ok() ? predictor->predictor.Run(options->options) : options->error;
  });
}

TernStatus* tern_predictor_warnings(const TernPredictor* predictor, TernStrings** out) {
  Clear(out);
  return Try(__func__, {{"predictor", predictor}, {"out", out}}, [&] {
    *out = new TernStrings{predictor->predictor.warnings()};
    return Status();
  });
}

size_t tern_predictor_state_count(const TernPredictor* predictor) {
  return predictor ? predictor->states.size() : 0;
}
const char* tern_predictor_state_name(const TernPredictor* predictor, size_t index) {
  const auto* state = StateAt(predictor, index);
  return state ? state->name.c_str() : nullptr;
}
const char* tern_predictor_state_output(const TernPredictor* predictor, size_t index) {
  const auto* state = StateAt(predictor, index);
  return state ? state->output.c_str() : nullptr;
}
const char* tern_predictor_state_type(const TernPredictor* predictor, size_t index) {
  const auto* state = StateAt(predictor, index);
  return state ? state->declared_type.c_str() : nullptr;
}
int32_t tern_predictor_state_axis(const TernPredictor* predictor, size_t index) {
  const auto* state = StateAt(predictor, index);
  return state ? state->axis : -1;
}
int64_t tern_predictor_state_length(const TernPredictor* predictor) {
  return predictor ? predictor->predictor.StateLength() : 0;
}

TernStatus* tern_predictor_reset_states(TernPredictor* predictor) {
  return Try(__func__, {{"predictor", predictor}}, [&] { return predictor->predictor.ResetStates(); });
}

TernStatus* tern_predictor_get_state(const TernPredictor* predictor, const char* name, TernValue** out) {
  Clear(out);
  return Try(__func__, {{"predictor", predictor}, {"name", name}, {"out", out}},
             [&] { return Store(predictor->predictor.GetState(name), out); });
}

TernStatus* tern_predictor_set_state(TernPredictor* predictor, const char* name, const TernValue* value) {
  return Try(__func__, {{"predictor", predictor}, {"name", name}, {"value", value}},
             [&] { return predictor->predictor.SetState(name, value->value); });
}

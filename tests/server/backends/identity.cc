// Returns its inputs. Output i of the configuration is a copy of input i, with the same type and dims. The
// parameter execute_delay_ms delays each execution by this number of milliseconds. The parameter
// creation_delay_sec delays loading by this number of seconds.
#include <chrono>
#include <thread>

#include "plug_in.h"

namespace {

struct Model {
  std::vector<std::string> inputs, outputs;
  int delay_ms = 0;
};

void* Load(void*, const TernModelInfo* info, TernError* error) {
  auto model = new Model;
  for (uint64_t i = 0; i < info->input_count; ++i) model->inputs.push_back(info->inputs[i].name);
  for (uint64_t i = 0; i < info->output_count; ++i) model->outputs.push_back(info->outputs[i].name);
  model->delay_ms = std::atoi(plug_in::Parameter(*info, "execute_delay_ms", "0").c_str());
  const double seconds = std::atof(plug_in::Parameter(*info, "creation_delay_sec", "0").c_str());
  if (seconds > 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  if (!model->inputs.empty() && model->inputs.size() == model->outputs.size()) return model;
  plug_in::Fail(error, TERN_INVALID_ARGUMENT,
                "identity needs at least one input, and as many outputs as inputs");
  delete model;
  return nullptr;
}

void Unload(void* model) { delete static_cast<Model*>(model); }
void* CreateInstance(void* model, TernError*) { return model; }
void DestroyInstance(void*) {}

bool Wanted(const TernBatch& batch, const std::string& name) {
  for (uint64_t i = 0; i < batch.output_count; ++i)
    if (name == batch.outputs[i]) return true;
  return batch.output_count == 0;
}

int32_t Run(void* instance, const TernBatch* batch, TernOutputs* outputs, TernError*) {
  auto& model = *static_cast<Model*>(instance);
  if (model.delay_ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds(model.delay_ms));
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    const TernTensor* input = plug_in::Input(*batch, model.inputs[i]);
    // Skips outputs whose optional input is absent, and outputs that no client requested.
    if (!input || !Wanted(*batch, model.outputs[i])) continue;
    TernTensor output = *input;
    output.name = model.outputs[i].c_str();
    void* memory = plug_in::host->allocate(outputs, &output);
    if (memory && input->bytes) std::memcpy(memory, input->data, input->bytes);
  }
  return TERN_OK;
}

constexpr TernBackend kBackend{
    .version = TERN_BACKEND_VERSION,
    .size = sizeof(TernBackend),
    .name = "identity",
    .initialise = plug_in::Initialise,
    .load = Load,
    .unload = Unload,
    .create_instance = CreateInstance,
    .destroy_instance = DestroyInstance,
    .run = Run,
};

}  // namespace

extern "C" const TernBackend* tern_backend_1() { return &kBackend; }

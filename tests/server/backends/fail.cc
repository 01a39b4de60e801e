// Fails in the function that the parameter `fail` names: "load", "describe", "instance", "run", "output"
// (returns an output with a wrong size) or "none". The input X and the output Y are FP32 [1].
#include "plug_in.h"

namespace {

struct Model {
  std::string fail;
};

void* Load(void*, const TernModelInfo* info, TernError* error) {
  const std::string fail = plug_in::Parameter(*info, "fail", "run");
  if (fail != "load") return new Model{fail};
  plug_in::Fail(error, TERN_INVALID_MODEL, "load fails as the configuration says");
  return nullptr;
}

void Unload(void* model) { delete static_cast<Model*>(model); }

int32_t Describe(void* model, const TernModelInfo*, TernDescription* to, TernError* error) {
  if (static_cast<Model*>(model)->fail == "describe")
    return plug_in::Fail(error, TERN_UNSUPPORTED, "describe fails as the configuration says");
  const int64_t dims[] = {1};
  const TernTensorInfo input{"X", TERN_TYPE_FP32, 1, dims, 0}, output{"Y", TERN_TYPE_FP32, 1, dims, 0};
  plug_in::host->add_input(to, &input);
  plug_in::host->add_output(to, &output);
  return TERN_OK;
}

void* CreateInstance(void* model, TernError* error) {
  if (static_cast<Model*>(model)->fail != "instance") return model;
  plug_in::Fail(error, TERN_RESOURCE_EXHAUSTED, "instance fails as the configuration says");
  return nullptr;
}

void DestroyInstance(void*) {}

int32_t Run(void* instance, const TernBatch* batch, TernOutputs* outputs, TernError* error) {
  const std::string& fail = static_cast<Model*>(instance)->fail;
  if (fail == "run") return plug_in::Fail(error, TERN_INTERNAL, "run fails as the configuration says");
  const float value = batch->input_count ? plug_in::At<float>(batch->inputs[0], 0) : 0;
  const std::vector<float> values(fail == "output" ? 3 : 1, value);
  plug_in::AddOutput(outputs, "Y", TERN_TYPE_FP32, {1}, values);
  return TERN_OK;
}

constexpr TernBackend kBackend{
    .version = TERN_BACKEND_VERSION,
    .size = sizeof(TernBackend),
    .name = "fail",
    .initialise = plug_in::Initialise,
    .load = Load,
    .unload = Unload,
    .describe = Describe,
    .create_instance = CreateInstance,
    .destroy_instance = DestroyInstance,
    .run = Run,
};

}  // namespace

extern "C" const TernBackend* tern_backend_1() { return &kBackend; }

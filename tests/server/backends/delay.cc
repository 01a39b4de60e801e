// Waits for delay_ms (a parameter of the model, in milliseconds), and then returns INPUT0 as OUTPUT0 (FP32,
// any size). Fails early with TERN_CANCELLED if no client waits for the batch any more.
#include <chrono>
#include <thread>

#include "plug_in.h"

namespace {

struct Model {
  int delay_ms = 100;
};

void* Load(void*, const TernModelInfo* info, TernError*) {
  return new Model{std::atoi(plug_in::Parameter(*info, "delay_ms", "100").c_str())};
}

void Unload(void* model) { delete static_cast<Model*>(model); }

int32_t Describe(void*, const TernModelInfo* info, TernDescription* to, TernError*) {
  const int64_t dims[] = {-1};
  const TernTensorInfo input{"INPUT0", TERN_TYPE_FP32, 1, dims, 0},
      output{"OUTPUT0", TERN_TYPE_FP32, 1, dims, 0};
  plug_in::host->add_input(to, &input);
  plug_in::host->add_output(to, &output);
  plug_in::host->set_max_batch_size(to, info->max_batch_size, 0);
  return TERN_OK;
}

void* CreateInstance(void* model, TernError*) { return model; }
void DestroyInstance(void*) {}

int32_t Run(void* instance, const TernBatch* batch, TernOutputs* outputs, TernError* error) {
  const int delay_ms = static_cast<Model*>(instance)->delay_ms;
  for (int i = 0; i < delay_ms; ++i) {
    if (plug_in::host->stopped(batch)) return plug_in::Fail(error, TERN_CANCELLED, "the delay was cancelled");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const TernTensor* input = plug_in::Input(*batch, "INPUT0");
  if (!input) return plug_in::Fail(error, TERN_INVALID_ARGUMENT, "INPUT0 is missing");
  TernTensor output = *input;
  output.name = "OUTPUT0";
  void* memory = plug_in::host->allocate(outputs, &output);
  if (memory && input->bytes) std::memcpy(memory, input->data, input->bytes);
  return TERN_OK;
}

constexpr TernBackend kBackend{
    .version = TERN_BACKEND_VERSION,
    .size = sizeof(TernBackend),
    .name = "delay",
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

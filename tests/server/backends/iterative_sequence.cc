// A model that counts down, one step per iteration: a request with INPUT (INT32 [1]) n gets the outputs n-1,
// …, 0 in OUTPUT (INT32 [1]). The request is scheduled again until the output is 0 or less. With a state
// {input_name: "STATE", output_name: "NEXT"}, the count is there; otherwise the plug-in stores it by the id
// of the sequence; the metric "sequences" is their number. Parameters: delay_ms (500) is the duration of an
// iteration; silent (0) is nonzero if only the last iteration responds.
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

#include "plug_in.h"

namespace {

struct Model {
  int delay_ms = 0;
  bool silent = false;
  std::mutex mutex;
  std::map<std::string, int32_t> counts;  // by the id of the sequence
};

void* Load(void*, const TernModelInfo* info, TernError*) {
  auto* model = new Model;
  model->delay_ms = std::atoi(plug_in::Parameter(*info, "delay_ms", "500").c_str());
  model->silent = plug_in::Parameter(*info, "silent", "0") != "0";
  return model;
}
void Unload(void* model) { delete static_cast<Model*>(model); }

int32_t Describe(void*, const TernModelInfo*, TernDescription* to, TernError*) {
  const int64_t one[] = {1};
  const TernTensorInfo input{"INPUT", TERN_TYPE_INT32, 1, one, 0},
      output{"OUTPUT", TERN_TYPE_INT32, 1, one, 0};
  plug_in::host->add_input(to, &input);
  plug_in::host->add_output(to, &output);
  return TERN_OK;
}

void* CreateInstance(void* model, TernError*) { return model; }
void DestroyInstance(void*) {}

// Returns the count before this iteration.
int32_t Before(Model& model, const TernBatch& batch, uint64_t row) {
  const auto input = plug_in::At<int32_t>(*plug_in::Input(batch, "INPUT"), row);
  const TernTensor* state = plug_in::Input(batch, "STATE");
  const TernTensor* start = plug_in::Input(batch, "START");
  if (state && start) return plug_in::At<int32_t>(*start, row) ? input : plug_in::At<int32_t>(*state, row);
  const char* id = plug_in::host->row_sequence(&batch, row);
  const std::lock_guard<std::mutex> lock(model.mutex);
  return id ? model.counts.try_emplace(id, input).first->second : input;
}

void Store(Model& model, const TernBatch& batch, uint64_t row, int32_t count) {
  const char* id = plug_in::host->row_sequence(&batch, row);
  if (!id || plug_in::Input(batch, "STATE")) return;
  const std::lock_guard<std::mutex> lock(model.mutex);
  if (count > 0)
    model.counts[id] = count;
  else
    model.counts.erase(id);
}

void EndSequence(void* instance, const char* id) {
  Model& model = *static_cast<Model*>(instance);
  const std::lock_guard<std::mutex> lock(model.mutex);
  model.counts.erase(id);
}

void Metrics(void* handle, TernMetrics* to) {
  Model& model = *static_cast<Model*>(handle);
  const std::lock_guard<std::mutex> lock(model.mutex);
  plug_in::host->metric(to, "sequences", static_cast<double>(model.counts.size()));
}

int32_t Run(void* instance, const TernBatch* batch, TernOutputs* outputs, TernError* error) {
  Model& model = *static_cast<Model*>(instance);
  const TernTensor* input = plug_in::Input(*batch, "INPUT");
  if (!input) return plug_in::Fail(error, TERN_INVALID_ARGUMENT, "INPUT is missing");
  std::this_thread::sleep_for(std::chrono::milliseconds(model.delay_ms));
  const TernTensor* ready = plug_in::Input(*batch, "READY");
  std::vector<int32_t> counts;
  for (uint64_t row = 0; row < input->bytes / 4; ++row) {
    counts.push_back(0);
    if (ready && !plug_in::At<int32_t>(*ready, row)) continue;  // an empty slot of the batch
    counts.back() = Before(model, *batch, row) - 1;
    Store(model, *batch, row, counts.back());
    if (counts.back() > 0) plug_in::host->reschedule(outputs, row, !model.silent);
  }
  const std::vector<int64_t> dims(input->dims, input->dims + input->rank);
  plug_in::AddOutput(outputs, "OUTPUT", TERN_TYPE_INT32, dims, counts);
  if (plug_in::Input(*batch, "STATE")) plug_in::AddOutput(outputs, "NEXT", TERN_TYPE_INT32, dims, counts);
  return TERN_OK;
}

constexpr TernBackend kBackend{
    .version = TERN_BACKEND_VERSION,
    .size = sizeof(TernBackend),
    .name = "iterative_sequence",
    .initialise = plug_in::Initialise,
    .load = Load,
    .unload = Unload,
    .describe = Describe,
    .metrics = Metrics,
    .create_instance = CreateInstance,
    .destroy_instance = DestroyInstance,
    .run = Run,
    .end_sequence = EndSequence,
};

}  // namespace

extern "C" const TernBackend* tern_backend_1() { return &kBackend; }

// Computes the sum of the inputs of each sequence. The inputs are INPUT (INT32 [1]) and the controls START,
// END, READY (INT32 [1]) and CORRID (UINT64 [1]). OUTPUT (INT32 [1]) is the sum of INPUT since START. If
// there is a batch dim, each row belongs to a separate sequence.
#include <map>
#include <mutex>

#include "plug_in.h"

namespace {

struct Model {
  std::mutex mutex;
  std::map<uint64_t, int32_t> sums;  // from CORRID to the sum
};

void* Load(void*, const TernModelInfo*, TernError*) { return new Model; }
void Unload(void* model) { delete static_cast<Model*>(model); }

int32_t Describe(void*, const TernModelInfo*, TernDescription* to, TernError*) {
  const int64_t one[] = {1};
  for (const char* name : {"INPUT", "START", "END", "READY"}) {
    const TernTensorInfo input{name, TERN_TYPE_INT32, 1, one, 0};
    plug_in::host->add_input(to, &input);
  }
  const TernTensorInfo id{"CORRID", TERN_TYPE_UINT64, 1, one, 0},
      output{"OUTPUT", TERN_TYPE_INT32, 1, one, 0};
  plug_in::host->add_input(to, &id);
  plug_in::host->add_output(to, &output);
  return TERN_OK;
}

void* CreateInstance(void* model, TernError*) { return model; }
void DestroyInstance(void*) {}

int32_t Step(Model& model, const TernBatch& batch, uint64_t row) {
  const auto flag = [&](const char* name) {
    const TernTensor* control = plug_in::Input(batch, name);
    return control && plug_in::At<int32_t>(*control, row) != 0;
  };
  if (plug_in::Input(batch, "READY") && !flag("READY")) return 0;  // the row is unused
  const TernTensor* id = plug_in::Input(batch, "CORRID");
  const uint64_t key = id ? plug_in::At<uint64_t>(*id, row) : 0;
  const std::lock_guard<std::mutex> lock(model.mutex);
  if (flag("START")) model.sums[key] = 0;
  const auto added = static_cast<uint32_t>(plug_in::At<int32_t>(*plug_in::Input(batch, "INPUT"), row));
  const auto sum = static_cast<int32_t>(static_cast<uint32_t>(model.sums[key]) + added);
  model.sums[key] = sum;
  if (flag("END")) model.sums.erase(key);
  return sum;
}

int32_t Run(void* instance, const TernBatch* batch, TernOutputs* outputs, TernError* error) {
  const TernTensor* input = plug_in::Input(*batch, "INPUT");
  if (!input) return plug_in::Fail(error, TERN_INVALID_ARGUMENT, "INPUT is missing");
  std::vector<int32_t> sums;
  for (uint64_t row = 0; row < input->bytes / 4; ++row)
    sums.push_back(Step(*static_cast<Model*>(instance), *batch, row));
  plug_in::AddOutput(outputs, "OUTPUT", TERN_TYPE_INT32, {input->dims, input->dims + input->rank}, sums);
  return TERN_OK;
}

constexpr TernBackend kBackend{
    .version = TERN_BACKEND_VERSION,
    .size = sizeof(TernBackend),
    .name = "sequence",
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

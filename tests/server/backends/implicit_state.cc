// Uses states as Triton's test back end implicit_state does. The inputs are INPUT and TEST_CASE (INT32 [1]),
// and the state INPUT_STATE. TEST_CASE selects what happens:
//   0  a state that is not in the configuration gets a value: the request fails
//   1  OUTPUT (INT32 [1]) is INPUT plus the state, which gets no new value
//   2  as 1, and the sum is the new value of OUTPUT_STATE
//   3  OUTPUT_STATE (INT8) grows by a block with each request. Each byte of block i is i. OUTPUT is INPUT
#include "plug_in.h"

namespace {

constexpr uint64_t kBlock = 1024 * 1024;  // bytes

void* Load(void*, const TernModelInfo*, TernError*) { return new int(0); }
void Unload(void* model) { delete static_cast<int*>(model); }
void* CreateInstance(void* model, TernError*) { return model; }
void DestroyInstance(void*) {}

template <class T> T* NewState(TernOutputs* outputs, const char* name, TernType type, uint64_t elements) {
  const int64_t dims[] = {static_cast<int64_t>(elements)};
  const TernTensor tensor{name, type, 1, dims, nullptr, elements * sizeof(T)};
  return static_cast<T*>(plug_in::host->state(outputs, &tensor));
}

// The first request finds the initial state, all others what the request before made.
void Grow(const TernTensor& state, bool start, TernOutputs* outputs) {
  const uint64_t blocks = start ? 0 : state.bytes / kBlock;
  auto* bytes = NewState<char>(outputs, "OUTPUT_STATE", TERN_TYPE_INT8, (blocks + 1) * kBlock);
  if (!bytes) return;
  if (blocks > 0) std::memcpy(bytes, state.data, blocks * kBlock);
  std::memset(bytes + blocks * kBlock, static_cast<int>(blocks), kBlock);
}

int32_t Run(void*, const TernBatch* batch, TernOutputs* outputs, TernError* error) {
  const TernTensor* input = plug_in::Input(*batch, "INPUT");
  const TernTensor* test_case = plug_in::Input(*batch, "TEST_CASE");
  const TernTensor* state = plug_in::Input(*batch, "INPUT_STATE");
  const TernTensor* start = plug_in::Input(*batch, "START");
  if (!input || !test_case) return plug_in::Fail(error, TERN_INVALID_ARGUMENT, "an input is missing");
  const auto chosen = plug_in::At<int32_t>(*test_case, 0);
  auto value = plug_in::At<int32_t>(*input, 0);
  if (chosen != 0 && !state) return plug_in::Fail(error, TERN_INVALID_ARGUMENT, "INPUT_STATE is missing");
  if (chosen == 1 || chosen == 2) value += plug_in::At<int32_t>(*state, 0);
  plug_in::AddOutput<int32_t>(outputs, "OUTPUT", TERN_TYPE_INT32, {1}, {value});
  if (chosen == 0) NewState<int32_t>(outputs, "undefined_state", TERN_TYPE_INT32, 1);
  if (chosen == 2)
    if (auto* sum = NewState<int32_t>(outputs, "OUTPUT_STATE", TERN_TYPE_INT32, 1)) *sum = value;
  if (chosen == 3) Grow(*state, start && plug_in::At<float>(*start, 0) != 0, outputs);
  return TERN_OK;
}

constexpr TernBackend kBackend{
    .version = TERN_BACKEND_VERSION,
    .size = sizeof(TernBackend),
    .name = "implicit_state",
    .initialise = plug_in::Initialise,
    .load = Load,
    .unload = Unload,
    .create_instance = CreateInstance,
    .destroy_instance = DestroyInstance,
    .run = Run,
};

}  // namespace

extern "C" const TernBackend* tern_backend_1() { return &kBackend; }

// Compares the parameters of a request with expected ones. The only input (BYTES [1]) is a flat JSON object
// of strings, such as {"my-key": "my-value"}. The only output (BOOL [1]) is true if the request has all of
// them, with the same values.
#include "plug_in.h"

namespace {

struct Model {
  std::string output;
};

void* Load(void*, const TernModelInfo* info, TernError* error) {
  if (info->input_count == 1 && info->output_count == 1) return new Model{info->outputs[0].name};
  plug_in::Fail(error, TERN_INVALID_ARGUMENT, "the model needs one input and one output");
  return nullptr;
}
void Unload(void* model) { delete static_cast<Model*>(model); }

void* CreateInstance(void* model, TernError*) { return model; }
void DestroyInstance(void*) {}

// Returns the texts between quotes. Escapes are not supported.
std::vector<std::string> Quoted(const std::string& json) {
  std::vector<std::string> texts;
  size_t at = 0;
  while ((at = json.find('"', at)) != std::string::npos) {
    const size_t end = json.find('"', at + 1);
    if (end == std::string::npos) break;
    texts.push_back(json.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return texts;
}

int32_t Run(void* instance, const TernBatch* batch, TernOutputs* outputs, TernError* error) {
  if (batch->input_count != 1 || batch->inputs[0].bytes < 4)
    return plug_in::Fail(error, TERN_INVALID_ARGUMENT, "the input is missing");
  const TernTensor& input = batch->inputs[0];
  const std::vector<std::string> expected =
      Quoted(std::string(static_cast<const char*>(input.data) + 4, input.bytes - 4));
  uint8_t same = 1;
  for (size_t i = 0; i + 1 < expected.size(); i += 2) {
    const char* value = plug_in::host->row_parameter(batch, 0, expected[i].c_str());
    if (!value || value != expected[i + 1]) same = 0;
  }
  plug_in::AddOutput<uint8_t>(outputs, static_cast<Model*>(instance)->output.c_str(), TERN_TYPE_BOOL, {1},
                              {same});
  return TERN_OK;
}

constexpr TernBackend kBackend{
    .version = TERN_BACKEND_VERSION,
    .size = sizeof(TernBackend),
    .name = "expect_parameters",
    .initialise = plug_in::Initialise,
    .load = Load,
    .unload = Unload,
    .create_instance = CreateInstance,
    .destroy_instance = DestroyInstance,
    .run = Run,
};

}  // namespace

extern "C" const TernBackend* tern_backend_1() { return &kBackend; }

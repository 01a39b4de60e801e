// Shows the parameters of a request. A model with the outputs key and value (BYTES [n]) lists them; Booleans
// are written True and False. A model with one output (BOOL [1]) compares them with expected ones: the only
// input (BYTES [1]) is a flat JSON object of strings, such as {"my-key": "my-value"}, and the output is true
// if the request has all of these parameters, with the same values.
#include "plug_in.h"

namespace {

struct Model {
  std::string output;  // empty if the model lists the parameters
};

void* Load(void*, const TernModelInfo* info, TernError*) {
  return new Model{info->output_count == 1 ? info->outputs[0].name : ""};
}
void Unload(void* model) { delete static_cast<Model*>(model); }

int32_t Describe(void* model, const TernModelInfo* info, TernDescription* to, TernError*) {
  const int64_t any[] = {-1}, one[] = {1};
  if (info->output_count > 0 || !static_cast<Model*>(model)->output.empty()) return TERN_OK;
  const TernTensorInfo input{"INPUT0", TERN_TYPE_FP32, 1, one, 0}, key{"key", TERN_TYPE_BYTES, 1, any, 0},
      value{"value", TERN_TYPE_BYTES, 1, any, 0};
  plug_in::host->add_input(to, &input);
  plug_in::host->add_output(to, &key);
  plug_in::host->add_output(to, &value);
  return TERN_OK;
}

void* CreateInstance(void* model, TernError*) { return model; }
void DestroyInstance(void*) {}

void AddTexts(TernOutputs* to, const char* name, const std::vector<std::string>& texts) {
  std::vector<char> bytes;
  for (const std::string& text : texts) {
    const auto size = static_cast<uint32_t>(text.size());
    const char* prefix = reinterpret_cast<const char*>(&size);
    bytes.insert(bytes.end(), prefix, prefix + sizeof size);
    bytes.insert(bytes.end(), text.begin(), text.end());
  }
  plug_in::AddOutput(to, name, TERN_TYPE_BYTES, {static_cast<int64_t>(texts.size())}, bytes);
}

void List(const TernText* parameters, uint64_t count, TernOutputs* outputs) {
  std::vector<std::string> keys, values;
  for (uint64_t i = 0; i < count; ++i) {
    const std::string value = parameters[i].value;
    keys.push_back(parameters[i].key);
    values.push_back(value == "true" ? "True" : value == "false" ? "False" : value);
  }
  AddTexts(outputs, "key", keys);
  AddTexts(outputs, "value", values);
}

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

uint8_t HasAll(const std::vector<std::string>& expected, const TernText* parameters, uint64_t count) {
  for (size_t i = 0; i + 1 < expected.size(); i += 2) {
    bool found = false;
    for (uint64_t p = 0; p < count; ++p)
      found |= expected[i] == parameters[p].key && expected[i + 1] == parameters[p].value;
    if (!found) return 0;
  }
  return 1;
}

int32_t Run(void* instance, const TernBatch* batch, TernOutputs* outputs, TernError* error) {
  if (batch->input_count != 1 || batch->inputs[0].bytes < 4)
    return plug_in::Fail(error, TERN_INVALID_ARGUMENT, "the input is missing");
  uint64_t count = 0;
  const TernText* parameters = plug_in::host->row_parameters(batch, 0, &count);
  const std::string& output = static_cast<Model*>(instance)->output;
  if (output.empty()) return List(parameters, count, outputs), TERN_OK;
  const TernTensor& input = batch->inputs[0];
  const std::string json(static_cast<const char*>(input.data) + 4, input.bytes - 4);
  plug_in::AddOutput<uint8_t>(outputs, output.c_str(), TERN_TYPE_BOOL, {1},
                              {HasAll(Quoted(json), parameters, count)});
  return TERN_OK;
}

constexpr TernBackend kBackend{
    .version = TERN_BACKEND_VERSION,
    .size = sizeof(TernBackend),
    .name = "parameters",
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

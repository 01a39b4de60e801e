// Runs models on ONNX Runtime, to prove that the interface suits other engines. The plug-in opens the library
// of ONNX Runtime with dlopen. The environment variable TERN_ONNXRUNTIME is the path of the library, such as
// capi/libonnxruntime.so.1.31.1 of PyPI's wheel. If it is not set, the plug-in opens libonnxruntime.so. Only
// numeric tensors are supported. A configuration must state max_batch_size. Inputs and outputs are read from
// the model.
#include <dlfcn.h>

#include <algorithm>
#include <memory>

#include "plug_in.h"

namespace {

// Indices in the function table of ONNX Runtime's C API, version 1. Later versions only append functions.
enum Function {
  kGetErrorMessage = 2,
  kCreateEnv = 3,
  kCreateSession = 7,
  kRun = 9,
  kCreateSessionOptions = 10,
  kSetIntraOpNumThreads = 24,
  kInputCount = 30,
  kOutputCount = 31,
  kInputType = 33,
  kOutputType = 34,
  kInputName = 36,
  kOutputName = 37,
  kCreateTensor = 49,
  kTensorData = 51,
  kCastToTensor = 55,
  kElementType = 60,
  kDimCount = 61,
  kDims = 62,
  kTypeAndShape = 65,
  kCpuMemory = 69,
  kFree = 76,
  kDefaultAllocator = 78,
  kReleaseStatus = 93,
  kReleaseSession = 95,
  kReleaseValue = 96,
  kReleaseType = 98,
  kReleaseShape = 99,
  kReleaseSessionOptions = 100
};
constexpr uint32_t kApiVersion = 1;

struct ApiBase {
  const void* const* (*get_api)(uint32_t version);
  const char* (*version)();
};

const void* const* api = nullptr;  // set once, by Initialise
void* environment = nullptr;
void* cpu_memory = nullptr;

// Calls a function that returns a status. Returns the status's message, which is empty on success.
template <class... A> std::string Try(Function function, A... arguments) {
  void* status = reinterpret_cast<void* (*)(A...)>(const_cast<void*>(api[function]))(arguments...);
  if (!status) return "";
  std::string text =
      reinterpret_cast<const char* (*)(const void*)>(const_cast<void*>(api[kGetErrorMessage]))(status);
  reinterpret_cast<void (*)(void*)>(const_cast<void*>(api[kReleaseStatus]))(status);
  return text.empty() ? "ONNX Runtime failed" : text;
}

struct Release {
  Function function;
  void operator()(void* object) const {
    reinterpret_cast<void (*)(void*)>(const_cast<void*>(api[function]))(object);
  }
};
using Object = std::unique_ptr<void, Release>;

// Maps the types of ONNX (TensorProto.DataType) to types of the plug-in interface. `bytes` is the size of an
// element.
constexpr struct {
  int onnx;
  TernType type;
  int bytes;
} kTypes[] = {{1, TERN_TYPE_FP32, 4},   {2, TERN_TYPE_UINT8, 1},   {3, TERN_TYPE_INT8, 1},
              {4, TERN_TYPE_UINT16, 2}, {5, TERN_TYPE_INT16, 2},   {6, TERN_TYPE_INT32, 4},
              {7, TERN_TYPE_INT64, 8},  {9, TERN_TYPE_BOOL, 1},    {10, TERN_TYPE_FP16, 2},
              {11, TERN_TYPE_FP64, 8},  {12, TERN_TYPE_UINT32, 4}, {13, TERN_TYPE_UINT64, 8},
              {16, TERN_TYPE_BF16, 2}};

struct TensorType {
  std::string name;
  int onnx = 0;
  std::vector<int64_t> dims;

  TernType type() const {
    for (const auto& row : kTypes)
      if (row.onnx == onnx) return row.type;
    return TERN_TYPE_INVALID;
  }
  uint64_t bytes() const {
    uint64_t total = 0;
    for (const auto& row : kTypes)
      if (row.onnx == onnx) total = static_cast<uint64_t>(row.bytes);
    for (const int64_t dim : dims) total *= static_cast<uint64_t>(dim);
    return total;
  }
};

std::string ReadShape(const void* info, TensorType& out) {
  size_t rank = 0;
  if (std::string error = Try(kElementType, info, &out.onnx); !error.empty()) return error;
  if (std::string error = Try(kDimCount, info, &rank); !error.empty()) return error;
  out.dims.resize(rank);
  return Try(kDims, info, out.dims.data(), rank);
}

struct Model {
  Object session{nullptr, {kReleaseSession}};
  std::vector<TensorType> inputs, outputs;

  std::string ReadTensors(Function count, Function name, Function type, std::vector<TensorType>& out) const {
    size_t number = 0;
    void* allocator = nullptr;
    const void* handle = session.get();
    if (std::string error = Try(count, handle, &number); !error.empty()) return error;
    if (std::string error = Try(kDefaultAllocator, &allocator); !error.empty()) return error;
    for (size_t i = 0; i < number; ++i) {
      TensorType tensor;
      char* text = nullptr;
      void* info = nullptr;
      const void* shape = nullptr;
      if (std::string error = Try(name, handle, i, allocator, &text); !error.empty()) return error;
      tensor.name = text;
      (void)Try(kFree, allocator, static_cast<void*>(text));
      if (std::string error = Try(type, handle, i, &info); !error.empty()) return error;
      const Object owned(info, {kReleaseType});
      const void* read = info;
      if (std::string error = Try(kCastToTensor, read, &shape); !error.empty()) return error;
      if (!shape) return tensor.name + " is not a tensor";
      if (std::string error = ReadShape(shape, tensor); !error.empty()) return error;
      out.push_back(std::move(tensor));
    }
    return "";
  }

  std::string Load(const char* file, int threads) {
    void *options = nullptr, *handle = nullptr;
    if (std::string error = Try(kCreateSessionOptions, &options); !error.empty()) return error;
    const Object owned(options, {kReleaseSessionOptions});
    if (std::string error = Try(kSetIntraOpNumThreads, options, threads); !error.empty()) return error;
    const void *read = environment, *read_options = options;
    if (std::string error = Try(kCreateSession, read, file, read_options, &handle); !error.empty())
      return error;
    session.reset(handle);
    if (std::string error = ReadTensors(kInputCount, kInputName, kInputType, inputs); !error.empty())
      return error;
    return ReadTensors(kOutputCount, kOutputName, kOutputType, outputs);
  }
};

int32_t Initialise(const TernHost* host, void** backend, TernError* error) {
  plug_in::Initialise(host, backend, error);
  const char* named = std::getenv("TERN_ONNXRUNTIME");
  void* library = dlopen(named ? named : "libonnxruntime.so", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return plug_in::Fail(error, TERN_UNAVAILABLE,
                         "ONNX Runtime is not found; set TERN_ONNXRUNTIME to its library");
  const auto base = reinterpret_cast<const ApiBase* (*)()>(dlsym(library, "OrtGetApiBase"));
  api = base ? base()->get_api(kApiVersion) : nullptr;
  if (!api) return plug_in::Fail(error, TERN_UNSUPPORTED, "the library has no C API of ONNX Runtime");
  std::string text = Try(kCreateEnv, 3, "tern", &environment);
  if (text.empty()) text = Try(kCpuMemory, 0, 0, &cpu_memory);
  return text.empty() ? TERN_OK : plug_in::Fail(error, TERN_INTERNAL, text.c_str());
}

void* Load(void*, const TernModelInfo* info, TernError* error) {
  auto model = std::make_unique<Model>();
  const int threads = std::atoi(plug_in::Parameter(*info, "tern_threads", "1").c_str());
  const std::string text = model->Load(info->file, std::max(1, threads));
  if (text.empty()) return model.release();
  plug_in::Fail(error, TERN_INVALID_MODEL, text.c_str());
  return nullptr;
}

void Unload(void* model) { delete static_cast<Model*>(model); }

int32_t Describe(void* handle, const TernModelInfo* info, TernDescription* to, TernError*) {
  const auto add = [&](const std::vector<TensorType>& tensors, auto function) {
    for (const TensorType& tensor : tensors) {
      std::vector<int64_t> dims = tensor.dims;
      if (info->max_batch_size > 0 && !dims.empty()) dims.erase(dims.begin());
      const TernTensorInfo described{tensor.name.c_str(), tensor.type(), static_cast<int32_t>(dims.size()),
                                     dims.data(), 0};
      function(to, &described);
    }
  };
  add(static_cast<Model*>(handle)->inputs, plug_in::host->add_input);
  add(static_cast<Model*>(handle)->outputs, plug_in::host->add_output);
  return TERN_OK;
}

void* CreateInstance(void* model, TernError*) { return model; }
void DestroyInstance(void*) {}

std::string MakeInputs(const Model& model, const TernBatch& batch, std::vector<Object>& values) {
  for (const TensorType& tensor : model.inputs) {
    const TernTensor* input = plug_in::Input(batch, tensor.name);
    if (!input) return tensor.name + " is missing";
    void* value = nullptr;
    const void* memory = cpu_memory;
    if (std::string error = Try(kCreateTensor, memory, const_cast<void*>(input->data), size_t{input->bytes},
                                input->dims, static_cast<size_t>(input->rank), tensor.onnx, &value);
        !error.empty())
      return error;
    values.emplace_back(value, Release{kReleaseValue});
  }
  return "";
}

// Makes `value` an output without a copy. The server owns the value afterwards and releases it.
std::string Give(const TensorType& declared, void* value, TernOutputs* outputs) {
  Object owned(value, {kReleaseValue});
  void *info = nullptr, *data = nullptr;
  const void* read = value;
  if (std::string error = Try(kTypeAndShape, read, &info); !error.empty()) return error;
  const Object shape(info, {kReleaseShape});
  TensorType tensor;
  if (std::string error = ReadShape(info, tensor); !error.empty()) return error;
  if (std::string error = Try(kTensorData, value, &data); !error.empty()) return error;
  const TernTensor output{declared.name.c_str(), tensor.type(), static_cast<int32_t>(tensor.dims.size()),
                          tensor.dims.data(),    data,          tensor.bytes()};
  plug_in::host->give(outputs, &output, owned.release(), [](void* kept) { Release{kReleaseValue}(kept); });
  return "";
}

int32_t Run(void* instance, const TernBatch* batch, TernOutputs* outputs, TernError* error) {
  const auto& model = *static_cast<Model*>(instance);
  std::vector<Object> values;
  std::string text = MakeInputs(model, *batch, values);
  if (!text.empty()) return plug_in::Fail(error, TERN_INVALID_ARGUMENT, text.c_str());
  std::vector<const void*> inputs;
  std::vector<const char*> input_names, output_names;
  std::vector<void*> results(model.outputs.size());
  for (const Object& value : values) inputs.push_back(value.get());
  for (const TensorType& tensor : model.inputs) input_names.push_back(tensor.name.c_str());
  for (const TensorType& tensor : model.outputs) output_names.push_back(tensor.name.c_str());
  const void* no_options = nullptr;
  text = Try(kRun, model.session.get(), no_options, input_names.data(), inputs.data(), inputs.size(),
             output_names.data(), output_names.size(), results.data());
  if (!text.empty()) return plug_in::Fail(error, TERN_INVALID_ARGUMENT, text.c_str());
  for (size_t i = 0; i < results.size(); ++i)
    if (std::string failed = Give(model.outputs[i], results[i], outputs); text.empty()) text = failed;
  return text.empty() ? TERN_OK : plug_in::Fail(error, TERN_INTERNAL, text.c_str());
}

constexpr TernBackend kBackend{
    .version = TERN_BACKEND_VERSION,
    .size = sizeof(TernBackend),
    .name = "ort",
    .initialise = Initialise,
    .load = Load,
    .unload = Unload,
    .describe = Describe,
    .create_instance = CreateInstance,
    .destroy_instance = DestroyInstance,
    .run = Run,
};

}  // namespace

extern "C" const TernBackend* tern_backend_1() { return &kBackend; }

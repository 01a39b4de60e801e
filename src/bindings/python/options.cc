#include "bindings/python/options.h"

#include <nanobind/stl/string.h>

#include <cstring>
#include <thread>

#include "bindings/python/graph.h"
#include "generate/generate.h"
#include "load/input_types.h"
#include "load/load.h"
#include "passes/batch/set_batch.h"

namespace tern::python {
namespace {

constexpr int kMaxParallel = 1024;

struct Options {
  SessionOptions session{.level = Level::kLayout};
  std::string weights, signature;
  std::map<std::string, Type> input_types;
  int64_t batch = 0;
  int parallel = 0;
};

// Formats an option for messages the way that a Python call contains it.
std::string KeywordText(std::string_view option, std::string_view value) {
  return value.empty() ? std::string(option) : StrCat(option, "=", value);
}

template <class T> T Get(nb::handle value, const std::string& name, const char* kind) {
  T out{};
  if (!nb::try_cast(value, out)) Raise(InvalidArgument("the option ", name, " must be ", kind));
  return out;
}

Level LevelOf(const std::string& text) {
  const auto level = ParseLevel(text);
  if (!level)
    Raise(
        InvalidArgument("'", text, "' is not an optimization level; choose none, basic, extended or layout"));
  return *level;
}

Precision PrecisionOf(const std::string& text) {
  const auto precision = ParsePrecision(text);
  if (!precision) Raise(InvalidArgument("'", text, "' is not a precision; choose ", kPrecisionNames));
  return *precision;
}

// Returns the file system's bytes of a path (str or os.PathLike).
std::string PathOf(nb::handle path) {
  const nb::object bytes = nb::module_::import_("os").attr("fsencode")(path);
  const auto text = nb::borrow<nb::bytes>(bytes);
  return std::string(text.c_str(), text.size());
}

// `value` is a dict from names of inputs to types such as "f32[N,3,224,224]".
std::map<std::string, Type> InputTypesOf(nb::handle value) {
  std::map<std::string, std::string> texts;
  for (auto [name, type] : Get<nb::dict>(value, "input_types", "a dict"))
    texts[Get<std::string>(name, "input_types", "a dict from str to str")] =
        Get<std::string>(type, "input_types", "a dict from str to str");
  return Unwrap(load::ParseInputTypes(texts));
}

void Set(Options& o, const std::string& name, nb::handle value) {
  const auto text = [&] { return Get<std::string>(value, name, "a str"); };
  const auto number = [&] { return Get<int64_t>(value, name, "an int"); };
  const auto size = [&] { return Get<size_t>(value, name, "an int of at least 0"); };
  const auto small = [&] { return Get<int>(value, name, "an int"); };
  if (name == "threads")
    o.session.threads = small();
  else if (name == "plan_cache")
    o.session.plan_cache = small();
  else if (name == "memory_limit")
    o.session.memory_limit = size();
  else if (name == "collect_limit")
    o.session.collect_limit = size();
  else if (name == "batch")
    o.batch = number();
  else if (name == "optimize")
    o.session.level = LevelOf(text());
  else if (name == "precision")
    o.session.precision = PrecisionOf(text());
  else if (name == "tune_ms")
    o.session.tune_ms = number();
  else if (name == "cache_dir")
    o.session.cache_dir = text();
  else if (name == "reference")
    o.session.reference = Get<bool>(value, name, "a bool");
  else if (name == "states")
    o.session.states = text();
  else if (name == "weights")
    o.weights = PathOf(value);
  else if (name == "signature")
    o.signature = text();
  else if (name == "input_types")
    o.input_types = InputTypesOf(value);
  else if (name == "parallel")
    o.parallel = small();
  else
    Raise(InvalidArgument(
        "there is no option '", name,
        "'; the options are threads, plan_cache, memory_limit, collect_limit, batch, "
        "optimize, precision, tune_ms, cache_dir, reference, states, weights, signature, input_types, parallel"));
}

Options ParseOptions(const nb::dict& given) {
  Options options;
  for (auto [name, value] : given)
    if (!value.is_none()) Set(options, nb::cast<std::string>(name), value);
  Check(options.session.Validate(KeywordText));
  if (options.batch < 0) Raise(InvalidArgument("batch must be 0 or more, got ", options.batch));
  if (options.parallel < 0 || options.parallel > kMaxParallel)
    Raise(InvalidArgument("parallel must be 0 to ", kMaxParallel, ", got ", options.parallel));
  if (!options.parallel)
    options.parallel = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return options;
}

// Returns a buffer over the bytes of a Python object. The buffer keeps the object alive. Its last copy may be
// destroyed by a thread that does not hold the GIL.
Buffer BytesOfObject(nb::handle object) {
  struct Held {
    Py_buffer view;
    ~Held() {
      if (!Py_IsInitialized()) return;
      const nb::gil_scoped_acquire gil;
      PyBuffer_Release(&view);
    }
  };
  Py_buffer view;
  if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_SIMPLE) != 0) throw nb::python_error();
  auto held = std::shared_ptr<Held>(new Held{view});
  if (!view.readonly) {  // the caller may write to the memory while the model uses its weights
    Buffer copy = Buffer::Allocate(static_cast<size_t>(view.len));
    if (view.len) std::memcpy(copy.data(), view.buf, static_cast<size_t>(view.len));
    return copy;
  }
  return Buffer::Borrow(view.buf, static_cast<size_t>(view.len), held);
}

Result<load::Loaded> Read(const std::string& path, const Buffer& bytes, bool in_memory,
                          const load::LoadOptions& how) {
  return Guard([&]() -> Result<load::Loaded> {
    InitGenerate();
    if (in_memory) return load::LoadBytes(bytes, how);
    if (path.find('\0') != std::string::npos)
      return InvalidArgument("the path of the model contains a NUL character");
    return load::LoadFile(path, how);
  });
}

// Returns the path of a model. The error for an object of another kind says what to do with it.
std::string PathOfModel(nb::handle model) {
  if (PyUnicode_Check(model.ptr())) return PathOf(model);
  return PathOf(Attribute("tern.models", "path_of")(
      model, "a path, a bytes-like object, an onnx.ModelProto or a tern.Graph"));
}

// Returns whether the object is a protobuf message, such as an onnx.ModelProto.
bool IsMessage(nb::handle object) { return PyObject_HasAttrString(object.ptr(), "SerializeToString"); }

}  // namespace

LoadedGraph LoadGraph(nb::handle model, const load::LoadOptions& how) {
  if (GraphRef* graph = nullptr; nb::try_cast(model, graph) && graph) {
    if ((*graph)->parent) Raise(Unsupported("a subgraph cannot be loaded as a model"));
    return {(*graph)->Clone(), graph->shared()->warnings, "graph"};
  }
  if (IsMessage(model)) return LoadGraph(model.attr("SerializeToString")(), how);
  const bool in_memory = PyObject_CheckBuffer(model.ptr());
  const Buffer bytes = in_memory ? BytesOfObject(model) : Buffer();
  const std::string path = in_memory ? std::string() : PathOfModel(model);
  Result<load::Loaded> loaded = [&] {
    const nb::gil_scoped_release release;
    return Read(path, bytes, in_memory, how);
  }();
  if (loaded.status().code() == Code::kNotFound) RaiseAs("model not found", loaded.status());
  load::Loaded read = Unwrap(std::move(loaded));
  return {std::move(read.graph), std::move(read.warnings), read.format ? read.format->name : ""};
}

LoadedModel LoadModel(nb::handle model, const nb::dict& given) {
  const Options options = ParseOptions(given);
  LoadedGraph loaded =
      LoadGraph(model, {options.session.threads, options.weights, options.signature, options.input_types});
  Result<std::unique_ptr<Session>> session = [&] {
    const nb::gil_scoped_release release;
    return Guard([&]() -> Result<std::unique_ptr<Session>> {
      if (options.batch) TERN_TRY(SetBatch(*loaded.graph, options.batch));
      return Session::Create(std::move(loaded.graph), options.session);
    });
  }();
  LoadedModel out{Unwrap(std::move(session)), std::move(loaded.warnings), "", options.parallel};
  if (!out.session->graph().states().empty()) out.parallel = 1;
  if (!PyObject_CheckBuffer(model.ptr()) && !nb::isinstance<GraphRef>(model) && !IsMessage(model))
    out.source = nb::cast<std::string>(nb::module_::import_("os").attr("fsdecode")(model));
  return out;
}

}  // namespace tern::python

// The extension module tern._pipeline: tern::Pipeline for Python. It is a module of its own, because it needs
// the libraries that decode pictures and sound. python/tern/pipeline.py imports it at the first use.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>

#include "bindings/python/raise.h"
#include "tern/pipeline.hpp"

namespace nb = nanobind;

namespace tern::python {
namespace {

nb::dlpack::dtype TypeOf(const Value& value) {
  switch (value.dtype()) {
    case DType::kF32:
      return nb::dtype<float>();
    case DType::kF64:
      return nb::dtype<double>();
    case DType::kI8:
      return nb::dtype<int8_t>();
    case DType::kU8:
      return nb::dtype<uint8_t>();
    case DType::kI32:
      return nb::dtype<int32_t>();
    case DType::kI64:
      return nb::dtype<int64_t>();
    case DType::kBool:
      return nb::dtype<bool>();
    default:
      Raise(Status(Code::kUnsupported, std::string("results of type ") + Name(value.dtype())));
  }
}

// Returns a copy of a tensor as a numpy array.
nb::object ArrayOf(const Value& value) {
  const nb::dlpack::dtype type = TypeOf(value);
  auto bytes = std::make_unique<uint8_t[]>(value.bytes());
  std::memcpy(bytes.get(), value.raw(), value.bytes());
  const Shape shape = value.shape();
  const std::vector<size_t> dims(shape.begin(), shape.end());
  uint8_t* data = bytes.release();
  const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<uint8_t*>(p); });
  return nb::cast(nb::ndarray<nb::numpy>(data, dims.size(), dims.data(), owner, nullptr, type));
}

// A dict from the names of tensors to arrays, and the other results as JSON ("" if there are none).
nb::tuple ResultOf(const Answer& answer) {
  nb::dict arrays;
  bool others = false;
  for (const std::string& name : answer.Names()) {
    const Value tensor = answer.Tensor(name);
    if (tensor.kind() == Value::Kind::kTensor)
      arrays[name.c_str()] = ArrayOf(tensor);
    else
      others = true;
  }
  return nb::make_tuple(arrays, others ? answer.Json() : std::string());
}

Pipeline Open(const std::string& model, const std::string& file, int threads, const std::string& precision) {
  Config config(model);
  config.threads(threads).precision(precision);
  Result<Pipeline> made = [&] {
    nb::gil_scoped_release release;
    return Pipeline::Create(config, file);
  }();
  if (!made.ok()) Raise(made.status());
  return *made;
}

RawInput InputOf(nb::handle name, nb::handle items) {
  std::vector<std::string> bytes;
  for (nb::handle item : items) {
    const auto text = nb::cast<nb::bytes>(item);
    bytes.emplace_back(text.c_str(), text.size());
  }
  return {nb::cast<std::string>(name), std::move(bytes)};
}

nb::list Run(const Pipeline& pipeline, const nb::dict& inputs, double timeout) {
  std::vector<RawInput> raw;
  for (const auto& [name, items] : inputs) raw.push_back(InputOf(name, items));
  if (!(timeout >= 0))
    Raise(Status(Code::kInvalidArgument,
                 "timeout is " + std::to_string(timeout) + " seconds, must be more than 0, or None"));
  RunOptions options;
  options.timeout = std::chrono::nanoseconds(static_cast<int64_t>(std::min(timeout * 1e9, 9e18 / 4)));
  Result<std::vector<Answer>> answers = [&] {
    nb::gil_scoped_release release;
    return pipeline.RunBatch(raw, options);
  }();
  if (!answers.ok()) Raise(answers.status());
  nb::list results;
  for (const Answer& answer : *answers) results.append(ResultOf(answer));
  return results;
}

}  // namespace
}  // namespace tern::python

NB_MODULE(_pipeline, m) {
  // Objects in caches of other packages, such as torch, live until the process ends.
  nanobind::set_leak_warnings(false);
  using tern::Pipeline;
  nb::class_<Pipeline>(m, "Pipeline")
      .def("_run", &tern::python::Run)
      .def("input_names", &Pipeline::InputNames)
      .def("output_names", &Pipeline::OutputNames);
  m.def("open", &tern::python::Open);
}

// The extension module tern._quantize: tern::Quantize for Python. It is a module of its own, because it needs
// the libraries that decode pictures. python/tern/quantize.py imports it at the first use.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/python/raise.h"
#include "tern/quantize.hpp"

namespace nb = nanobind;

namespace tern::python {
namespace {

std::string Quantize(const std::string& model, const std::string& output, const QuantizeOptions& options,
                     const std::string& weights_path, int threads) {
  Config config(model);
  config.threads(threads);
  if (!weights_path.empty()) config.weights_path(weights_path);
  Result<std::string> report = [&] {
    nb::gil_scoped_release release;
    return tern::Quantize(config, output, options);
  }();
  if (!report.ok()) Raise(report.status());
  return *report;
}

}  // namespace
}  // namespace tern::python

NB_MODULE(_quantize, m) {
  using tern::QuantizeOptions;
  nb::class_<QuantizeOptions>(m, "Options")
      .def(nb::init<>())
      .def_rw("calib", &QuantizeOptions::calib)
      .def_rw("preprocess", &QuantizeOptions::preprocess)
      .def_rw("method", &QuantizeOptions::method)
      .def_rw("percentile", &QuantizeOptions::percentile)
      .def_rw("samples", &QuantizeOptions::samples)
      .def_rw("bits", &QuantizeOptions::bits)
      .def_rw("symmetric", &QuantizeOptions::symmetric)
      .def_rw("per_tensor", &QuantizeOptions::per_tensor)
      .def_rw("adaround", &QuantizeOptions::adaround)
      .def_rw("bias_correction", &QuantizeOptions::bias_correction)
      .def_rw("equalize", &QuantizeOptions::equalize)
      .def_rw("min_sqnr", &QuantizeOptions::min_sqnr)
      .def_rw("fastest", &QuantizeOptions::fastest)
      .def_rw("layers", &QuantizeOptions::layers)
      .def_rw("sensitivity", &QuantizeOptions::sensitivity)
      .def_rw("weights", &QuantizeOptions::weights)
      .def_rw("block", &QuantizeOptions::block)
      .def_rw("weight_method", &QuantizeOptions::weight_method)
      .def_rw("dynamic", &QuantizeOptions::dynamic)
      .def_rw("keep_float", &QuantizeOptions::keep_float)
      .def_rw("external_data", &QuantizeOptions::external_data);
  m.def("quantize", tern::python::Quantize);
}

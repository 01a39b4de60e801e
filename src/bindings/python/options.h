// Loads a model with the options of Python's tern.load.
#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "load/format.h"
#include "runtime/exec/session.h"

namespace tern::python {

namespace nb = nanobind;

struct LoadedModel {
  std::shared_ptr<const Session> session;
  std::vector<std::string> warnings;  // warnings of the import
  std::string source;                 // the path, or "" for a model in memory
  int parallel = 0;                   // limit for concurrent runs
};

// `model` is a path, a bytes-like object, an onnx.ModelProto or a tern.Graph. `options` are the keyword
// arguments of tern.load. Fails for an unknown option, and names the known ones. Releases the GIL while it
// loads.
LoadedModel LoadModel(nb::handle model, const nb::dict& options);

// A graph from a path or a bytes-like object.
struct LoadedGraph {
  std::unique_ptr<Graph> graph;
  std::vector<std::string> warnings;
  std::string format;
};
LoadedGraph LoadGraph(nb::handle model, const load::LoadOptions& how);

}  // namespace tern::python

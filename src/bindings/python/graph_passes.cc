// Runs the optimizer on a graph, and writes graphs.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/python/graph.h"
#include "export/onnx/exporter.h"
#include "ir/tern_file.h"
#include "ir/verify.h"
#include "passes/pipeline.h"

namespace tern::python {
namespace {

std::string PathOf(nb::handle path) {
  const nb::object bytes = nb::module_::import_("os").attr("fsencode")(path);
  const auto text = nb::borrow<nb::bytes>(bytes);
  return std::string(text.c_str(), text.size());
}

void CheckTop(const GraphRef& graph) {
  if (graph->parent) Raise(Unsupported("this is possible only for the top-level graph, not for a subgraph"));
}

Status Write(const Graph& graph, const std::string& path, const onnx::ExportOptions& options) {
  if (EndsWith(path, ".onnx")) return onnx::ExportFile(graph, path, options).TakeStatus();
  return SaveTern(graph, path);
}

}  // namespace

nb::object RunPasses(const GraphRef& graph, const std::string& level, const std::vector<std::string>& only,
                     const std::vector<std::string>& disable, const std::vector<std::string>& enable,
                     const std::string& stop_after) {
  CheckTop(graph);
  const auto parsed = ParseLevel(level);
  if (!parsed)
    Raise(InvalidArgument("'", level,
                          "' is not an optimization level; choose none, basic, extended or layout"));
  OptimizeOptions options;
  options.level = *parsed;
  options.only = only;
  options.disable = disable;
  options.enable = enable;
  options.stop_after = stop_after;
  Result<OptimizeReport> result = [&] {
    SharedGraph::Exclusive own(*graph.shared());
    const nb::gil_scoped_release release;
    return Guard([&] { return Optimize(*own, options); });
  }();
  graph.shared()->ForgetParts();
  const OptimizeReport report = Unwrap(std::move(result));
  return nb::make_tuple(report.hits, report.stages, report.warnings, report.milliseconds);
}

void WriteGraph(const GraphRef& graph, nb::handle path, bool external_data, bool contrib) {
  CheckTop(graph);
  const std::string file = PathOf(path);
  const Status status = [&] {
    SharedGraph::Exclusive own(*graph.shared());
    const nb::gil_scoped_release release;
    return Guard([&] { return Write(*own, file, {external_data, contrib}); });
  }();
  Check(status);
}

nb::bytes GraphToBytes(const GraphRef& graph, const std::string& format, bool contrib) {
  CheckTop(graph);
  if (format != "onnx" && format != "tern")
    Raise(InvalidArgument("'", format, "' is not a format; choose onnx or tern"));
  Result<std::string> bytes = [&] {
    SharedGraph::Exclusive own(*graph.shared());
    const nb::gil_scoped_release release;
    return Guard([&] {
      return format == "onnx" ? onnx::ExportBytes(*own, {false, contrib}) : SaveTernBytes(*own);
    });
  }();
  const std::string text = Unwrap(std::move(bytes));
  return nb::bytes(text.data(), text.size());
}

}  // namespace tern::python

#include "suite_case.h"

#include <algorithm>

#include "export/onnx/exporter.h"
#include "import/onnx/importer.h"
#include "ir/evaluate.h"
#include "runtime/exec/session.h"

namespace tern {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> Sorted(const fs::path& folder, bool folders) {
  std::vector<fs::path> out;
  if (fs::is_directory(folder))
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.is_directory() == folders) out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

Result<DatumList> ReadData(const fs::path& folder, const char* prefix, const std::vector<Value*>& values) {
  DatumList data;
  for (size_t i = 0; i < values.size(); ++i) {
    const fs::path path = folder / StrCat(prefix, i, ".pb");
    if (!fs::exists(path)) break;
    TERN_ASSIGN(Datum d, onnx::ReadTestDatum(path.string(), values[i]->type));
    data.push_back(std::move(d));
  }
  return data;
}

// Returns the inputs for a light model of the suite. An input of n elements is 0/n, 1/n, … (n-1)/n.
Result<DatumList> LightInputs(const Graph& graph) {
  DatumList data;
  for (const Value* v : graph.inputs()) {
    if (!v->type.tensor() || !v->type.shape.ranked)
      return InvalidArgument("input '", v->name, "' has no shape");
    Dims dims;
    for (const Dim& d : v->type.shape.dims) dims.push_back(d.known() ? d.value() : 1);
    Tensor t(DType::kF32, dims);
    for (int64_t i = 0; i < t.size(); ++i)
      t.data<float>()[i] = static_cast<float>(static_cast<double>(i) / static_cast<double>(t.size()));
    data.emplace_back(std::move(t));
  }
  return data;
}

// Runs a model in `session`, or on the reference evaluator if `session` is null. Runs a session twice,
// because the second run uses the cached plan.
Result<DatumList> RunModel(const Graph& graph, Session* session, const DatumList& inputs) {
  if (!session) return EvaluateGraph(graph, inputs);
  auto first = session->Run(inputs);
  return first.ok() ? session->Run(inputs) : std::move(first);
}

std::string Compare(const Graph& graph, const DatumList& got, const DatumList& wanted,
                    const data::Tolerance& tolerance, bool random) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    const Type a = TypeOf(got[i]), b = TypeOf(wanted[i]);
    if (random && a == b) continue;
    const std::string difference = data::Compare(got[i], wanted[i], tolerance).difference;
    if (!difference.empty()) return StrCat("output '", graph.outputs()[i]->name, "': ", difference);
  }
  return {};
}

struct Loaded {
  std::shared_ptr<const Graph> graph;
  std::unique_ptr<Session> session;
};

Result<Loaded> Load(const SuiteCase& c, const RunOptions& options) {
  TERN_ASSIGN(auto graph, onnx::ImportFile(c.model.string()));
  if (options.through_onnx) {
    TERN_ASSIGN(std::string bytes, onnx::ExportBytes(*graph));
    TERN_ASSIGN(graph, onnx::ImportBytes(bytes.data(), bytes.size()));
  }
  Loaded loaded{std::move(graph), nullptr};
  if (!options.reference) {
    SessionOptions session_options;
    if (options.optimize) session_options.level = Level::kLayout;
    TERN_ASSIGN(loaded.session, Session::Create(loaded.graph, session_options));
  }
  return loaded;
}

}  // namespace

std::vector<SuiteCase> FindCases(const fs::path& data) {
  std::vector<SuiteCase> cases;
  for (const char* kind : {"node", "simple", "pytorch-operator", "pytorch-converted"})
    for (const fs::path& folder : Sorted(data / kind, true))
      if (fs::exists(folder / "model.onnx"))
        cases.push_back({kind, folder.filename().string(), folder / "model.onnx", Sorted(folder, true), {}});
  for (const fs::path& file : Sorted(data / "light", false)) {
    if (file.extension() != ".onnx") continue;
    SuiteCase c{"light",
                file.stem().string(),
                file,
                {},
                file.parent_path() / (file.stem().string() + "_output_0.pb")};
    if (c.name == "light_densenet121") c.tolerance.relative = 2e-3;  // the tolerance in the suite's list
    cases.push_back(std::move(c));
  }
  return cases;
}

std::string RunCase(const SuiteCase& c, const RunOptions& options) {
  auto loaded = Load(c, options);
  if (!loaded.ok()) return loaded.status().ToString();
  const Graph& graph = *loaded->graph;
  const auto run = [&](Result<DatumList> inputs, Result<DatumList> wanted) -> std::string {
    if (!inputs.ok()) return inputs.status().ToString();
    if (!wanted.ok()) return wanted.status().ToString();
    auto got = RunModel(graph, loaded->session.get(), *inputs);
    if (!got.ok()) return got.status().ToString();
    return Compare(graph, *got, *wanted, c.tolerance, options.random);
  };
  if (!c.light_output.empty()) {
    auto wanted = onnx::ReadTestDatum(c.light_output.string(), graph.outputs().at(0)->type);
    return run(LightInputs(graph),
               wanted.ok() ? Result<DatumList>(DatumList{*wanted}) : Result<DatumList>(wanted.status()));
  }
  if (c.data_sets.empty()) return "no data";
  for (const fs::path& set : c.data_sets) {
    const std::string error =
        run(ReadData(set, "input_", graph.inputs()), ReadData(set, "output_", graph.outputs()));
    if (!error.empty()) return error;
  }
  return {};
}

}  // namespace tern

// Runs the ONNX backend test data: tern_onnx_suite DATA_DIR [--only REGEX] [--reference]
// Cases run through a session; with --reference by the reference evaluators, node by node.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <regex>
#include <set>

#include "compare.h"
#include "import/onnx/importer.h"
#include "ir/evaluate.h"
#include "runtime/session.h"

namespace fs = std::filesystem;
using namespace tern;

namespace {

struct Counts {
  int passed = 0, failed = 0, skipped = 0;
};

std::vector<fs::path> SortedFolders(const fs::path& folder) {
  std::vector<fs::path> out;
  if (fs::is_directory(folder))
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.is_directory()) out.push_back(entry.path());
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

// Runs a whole model; null session: by the reference evaluators. The second run of a session finds its plan made.
Result<DatumList> RunModel(const Graph& graph, Session* session, const DatumList& inputs) {
  if (!session) return EvaluateGraph(graph, inputs);
  auto first = session->Run(inputs);
  return first.ok() ? session->Run(inputs) : std::move(first);
}

std::string RunDataSet(const Graph& graph, Session* session, const fs::path& folder, const Tolerance& tolerance) {
  auto inputs = ReadData(folder, "input_", graph.inputs());
  if (!inputs.ok()) return inputs.status().ToString();
  auto wanted = ReadData(folder, "output_", graph.outputs());
  if (!wanted.ok()) return wanted.status().ToString();
  auto got = RunModel(graph, session, *inputs);
  if (!got.ok()) return got.status().ToString();
  for (size_t i = 0; i < wanted->size(); ++i) {
    const std::string difference = Difference((*got)[i], (*wanted)[i], tolerance);
    if (!difference.empty()) return StrCat("output '", graph.outputs()[i]->name, "': ", difference);
  }
  return {};
}

std::string RunCase(const fs::path& folder, bool reference) {
  auto imported = onnx::ImportFile((folder / "model.onnx").string());
  if (!imported.ok()) return imported.status().ToString();
  const std::shared_ptr<const Graph> graph = std::move(*imported);
  std::unique_ptr<Session> session;
  if (!reference) {
    auto created = Session::Create(graph);
    if (!created.ok()) return created.status().ToString();
    session = std::move(*created);
  }
  Tolerance tolerance;
  for (const fs::path& set : SortedFolders(folder)) {
    const std::string error = RunDataSet(*graph, session.get(), set, tolerance);
    if (!error.empty()) return error;
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: tern_onnx_suite DATA_DIR [--only REGEX] [--reference]\n");
    return 2;
  }
  std::regex only(".*");
  bool reference = false;
  for (int i = 2; i < argc; ++i) {
    reference |= !std::strcmp(argv[i], "--reference");
    if (!std::strcmp(argv[i], "--only") && i + 1 < argc) only = argv[i + 1];
  }
  Counts counts;
  for (const char* kind : {"node", "simple", "pytorch-operator", "pytorch-converted"}) {
    for (const fs::path& folder : SortedFolders(fs::path(argv[1]) / kind)) {
      const std::string name = folder.filename().string();
      if (!std::regex_search(name, only)) continue;
      const std::string error = RunCase(folder, reference);
      ++(error.empty() ? counts.passed : counts.failed);
      if (!error.empty()) std::printf("FAIL %s/%s: %s\n", kind, name.c_str(), error.c_str());
    }
  }
  std::printf("%d passed, %d failed, %d skipped\n", counts.passed, counts.failed, counts.skipped);
  return counts.failed ? 1 : 0;
}

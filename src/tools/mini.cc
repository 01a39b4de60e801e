// tern mini: writes optimized models and the list of the ops and kernels that they need, for a mini build.
#include <fmt/core.h>

#include <filesystem>

#include "data/file.h"
#include "data/json_writer.h"
#include "ir/tern_file.h"
#include "kernels/cpu/simd/active_isa.h"
#include "passes/pipeline.h"
#include "runtime/bind/cpu_target.h"
#include "tools/engine.h"
#include "tools/engine_flags.h"
#include "tools/needed.h"
#include "tools/tool.h"

namespace fs = std::filesystem;

namespace tern::tools {
namespace {

class MiniTool : public Tool {
 public:
  const char* name() const override { return "mini"; }
  const char* summary() const override {
    return "list the ops and kernels that models need, for a mini build of libtern";
  }
  const char* examples() const override {
    return "  tern mini model.onnx -o build/needed\n"
           "  TERN_ISA=avx2 tern mini a.tern b.onnx -o build/needed --json\n";
  }
  void Declare(Args& args) override {
    args.Positional("MODEL", models_, "the models that the mini build must run");
    args.Option("-o,--output", folder_, "DIR", "write the optimized models and needed.json to this folder");
    precision_.Declare(args);
    args.Flag("--json", json_, "print needed.json");
  }
  Result<int> Run(const Args& args) override;

 private:
  Result<std::string> Optimize(const std::string& path, Needed& needed) const;
  Status CheckNames() const;

  std::vector<std::string> models_;
  std::string folder_;
  PrecisionOption precision_;
  bool json_ = false;
};

std::string OutputName(const std::string& model) { return fs::path(model).stem().string() + ".tern"; }

// Two models with the same name would be written to the same file.
Status MiniTool::CheckNames() const {
  std::map<std::string, std::string> seen;
  for (const std::string& model : models_)
    if (const auto [it, fresh] = seen.emplace(OutputName(model), model); !fresh)
      return InvalidArgument("'", it->second, "' and '", model, "' would both be written as '", it->first,
                             "'");
  return {};
}

// Optimizes a model, and writes it to the folder if there is one. Returns the name of the written file.
Result<std::string> MiniTool::Optimize(const std::string& path, Needed& needed) const {
  TERN_ASSIGN(std::unique_ptr<Graph> graph, LoadModel(path));
  OptimizeOptions options;
  options.level = Level::kLayout;
  options.target = &DefaultTarget();
  TERN_TRY(tern::Optimize(*graph, options).TakeStatus());
  TERN_TRY(AddNeeded(*graph, precision_.precision(), needed).While(StrCat("analysing '", path, "'")));
  if (folder_.empty()) return OutputName(path);
  const std::string file = (fs::path(folder_) / OutputName(path)).string();
  std::error_code ignored;
  if (fs::equivalent(path, file, ignored)) return InvalidArgument("'", file, "' is the input itself");
  TERN_ASSIGN(data::Staging staging, data::Staging::Beside(file));
  TERN_TRY(SaveTern(*graph, staging.path()));
  TERN_TRY(staging.Commit());
  return OutputName(path);
}

void WriteList(const char* key, const std::set<std::string>& names, data::JsonWriter& json) {
  json.Key(key).BeginArray();
  for (const std::string& name : names) json.Text(name);
  json.EndArray();
}

void PrintList(const char* title, const std::set<std::string>& names) {
  fmt::print("{} ({}):\n", title, names.size());
  for (const std::string& name : names) fmt::print("  {}\n", name);
}

Result<int> MiniTool::Run(const Args&) {
  TERN_TRY(CheckNames());
  if (!folder_.empty()) TERN_TRY(data::MakeFolders(folder_));
  Needed needed;
  std::vector<std::string> files;
  for (const std::string& model : models_) {
    TERN_ASSIGN(files.emplace_back(), Optimize(model, needed));
  }
  data::JsonWriter json;
  json.BeginObject().Key("isa").Text(cpu::ActiveIsa()).Key("precision").Text(precision_.name);
  WriteList("models", {files.begin(), files.end()}, json);
  WriteList("ops", needed.ops, json);
  WriteList("references", needed.references, json);
  WriteList("kernels", needed.kernels, json);
  json.EndObject();
  if (!folder_.empty()) TERN_TRY(data::WriteFile((fs::path(folder_) / "needed.json").string(), json.text()));
  if (json_) {
    fmt::print("{}\n", json.text());
    return 0;
  }
  PrintList("ops", needed.ops);
  PrintList("kernels", needed.kernels);
  PrintList("ops with a reference function", needed.references);
  return 0;
}

}  // namespace

TERN_TOOL(Mini) { return std::make_unique<MiniTool>(); }

}  // namespace tern::tools

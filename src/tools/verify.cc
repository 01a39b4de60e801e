// tern verify: whether a model gives the stored results.
#include <fmt/core.h>

#include "data/compare.h"
#include "data/json_writer.h"
#include "tools/engine.h"
#include "tools/shapes.h"
#include "tools/tool.h"
#include "tools/vectors.h"

namespace tern::tools {
namespace {

struct Line {
  std::string where, output;
  data::Comparison comparison;
};

class VerifyTool : public Tool {
 public:
  const char* name() const override { return "verify"; }
  const char* summary() const override { return "compare a model's results with stored ones"; }
  const char* examples() const override {
    return "  tern verify model.onnx --data test_data_set_0\n"
           "  tern verify model.onnx --data vectors --rtol 1e-2 --atol 1e-3 --json\n";
  }
  void Declare(Args& args) override;
  Result<int> Run(const Args& args) override;

 private:
  Status VerifySet(const Vectors& vectors);
  int Report() const;

  std::string model_, data_;
  int64_t threads_ = 0;
  bool json_ = false, reference_ = false;
  data::Tolerance tolerance_;
  std::vector<Line> lines_;
};

void VerifyTool::Declare(Args& args) {
  args.Positional("MODEL", model_, "the model, .onnx or .tern");
  args.Option("--data", data_, "DIR", "folder with input_K / output_K (.pb, .npy) or io.npz, or of such folders");
  args.Option("--rtol", tolerance_.relative, "R", "relative tolerance");
  args.Option("--atol", tolerance_.absolute, "A", "absolute tolerance: |got - wanted| <= A + R * |wanted|");
  args.Option("--threads", threads_, "N", "worker threads; 0: one per core", 0, 1024);
  args.Flag("--reference", reference_, "use the slow reference evaluator");
  args.Flag("--json", json_, "print one JSON object");
}

Status VerifyTool::VerifySet(const Vectors& vectors) {
  TERN_ASSIGN(std::unique_ptr<Graph> graph, LoadModel(model_));
  TERN_ASSIGN(const DatumList inputs, OrderFeeds(*graph, vectors.inputs));
  TERN_ASSIGN(Engine engine, Engine::Make(std::move(graph), {static_cast<int>(threads_), reference_}));
  TERN_ASSIGN(const DatumList outputs, engine.Run(inputs));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = engine.graph().outputs()[i]->name;
    const auto wanted = vectors.outputs.find(name);
    if (wanted != vectors.outputs.end())
      lines_.push_back({vectors.folder, name, data::Compare(outputs[i], wanted->second, tolerance_)});
  }
  return {};
}

int VerifyTool::Report() const {
  int wrong = 0;
  data::JsonWriter json;
  json.BeginObject().Key("outputs").BeginArray();
  for (const Line& line : lines_) {
    const data::Comparison& c = line.comparison;
    wrong += !c.difference.empty();
    json.BeginObject().Key("data").Text(line.where).Key("output").Text(line.output).Key("ok").Bool(c.difference.empty());
    json.Key("max_abs").Number(c.max_abs).Key("max_rel").Number(c.max_rel).Key("difference").Text(c.difference).EndObject();
    if (!json_)
      fmt::print("{} {} '{}': {}\n", c.difference.empty() ? "ok   " : "WRONG", line.where, line.output,
                 c.difference.empty() ? fmt::format("max abs {:.3g}, max rel {:.3g}", c.max_abs, c.max_rel) : c.difference);
  }
  json.EndArray().Key("ok").Bool(wrong == 0).EndObject();
  if (json_) fmt::print("{}\n", json.text());
  else fmt::print("{} of {} outputs within rtol {:g}, atol {:g}\n", lines_.size() - static_cast<size_t>(wrong), lines_.size(),
                  tolerance_.relative, tolerance_.absolute);
  return wrong ? 1 : 0;
}

Result<int> VerifyTool::Run(const Args&) {
  TERN_ASSIGN(std::unique_ptr<Graph> graph, LoadModel(model_));
  TERN_ASSIGN(const std::vector<Vectors> sets, ReadVectors(*graph, data_));
  for (const Vectors& set : sets) TERN_TRY(VerifySet(set).While(StrCat("verifying '", model_, "' with '", set.folder, "'")));
  return Report();
}

}  // namespace

std::unique_ptr<Tool> MakeVerify() { return std::make_unique<VerifyTool>(); }

}  // namespace tern::tools

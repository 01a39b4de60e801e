// tern verify: compares a model's results with stored results, another model or the reference evaluator.
#include <fmt/core.h>

#include <algorithm>

#include "data/compare.h"
#include "data/json_writer.h"
#include "tools/engine.h"
#include "tools/progress.h"
#include "tools/results.h"
#include "tools/shapes.h"
#include "tools/tool.h"
#include "tools/units.h"
#include "tools/vectors.h"
#include "tools/verify_layers.h"

namespace tern::tools {
namespace {

// The default tolerances for bf16 (relative, absolute, of_largest). There is no absolute tolerance. An error
// may be 2 % of the output's largest element. In docs/reports/accuracy.md, the errors of trained networks
// are 0.1 % to 1.1 % of the largest element.
constexpr data::Tolerance kBf16Tolerance{1e-2, 0, 2e-2};

struct Line {
  std::string where, output;
  data::Comparison comparison;
};

class VerifyTool : public Tool {
 public:
  const char* name() const override { return "verify"; }
  const char* summary() const override {
    return "compare a model's results with stored results, another model or the reference evaluator";
  }
  const char* examples() const override {
    return "  tern verify model.onnx --data test_data_set_0\n"
           "  tern verify model.tern --against model.onnx --random 3 --dim batch=2\n"
           "  tern verify model.onnx --reference --rtol 1e-4 --json\n"
           "  tern verify model.onnx --layers --random 3 --dim batch=2\n";
  }
  void Declare(Args& args) override;
  Result<int> Run(const Args& args) override;

 private:
  Result<std::vector<Vectors>> Cases() const;
  Result<DatumList> RunModel(const std::string& path, const Vectors& vectors, const SessionOptions& options,
                             std::vector<std::string>& names) const;
  Status ChooseTolerance(const Args& args);
  Status CheckRequest() const;
  Status VerifyCase(const Vectors& vectors);
  Status VerifyLayers(const Vectors& vectors);
  void Compare(const std::string& where, const std::vector<std::string>& names, const DatumList& got,
               const Feeds& wanted);
  int Report() const;
  size_t WrongOutputs() const;
  void PrintLayers() const;
  std::string Bounds() const;
  void Print(size_t wrong) const;
  void PrintJson(size_t wrong) const;

  std::string model_, data_, against_;
  int64_t seed_ = 0, max_rows_ = 20;
  bool json_ = false, reference_ = false, layers_ = false, accumulated_ = false;
  data::Tolerance tolerance_, given_;
  ShapeOptions shapes_;
  EngineFlags engine_;
  ModelFlags model_flags_;
  SessionOptions options_;
  std::vector<Line> lines_;
  LayerReport layer_report_;
  // Outputs that are not compared, as pairs (folder, output). The folder does not contain a result for the
  // output.
  std::vector<std::pair<std::string, std::string>> unstored_;
};

void VerifyTool::Declare(Args& args) {
  args.Positional("MODEL", model_, ModelHelp());
  model_flags_.Declare(args);
  args.Option(
      "--data", data_, "DIR",
      "compare with the stored results in DIR; DIR contains input_K and output_K (.pb, .npy, .npz), or io.npz, or "
      "sub-folders with such files");
  args.Option("--against", against_, "OTHER", "compare with the results of another model");
  args.Flag("--reference", reference_, "compare with the results of the reference evaluator");
  args.Flag(
      "--layers", layers_,
      "compare each node of the optimized graph with the reference evaluator, both with the same inputs");
  args.Flag(
      "--accumulated", accumulated_,
      "make --layers feed each node with the results of the kernels before it, so that errors accumulate");
  args.Option("--top", max_rows_, "N", "make --layers print only the N worst nodes (20); 0 means all", 0,
              1'000'000);
  args.Option("--random", seed_, "SEED",
              "seed of the random inputs (0); inputs are random if --data is not given");
  shapes_.Declare(args);
  engine_.Declare(args, EngineFlags::kThreads | EngineFlags::kLevel | EngineFlags::kPrecision);
  args.Option("--rtol", given_.relative, "R", "relative tolerance (1e-3, or 1e-2 in bf16)");
  args.Option(
      "--atol", given_.absolute, "A",
      "absolute tolerance (1e-4, or in bf16 2 % of the output's largest |wanted|); a result is correct if "
      "|got - wanted| <= A + R * |wanted|");
  args.Flag("--json", json_, "print one JSON object");
}

// Sets the tolerances. The defaults depend on the precision. --rtol and --atol override them.
Status VerifyTool::ChooseTolerance(const Args& args) {
  if (given_.relative < 0 || given_.absolute < 0) return InvalidArgument("a tolerance must not be below 0");
  if (UsesBf16(options_.precision)) tolerance_ = kBf16Tolerance;
  if (args.Given("--rtol")) tolerance_.relative = given_.relative;
  if (!args.Given("--atol")) return {};
  tolerance_.absolute = given_.absolute;
  tolerance_.of_largest = 0;
  return {};
}

// Returns the stored test vectors. If --data is not given, returns one test vector with random inputs and no
// outputs.
Result<std::vector<Vectors>> VerifyTool::Cases() const {
  TERN_ASSIGN(std::unique_ptr<Graph> graph,
              LoadModel(model_, model_flags_.Options(options_.threads), shapes_));
  TERN_TRY(shapes_.ApplyBatch(*graph));
  if (!data_.empty()) return ReadVectors(*graph, data_, against_.empty() && !reference_ && !layers_);
  TERN_TRY(shapes_.Apply(*graph));
  TERN_TRY(CloseOpenDims(*graph));
  Vectors random;
  random.folder = StrCat("random ", seed_);
  TERN_TRY(AddRandomFeeds(*graph, static_cast<uint64_t>(seed_), random.inputs));
  return std::vector<Vectors>{random};
}

Result<DatumList> VerifyTool::RunModel(const std::string& path, const Vectors& vectors,
                                       const SessionOptions& options, std::vector<std::string>& names) const {
  load::LoadOptions how{options.threads, {}, {}};
  if (path == model_) how = model_flags_.Options(options.threads);
  for (const auto& [name, datum] : vectors.inputs) how.input_types[name] = TypeOf(datum);
  TERN_ASSIGN(std::unique_ptr<Graph> graph, LoadModel(path, how));
  TERN_TRY(shapes_.ApplyBatch(*graph));
  TERN_ASSIGN(const DatumList inputs, OrderFeeds(*graph, vectors.inputs));
  TERN_ASSIGN(Engine engine, Engine::Make(std::move(graph), options));
  for (const Value* v : engine.graph().outputs()) names.push_back(v->name);
  auto outputs = engine.Run(inputs);
  if (!outputs.ok()) return outputs.TakeStatus().While(StrCat("running '", path, "' on ", vectors.folder));
  if (path == model_ && !options.reference) NoteNonFinite(engine.graph().outputs(), *outputs);
  return outputs;
}

void VerifyTool::Compare(const std::string& where, const std::vector<std::string>& names,
                         const DatumList& got, const Feeds& wanted) {
  for (size_t i = 0; i < got.size(); ++i) {
    const auto it = wanted.find(names[i]);
    if (it == wanted.end())
      unstored_.emplace_back(where, names[i]);
    else
      lines_.push_back({where, names[i], data::Compare(got[i], it->second, tolerance_)});
  }
}

Status VerifyTool::VerifyLayers(const Vectors& vectors) {
  auto report =
      CompareLayers(model_, vectors.inputs,
                    LayerOptions{model_flags_.Options(options_.threads), options_, tolerance_, accumulated_});
  if (!report.ok())
    return report.TakeStatus().While(StrCat("comparing the layers of '", model_, "' on ", vectors.folder));
  layer_report_.Add(vectors.folder, std::move(*report));
  return {};
}

// Runs the model on a test vector. If the test vector has stored results, compares the results with them. If
// --against or --reference is given, also compares the results with those of another model or of the
// reference evaluator, which run in fp32.
Status VerifyTool::VerifyCase(const Vectors& vectors) {
  std::vector<std::string> names, other_names;
  TERN_ASSIGN(const DatumList outputs, RunModel(model_, vectors, options_, names));
  if (!vectors.outputs.empty()) Compare(vectors.folder, names, outputs, vectors.outputs);
  if (against_.empty() && !reference_) return {};
  const std::string& other = against_.empty() ? model_ : against_;
  SessionOptions options = options_;
  options.precision = Precision::kF32;
  options.reference = reference_;
  TERN_ASSIGN(const DatumList others, RunModel(other, vectors, options, other_names));
  if (others.size() != outputs.size())
    return InvalidArgument("'", model_, "' has ", outputs.size(), " outputs, but '", other, "' has ",
                           others.size());
  Feeds wanted;
  for (size_t i = 0; i < others.size(); ++i) wanted[names[i]] = others[i];
  const std::string other_name =
      reference_ ? StrCat(against_, against_.empty() ? "" : " by ", "the reference") : other;
  Compare(StrCat(vectors.folder, " against ", other_name), names, outputs, wanted);
  return {};
}

void VerifyTool::PrintJson(size_t wrong) const {
  data::JsonWriter json;
  json.BeginObject().Key("outputs").BeginArray();
  for (const Line& line : lines_) {
    const data::Comparison& c = line.comparison;
    json.BeginObject().Key("data").Text(line.where).Key("output").Text(line.output);
    json.Key("ok")
        .Bool(c.difference.empty())
        .Key("max_abs")
        .Number(c.max_abs)
        .Key("max_rel")
        .Number(c.max_rel);
    json.Key("difference").Text(c.difference).EndObject();
  }
  json.EndArray().Key("not_compared").BeginArray();
  for (const auto& [where, output] : unstored_)
    json.BeginObject().Key("data").Text(where).Key("output").Text(output).EndObject();
  json.EndArray().Key("rtol").Number(tolerance_.relative).Key("atol").Number(tolerance_.absolute);
  json.Key("atol_of_largest").Number(tolerance_.of_largest).Key("precision").Text(PrecisionInUse(options_));
  if (layers_) WriteLayers(layer_report_, json);
  fmt::print("{}\n", json.Key("ok").Bool(wrong == 0).EndObject().text());
}

std::string VerifyTool::Bounds() const {
  const std::string bf16 = UsesBf16(options_.precision) ? ", in bf16" : "";
  if (tolerance_.of_largest > 0)
    return fmt::format("rtol {:g}, atol {:g} of the largest value{}", tolerance_.relative,
                       tolerance_.of_largest, bf16);
  return fmt::format("rtol {:g}, atol {:g}{}", tolerance_.relative, tolerance_.absolute, bf16);
}

void VerifyTool::Print(size_t wrong) const {
  for (const Line& line : lines_) {
    const data::Comparison& c = line.comparison;
    const std::string max_errors = fmt::format("max abs {:.3g}, max rel {:.3g}", c.max_abs, c.max_rel);
    fmt::print("{} {} '{}': {}\n", c.difference.empty() ? "ok   " : "WRONG", Printable(line.where),
               Printable(line.output),
               c.difference.empty() ? max_errors
                                    : Printable(c.difference) + (c.max_abs > 0 ? "; " + max_errors : ""));
  }
  for (const auto& [where, output] : unstored_)
    fmt::print("-     {} '{}': not compared, because no result is stored\n", Printable(where),
               Printable(output));
  if (!lines_.empty() || !unstored_.empty()) {
    fmt::print("{} of {} outputs within {}", lines_.size() - WrongOutputs(), lines_.size(), Bounds());
    fmt::print("{}\n", unstored_.empty() ? "" : fmt::format("; {} not compared", unstored_.size()));
  }
  if (layers_) PrintLayers();
  if (wrong && UsesBf16(options_.precision))
    fmt::print(
        "rounding to bf16 can cause larger errors, above all in networks that are not trained; use --precision fp32 "
        "to find out whether it is the reason, or --rtol and --atol to set the tolerance\n");
}

void VerifyTool::PrintLayers() const {
  const size_t count = layer_report_.layers.size(), random = layer_report_.not_compared.size();
  fmt::print("{}{} of {} nodes within {}, {}{}\n", LayerTable(layer_report_, max_rows_),
             count - layer_report_.wrong, count, Bounds(),
             accumulated_ ? "errors accumulated" : "each fed with the reference's values",
             random ? fmt::format("; {} not compared: their results are random", random) : "");
}

size_t VerifyTool::WrongOutputs() const {
  return static_cast<size_t>(std::count_if(
      lines_.begin(), lines_.end(), [](const Line& line) { return !line.comparison.difference.empty(); }));
}

int VerifyTool::Report() const {
  const size_t wrong = WrongOutputs() + layer_report_.wrong;
  json_ ? PrintJson(wrong) : Print(wrong);
  return wrong ? 1 : 0;
}

Status VerifyTool::CheckRequest() const {
  if (data_.empty() && against_.empty() && !reference_ && !layers_)
    return InvalidArgument(
        "there is nothing to compare with; use --data DIR, --against MODEL, --reference or --layers");
  if (layers_ && !against_.empty())
    return InvalidArgument(
        "--layers and --against exclude each other: --layers compares nodes with the reference evaluator");
  if (accumulated_ && !layers_) return InvalidArgument("--accumulated has no effect without --layers");
  return {};
}

Result<int> VerifyTool::Run(const Args& args) {
  TERN_TRY(CheckRequest());
  TERN_ASSIGN(options_, engine_.Options(args));
  TERN_TRY(ChooseTolerance(args));
  TERN_ASSIGN(const std::vector<Vectors> cases, Cases());
  Progress progress("verifying");
  for (size_t i = 0; i < cases.size(); ++i) {
    progress.Show(static_cast<double>(i) / static_cast<double>(cases.size()));
    if (reference_ || !against_.empty() || !cases[i].outputs.empty()) TERN_TRY(VerifyCase(cases[i]));
    if (layers_) TERN_TRY(VerifyLayers(cases[i]));
  }
  return Report();
}

}  // namespace

TERN_TOOL(Verify) { return std::make_unique<VerifyTool>(); }

}  // namespace tern::tools

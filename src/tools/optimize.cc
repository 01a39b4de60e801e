// tern optimize: runs the graph optimizer and reports its changes.
#include <fmt/core.h>

#include "data/file.h"
#include "ir/text.h"
#include "tools/engine.h"
#include "tools/optimize_page.h"
#include "tools/optimize_report.h"
#include "tools/pack_weights.h"
#include "tools/save_model.h"
#include "tools/shapes.h"
#include "tools/tool.h"
#include "tools/units.h"

namespace tern::tools {
namespace {

class OptimizeTool : public Tool {
 public:
  const char* name() const override { return "optimize"; }
  const char* summary() const override { return "optimize a model's graph, and report each change"; }
  const char* examples() const override {
    return "  tern optimize model.onnx -o better.onnx\n"
           "  tern optimize model.onnx -o better.tern --level basic --json\n"
           "  tern optimize model.onnx --measure --disable FuseActivationIntoMatMul\n"
           "  tern optimize model.onnx --why-not RecomposeGelu@/encoder/layer.0/Mul_1\n"
           "  tern optimize model.onnx --html report.html\n"
           "  tern optimize model.onnx --print-after clean\n";
  }
  void Declare(Args& args) override;
  Result<int> Run(const Args& args) override;

 private:
  Result<OptimizeOptions> Options() const;
  Status Measure(const Graph& before, const Graph& after, OptimizeOptions options,
                 OptimizeFigures& figures) const;
  void PrintAnswers(const OptimizeReport& report) const;

  ModelFlags model_flags_;
  std::string model_, html_, level_ = "extended", stop_after_, print_after_, why_not_;
  std::vector<std::string> disable_, enable_, only_;
  bool json_ = false, measure_ = false, standard_ = false, pack_ = false, level_given_ = false;
  double seconds_ = 2;
  SaveOptions out_;
  ShapeOptions shapes_;
  PrecisionOption precision_;
};

void OptimizeTool::Declare(Args& args) {
  args.Positional("MODEL", model_, ModelHelp());
  model_flags_.Declare(args);
  out_.Declare(args, "the output file, .onnx or .tern; if not given, only the report is printed");
  args.Choice("--level", level_, {"none", "basic", "extended", "layout"},
              "how far to optimize (extended, or layout with --pack)");
  args.Option("--disable", disable_, "NAME",
              "do not run this rule, pass or group (repeatable; see tern passes)");
  args.Option("--enable", enable_, "NAME", "also run this rule, which is off by default (repeatable)");
  args.Option("--only", only_, "NAME", "run only this rule, pass or group (repeatable)");
  args.Option("--stop-after", stop_after_, "STAGE", "stop after this stage (see tern passes)");
  args.Option(
      "--print-after", print_after_, "STAGE",
      "print the graph as text after this stage, or after each stage if STAGE is 'all'; with --json, on "
      "standard error");
  args.Option("--why-not", why_not_, "RULE@NODE",
              "report why a rule does not apply at this node, or at any node if no node is given");
  args.Option("--html", html_, "FILE", "write a page with the graphs before and after, side by side");
  args.Flag("--measure", measure_,
            "measure the model before and after optimization, on one thread; if --level is not given, the "
            "optimized model is measured at level layout, which sessions use");
  args.Option("--seconds", seconds_, "S", "let --measure run for S seconds (2)");
  args.Flag(
      "--standard", standard_,
      "write an .onnx model with standard ONNX operators only, without those of com.microsoft; it has more nodes");
  args.Flag("--pack", pack_,
            "also store the weights packed for this machine's kernels, so that sessions need not pack them");
  args.Choice("--precision", precision_.name, {"fp32", "fast", "bf16", "auto"},
              "the precision for which --pack packs the weights (fp32)");
  shapes_.Declare(args, "fixed in the output file and in all reported numbers");
  args.Flag("--json", json_, "print one JSON object");
}

Result<OptimizeOptions> OptimizeTool::Options() const {
  OptimizeOptions options;
  options.level = *ParseLevel(level_);
  options.disable = disable_;
  options.enable = enable_;
  options.only = only_;
  options.stop_after = stop_after_;
  options.why_not = why_not_;
  if (print_after_.empty()) return options;
  const auto stages = StageNames();
  if (print_after_ != "all" && std::find(stages.begin(), stages.end(), print_after_) == stages.end())
    return NotFound("no stage is called '", print_after_, "'; the stages are: ", Join(stages, ", "));
  options.after_stage = [this](const std::string& stage, const Graph& graph) {
    if (stage == print_after_ || print_after_ == "all")
      fmt::print(json_ ? stderr : stdout, "// after {}\n{}\n", stage, PrintGraph(graph));
  };
  return options;
}

// Measures the times of the model before and after optimization. `before` is the imported graph. `after` is
// `before` optimized with `options`. If --level is not given, measures `before` optimized at level layout
// instead of `after`, because sessions use level layout.
Status OptimizeTool::Measure(const Graph& before, const Graph& after, OptimizeOptions options,
                             OptimizeFigures& figures) const {
  std::unique_ptr<Graph> own = before.Clone(), ran = after.Clone();
  if (options.level != Level::kLayout && !level_given_) {
    options.level = Level::kLayout;
    options.after_stage = nullptr;
    options.why_not.clear();
    ran = before.Clone();
    TERN_TRY(Optimize(*ran, options).TakeStatus());
  }
  figures.measured_level = level_given_ ? level_ : "layout";
  figures.measured_nodes = ran->NodeCount();
  TERN_TRY(FillOpenDims(*own, figures.open_dims));
  TERN_TRY(FillOpenDims(*ran, figures.open_dims));
  return MeasureBoth(*own, *ran, seconds_, figures);
}

void OptimizeTool::PrintAnswers(const OptimizeReport& report) const {
  for (const std::string& warning : report.warnings) fmt::print(stderr, "tern: warning: {}\n", warning);
  if (why_not_.empty() || json_) return;
  for (const WhyNot& answer : report.why_not)
    fmt::print("{} at {}: {}\n", answer.rule, answer.node, answer.reason);
  if (report.why_not.empty())
    fmt::print("{}: the rule was not tried, because no node of that name has the op of the rule's root\n",
               why_not_);
}

Result<int> OptimizeTool::Run(const Args& args) {
  TERN_TRY(out_.Check(model_));
  level_given_ = args.Given("--level");
  if (pack_ && !level_given_) level_ = "layout";
  TERN_ASSIGN(OptimizeOptions options, Options());
  if (pack_ && !out_.wanted())
    return InvalidArgument("--pack is for a .tern output: give one with -o OUT.tern");
  if (pack_ && (options.level != Level::kLayout || !EndsWith(out_.path(), ".tern")))
    return InvalidArgument("--pack is for a .tern output at --level layout, got '", out_.path(), "' at ",
                           level_);
  if (args.Given("--precision") && !pack_)
    return InvalidArgument(
        "--precision is for --pack: without it, the output does not depend on the precision");
  out_.contrib = options.level >= Level::kExtended && !standard_;
  TERN_ASSIGN(std::unique_ptr<Graph> graph, LoadModel(model_, model_flags_.Options(), shapes_));
  TERN_TRY(shapes_.Apply(*graph));
  const bool needs_before = measure_ || !html_.empty();
  const std::unique_ptr<Graph> before = needs_before ? graph->Clone() : nullptr;
  TERN_ASSIGN(OptimizeFigures figures, OptimizeAndCount(*graph, options));
  if (pack_) TERN_TRY(PackWeights(*graph, precision_.precision()));
  int64_t written = 0;
  if (out_.wanted()) {
    TERN_ASSIGN(written, out_.Save(*graph, model_));
  }
  if (measure_) TERN_TRY(Measure(*before, *graph, options, figures));
  if (needs_before) {
    TERN_TRY(FillOpenDims(*before, figures.open_dims));
    TERN_TRY(FillOpenDims(*graph, figures.open_dims));
  }
  if (!html_.empty()) TERN_TRY(data::WriteFile(html_, OptimizePage(model_, *before, *graph, figures)));
  if (json_)
    fmt::print("{}\n", FiguresToJson(model_, out_.path(), written, figures));
  else if (why_not_.empty())
    PrintFigures(figures);
  if (out_.wanted() && !json_ && why_not_.empty())
    fmt::print("written: {}, {} {} nodes\n", Printable(out_.path()), written,
               EndsWith(out_.path(), ".onnx") ? "ONNX" : "Tern");
  PrintAnswers(figures.report);
  return 0;
}

}  // namespace

TERN_TOOL(Optimize) { return std::make_unique<OptimizeTool>(); }

}  // namespace tern::tools

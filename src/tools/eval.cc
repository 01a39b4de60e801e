// tern eval: measures the accuracy of a classifier.
#include <fmt/core.h>

#include "tools/evaluate.h"
#include "tools/sample_files.h"
#include "tools/shapes.h"
#include "tools/tool.h"

namespace tern::tools {
namespace {

class EvalTool : public Tool {
 public:
  const char* name() const override { return "eval"; }
  const char* summary() const override { return "measure the accuracy of a classifier"; }
  const char* examples() const override {
    return "  tern eval model.onnx --images photos --labels stem --preprocess imagenet\n"
           "  tern eval int8.tern --images photos --labels labels.txt --against model.onnx --json\n"
           "  tern eval model.onnx --images samples.npz --labels labels.txt --preprocess none\n";
  }
  void Declare(Args& args) override;
  Result<int> Run(const Args& args) override;

 private:
  using Answers = std::vector<compress::Answer>;
  Result<Answers> AnswersOf(const std::string& model);
  void Print(const Answers& answers, const Answers& others) const;
  void PrintJson(const Answers& answers, const Answers& others) const;

  std::string model_, against_, images_, labels_ = "stem", preprocess_ = "imagenet";
  int64_t limit_ = 0;
  bool json_ = false;
  data::ImageOptions pictures_;
  ShapeOptions shapes_;
  EngineFlags engine_;
  SessionOptions options_;
};

void EvalTool::Declare(Args& args) {
  args.Positional("MODEL", model_, ModelHelp());
  args.Option("--images", images_, "DIR|FILE.npz",
              "a folder with one picture, .npy or .npz per sample, or arrays with one sample per row");
  args.Option(
      "--labels", labels_, "stem|FILE",
      "stem: the number that begins the file's name is the class (stem); FILE: one label, or file name and label, per line");
  args.Option("--preprocess", preprocess_, "NAME|FILE.json",
              "pictures: imagenet, none, or a file with resize, crop, scale, mean, std (imagenet)");
  args.Option("--against", against_, "MODEL", "also evaluate this model, and compare the labels of both");
  args.Option("--limit", limit_, "N", "use the first N samples; 0 means all", 0, INT64_MAX);
  shapes_.Declare(args);
  engine_.Declare(args);
  args.Flag("--json", json_, "print one JSON object");
}

Result<EvalTool::Answers> EvalTool::AnswersOf(const std::string& model) {
  TERN_ASSIGN(std::unique_ptr<Graph> graph, LoadModel(model, options_.threads));
  TERN_TRY(shapes_.Apply(*graph));
  TERN_ASSIGN(const std::unique_ptr<compress::Samples> samples,
              OpenSamples(images_, *graph, pictures_, limit_));
  TERN_ASSIGN(const std::vector<int64_t> labels, LabelsOf(*samples, labels_));
  TERN_ASSIGN(Engine engine, Engine::Make(std::move(graph), options_));
  return Evaluate(engine, *samples, labels, "evaluating");
}

void EvalTool::Print(const Answers& answers, const Answers& others) const {
  const auto line = [](const std::string& model, const compress::Accuracy& a) {
    const double n = static_cast<double>(a.n) / 100;
    fmt::print("{}: top-1 {} of {} ({:.2f} %), top-5 {} ({:.2f} %)\n", model, a.top1, a.n,
               static_cast<double>(a.top1) / n, a.top5, static_cast<double>(a.top5) / n);
  };
  line(model_, AccuracyOf(answers));
  if (against_.empty()) return;
  line(against_, AccuracyOf(others));
  fmt::print("{}\n", PairedText(compress::Compare(others, answers)));
}

void EvalTool::PrintJson(const Answers& answers, const Answers& others) const {
  data::JsonWriter json;
  const auto add = [&](const compress::Accuracy& a) {
    const auto n = static_cast<double>(a.n);
    json.Key("n").Int(a.n).Key("top1").Number(static_cast<double>(a.top1) / n);
    json.Key("top5").Number(static_cast<double>(a.top5) / n);
  };
  json.BeginObject();
  add(AccuracyOf(answers));
  if (!against_.empty()) {
    json.Key("against").BeginObject();
    add(AccuracyOf(others));
    json.EndObject().Key("paired").BeginObject();
    WritePaired(compress::Compare(others, answers), json);
    json.EndObject();
  }
  fmt::print("{}\n", json.EndObject().text());
}

Result<int> EvalTool::Run(const Args& args) {
  if (images_.empty()) return InvalidArgument("no samples given; use --images DIR or --images FILE.npz");
  TERN_ASSIGN(options_, engine_.Options(args));
  TERN_ASSIGN(pictures_, PreprocessOf(preprocess_));
  Answers others;
  TERN_ASSIGN(const Answers answers, AnswersOf(model_));
  if (!against_.empty()) {
    TERN_ASSIGN(others, AnswersOf(against_));
  }
  json_ ? PrintJson(answers, others) : Print(answers, others);
  return 0;
}

}  // namespace

TERN_TOOL(Eval) { return std::make_unique<EvalTool>(); }

}  // namespace tern::tools

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
  Result<Engine> Load(const std::string& model, std::unique_ptr<compress::Samples>* samples) const;
  void Print(const Evaluation& found) const;
  void PrintJson(const Evaluation& found) const;

  std::string model_, against_, images_, labels_ = "stem", preprocess_ = "imagenet";
  int64_t limit_ = 0;
  bool json_ = false;
  data::ImageOptions pictures_;
  ShapeOptions shapes_;
  EngineFlags engine_;
  ModelFlags model_flags_;
  SessionOptions options_;
};

void EvalTool::Declare(Args& args) {
  args.Positional("MODEL", model_, ModelHelp());
  model_flags_.Declare(args);
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

// Loads a model. If `samples` is not null, opens the samples for its inputs.
Result<Engine> EvalTool::Load(const std::string& model, std::unique_ptr<compress::Samples>* samples) const {
  TERN_ASSIGN(std::unique_ptr<Graph> graph,
              LoadModel(model,
                        model == model_ ? model_flags_.Options(options_.threads)
                                        : load::LoadOptions{options_.threads, {}, {}},
                        shapes_));
  TERN_TRY(shapes_.Apply(*graph));
  if (samples) {
    TERN_ASSIGN(*samples, OpenSamples(images_, *graph, pictures_, limit_));
  }
  return Engine::Make(std::move(graph), options_);
}

void EvalTool::Print(const Evaluation& found) const {
  const auto line = [](const std::string& model, const compress::Accuracy& a) {
    const double n = static_cast<double>(a.n) / 100;
    fmt::print("{}: top-1 {} of {} ({:.2f} %), top-5 {} ({:.2f} %)\n", model, a.top1, a.n,
               static_cast<double>(a.top1) / n, a.top5, static_cast<double>(a.top5) / n);
  };
  line(model_, AccuracyOf(found.answers));
  if (against_.empty()) return;
  line(against_, AccuracyOf(found.others));
  fmt::print("{}\n", PairedText(found));
}

void EvalTool::PrintJson(const Evaluation& found) const {
  data::JsonWriter json;
  const auto add = [&](const compress::Accuracy& a) {
    const auto n = static_cast<double>(a.n);
    json.Key("n").Int(a.n).Key("top1").Number(static_cast<double>(a.top1) / n);
    json.Key("top5").Number(static_cast<double>(a.top5) / n);
  };
  json.BeginObject();
  add(AccuracyOf(found.answers));
  if (!against_.empty()) {
    json.Key("against").BeginObject();
    add(AccuracyOf(found.others));
    json.EndObject().Key("paired").BeginObject();
    WritePaired(found, json);
    json.EndObject();
  }
  fmt::print("{}\n", json.EndObject().text());
}

Result<int> EvalTool::Run(const Args& args) {
  if (images_.empty()) return InvalidArgument("no samples given; use --images DIR or --images FILE.npz");
  TERN_ASSIGN(options_, engine_.Options(args));
  TERN_ASSIGN(pictures_, PreprocessOf(preprocess_));
  std::unique_ptr<compress::Samples> samples;
  TERN_ASSIGN(Engine engine, Load(model_, &samples));
  TERN_ASSIGN(const std::vector<int64_t> labels, LabelsOf(*samples, labels_));
  std::unique_ptr<Engine> other;
  if (!against_.empty()) {
    TERN_ASSIGN(Engine loaded, Load(against_, nullptr));
    other = std::make_unique<Engine>(std::move(loaded));
  }
  TERN_ASSIGN(const Evaluation found, Evaluate(engine, other.get(), *samples, labels));
  json_ ? PrintJson(found) : Print(found);
  return 0;
}

}  // namespace

TERN_TOOL(Eval) { return std::make_unique<EvalTool>(); }

}  // namespace tern::tools

// tern quantize: writes a copy of a model with integer weights and, after calibration, integer activations.
#include <fmt/core.h>

#include <filesystem>
#include <optional>

#include "data/file.h"
#include "data/npz.h"
#include "tools/engine.h"
#include "tools/progress.h"
#include "tools/quantize_report.h"
#include "tools/quantize_weights.h"
#include "tools/sample_files.h"
#include "tools/save_model.h"
#include "tools/shapes.h"
#include "tools/tool.h"

namespace tern::tools {
namespace {

class QuantizeTool : public Tool {
 public:
  const char* name() const override { return "quantize"; }
  const char* summary() const override {
    return "quantize a model to 8-bit integers, or its weights to 8 or 4 bits";
  }
  const char* examples() const override {
    return "  tern quantize model.onnx -o int8.tern --calib photos --preprocess imagenet\n"
           "  tern quantize model.onnx -o int8.onnx --calib samples.npz --method kl --json\n"
           "  tern quantize model.onnx -o int8.tern --calib photos --keep-float conv1 --keep-float fc\n"
           "  tern quantize decoder.onnx -o int4.tern --weights int4 --block 32\n"
           "  tern quantize encoder.onnx -o dynamic.tern --dynamic\n";
  }
  void Declare(Args& args) override;
  Result<int> Run(const Args& args) override;

 private:
  Status Check(const Args& args);
  Result<int> Finish(const Graph& before, QuantizeReport report, const data::ImageOptions& pictures) const;
  Result<compress::Quantizer::Resume> ResumeFrom() const;
  Status EvaluateBoth(const Graph& before, const Graph& after, const data::ImageOptions& pictures,
                      QuantizeReport& report) const;

  std::string html_, state_, images_, labels_ = "stem";
  std::string model_, calib_, preprocess_ = "imagenet", method_ = "mse", rounding_ = "adaround";
  std::vector<std::string> keep_;
  int64_t limit_ = 0, bits_ = 8, threads_ = 0;
  double percentile_ = 99.99, min_sqnr_ = 0;
  bool symmetric_ = false, per_tensor_ = false, no_bias_ = false, equalize_ = false, json_ = false;
  bool layers_ = false, sensitivity_ = false, fastest_ = false;
  compress::StaticOptions options_;
  ModelFlags model_flags_;
  WeightFlags weights_;
  SaveOptions out_;
  ShapeOptions shapes_;
};

void QuantizeTool::Declare(Args& args) {
  args.Positional("MODEL", model_, ModelHelp());
  model_flags_.DeclareSignature(args);
  out_.Declare(args, "the file to write, .tern or .onnx");
  args.Option(
      "--calib", calib_, "DIR|FILE.npz",
      "calibration data: a folder with one picture, .npy or .npz per sample, or arrays with one sample per row");
  args.Option("--preprocess", preprocess_, "NAME|FILE.json",
              "pictures: imagenet, none, or a file with resize, crop, scale, mean, std (imagenet)");
  args.Choice("--method", method_, compress::MethodNames(), "how the ranges of activations are chosen (mse)");
  args.Option("--percentile", percentile_, "P",
              "--method percentile leaves out 100 - P percent of the values at each end (99.99)");
  args.Option("--samples", limit_, "N", "use the first N samples; 0 means all", 0, INT64_MAX);
  args.Option(
      "--state", state_, "FILE.npz",
      "store the state of the calibration after every tenth of the samples; an interrupted command continues from it");
  args.Option("--bits", bits_, "N", "bits of activations, 8 or 16 (8)", 8, 16);
  args.Flag("--symmetric", symmetric_, "put the zero points of activations in the middle of the range");
  args.Flag("--per-tensor", per_tensor_, "use one scale for all output channels of a layer's weights");
  args.Choice("--rounding", rounding_, {"nearest", "adaround"},
              "how weights are rounded; adaround: up or down, so that results change least (adaround)");
  args.Flag("--no-bias-correction", no_bias_,
            "do not correct biases for the change of mean results that quantization causes");
  args.Flag("--equalize", equalize_, "balance the channels between layers first (cross-layer equalization)");
  args.Option("--keep-float", keep_, "LAYER", "the name of a Conv or MatMul that stays float (repeatable)");
  args.Section("Mixed precision and reports");
  args.Option(
      "--min-sqnr", min_sqnr_, "DB",
      "keep the most sensitive layers float until the outputs have this signal-to-noise ratio on calibration data");
  args.Flag("--fastest", fastest_, "keep layers float whose integer kernels are slower on this machine");
  args.Flag("--layers", layers_, "print the errors and times of each layer");
  args.Flag("--sensitivity", sensitivity_,
            "measure the error of the outputs for each layer, with only this layer quantized");
  args.Option("--html", html_, "FILE", "write a page with layers and histograms");
  args.Option("--images", images_, "DIR|FILE.npz",
              "also measure the accuracy before and after on these samples");
  args.Option("--labels", labels_, "stem|FILE", "labels of --images, as in tern eval (stem)");
  args.Section("Options");
  args.Option("--threads", threads_, "N", "number of worker threads; 0 means one per core", 0, kMaxThreads);
  weights_.Declare(args);
  shapes_.Declare(args, "fixed in the output file");
  args.Flag("--json", json_, "print one JSON object");
}

Status QuantizeTool::Check(const Args& args) {
  if (!out_.wanted()) return InvalidArgument("no output given; use -o OUT.tern or -o OUT.onnx");
  TERN_TRY(weights_.Check(args));
  if (weights_.wanted()) return out_.Check(model_);
  if (calib_.empty())
    return InvalidArgument("no calibration data given; use --calib DIR or --calib FILE.npz");
  if (bits_ != 8 && bits_ != 16) return InvalidArgument("--bits ", bits_, ": must be 8 or 16");
  if (args.Given("--percentile") && method_ != "percentile")
    return InvalidArgument("--percentile is for --method percentile, not ", method_);
  if (sensitivity_ && !layers_ && html_.empty())
    return InvalidArgument("--sensitivity is part of a report; use --layers or --html FILE");
  if (args.Given("--min-sqnr") && !(min_sqnr_ > 0))
    return InvalidArgument("--min-sqnr ", min_sqnr_, ": must be above 0");
  if (!(percentile_ > 50 && percentile_ <= 100))
    return InvalidArgument("--percentile ", percentile_, ": must be above 50 and at most 100");
  compress::QuantizeOptions& q = options_.quantize;
  q.activations = {*compress::ParseMethod(method_), percentile_, {static_cast<int>(bits_), symmetric_}};
  q.weights.per_channel = !per_tensor_;
  q.adaround = rounding_ == "adaround";
  q.correct_bias = !no_bias_;
  q.equalize = equalize_;
  q.integer_bias = EndsWith(out_.path(), ".onnx");
  q.threads = static_cast<int>(threads_);
  for (const std::string& name : keep_) q.keep[name] = "--keep-float";
  options_.min_sqnr = min_sqnr_;
  options_.fastest = fastest_;
  options_.layers = layers_ || !html_.empty();
  options_.sensitivity = sensitivity_;
  return out_.Check(model_);
}

Status QuantizeTool::EvaluateBoth(const Graph& before, const Graph& after, const data::ImageOptions& pictures,
                                  QuantizeReport& report) const {
  TERN_ASSIGN(const std::unique_ptr<compress::Samples> samples, OpenSamples(images_, before, pictures));
  TERN_ASSIGN(const std::vector<int64_t> labels, LabelsOf(*samples, labels_));
  const SessionOptions options{.threads = options_.quantize.threads, .level = Level::kLayout};
  TERN_ASSIGN(Engine first, Engine::Make(before.Clone(), options));
  TERN_ASSIGN(Engine second, Engine::Make(after.Clone(), options));
  TERN_ASSIGN(report.evaluation, Evaluate(second, &first, *samples, labels));
  return {};
}

Result<int> QuantizeTool::Finish(const Graph& before, QuantizeReport report,
                                 const data::ImageOptions& pictures) const {
  const Graph& after = *report.result.made.graph;
  if (!images_.empty()) TERN_TRY(EvaluateBoth(before, after, pictures, report));
  TERN_TRY(out_.Save(after, model_).status());
  report.files = quantize::FilesOf(model_, out_.path());
  if (!html_.empty()) TERN_TRY(data::WriteFile(html_, ReportPage(report)));
  fmt::print("{}{}", json_ ? ReportJson(report) : ReportText(report), json_ ? "\n" : "");
  return 0;
}

// Reads the state of an interrupted calibration, if there is one. The result also stores later states.
Result<compress::Quantizer::Resume> QuantizeTool::ResumeFrom() const {
  compress::Quantizer::Resume resume;
  if (state_.empty()) return resume;
  resume.save = [this](const compress::Quantizer::State& state) { return data::WriteNpz(state_, state); };
  std::error_code ignored;
  if (std::filesystem::exists(state_, ignored)) {
    TERN_ASSIGN(resume.state, data::ReadNpz(state_));
  }
  return resume;
}

Result<int> QuantizeTool::Run(const Args& args) {
  TERN_TRY(Check(args));
  TERN_ASSIGN(const data::ImageOptions pictures, PreprocessOf(preprocess_));
  TERN_ASSIGN(std::unique_ptr<Graph> graph, LoadModel(model_, model_flags_.Options(threads_), shapes_));
  TERN_TRY(shapes_.Apply(*graph));
  std::unique_ptr<compress::Samples> samples;
  if (!calib_.empty()) {
    TERN_ASSIGN(samples, OpenSamples(calib_, *graph, pictures, limit_));
  }
  if (weights_.wanted()) return weights_.Run(*graph, model_, samples.get(), keep_, threads_, out_, json_);
  const std::unique_ptr<Graph> before = graph->Clone();
  std::optional<Progress> progress;  // of one phase at a time
  const char* phase = nullptr;
  const auto show = [&](const char* title) {
    return [&progress, &phase, title](double share) {
      if (phase != title) progress.emplace(phase = title);
      progress->Show(share);
    };
  };
  compress::StaticOptions options = options_;
  options.calibrating = show("calibrating");
  options.measuring = show("measuring layers");
  TERN_ASSIGN(options.resume, ResumeFrom());
  QuantizeReport report{.model = model_, .method = method_};
  TERN_ASSIGN(report.result, compress::QuantizeStatic(std::move(graph), *samples, options));
  progress.reset();
  TERN_ASSIGN(const int code, Finish(*before, std::move(report), pictures));
  std::error_code ignored;
  if (!state_.empty()) std::filesystem::remove(state_, ignored);
  return code;
}

}  // namespace

TERN_TOOL(Quantize) { return std::make_unique<QuantizeTool>(); }

}  // namespace tern::tools

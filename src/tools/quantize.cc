// tern quantize: writes a copy of a model with integer weights and, after calibration, integer activations.
#include <fmt/core.h>

#include <filesystem>

#include "compress/quantize/quantizer.h"
#include "data/json_writer.h"
#include "tools/engine.h"
#include "tools/progress.h"
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
  const char* summary() const override { return "quantize a model to 8-bit integers"; }
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
  void Print(const compress::Quantized& made, size_t samples) const;
  void PrintJson(const compress::Quantized& made, size_t samples) const;

  std::string model_, calib_, preprocess_ = "imagenet", method_ = "mse", rounding_ = "adaround";
  std::vector<std::string> keep_;
  int64_t limit_ = 0, bits_ = 8, threads_ = 0;
  double percentile_ = 99.99;
  bool symmetric_ = false, per_tensor_ = false, no_bias_ = false, equalize_ = false, json_ = false;
  compress::QuantizeOptions options_;
  WeightFlags weights_;
  SaveOptions out_;
  ShapeOptions shapes_;
};

void QuantizeTool::Declare(Args& args) {
  args.Positional("MODEL", model_, ModelHelp());
  out_.Declare(args, "the file to write, .tern or .onnx");
  args.Option(
      "--calib", calib_, "DIR|FILE.npz",
      "calibration data: a folder with one picture, .npy or .npz per sample, or arrays with one sample per row");
  args.Option("--preprocess", preprocess_, "NAME|FILE.json",
              "pictures: imagenet, none, or a file with resize, crop, scale, mean, std (imagenet)");
  args.Choice("--method", method_, compress::MethodNames(), "how the ranges of activations are chosen (mse)");
  args.Option("--percentile", percentile_, "P",
              "the percentage of values that --method percentile keeps (99.99)");
  args.Option("--samples", limit_, "N", "use the first N samples; 0 means all", 0, INT64_MAX);
  args.Option("--bits", bits_, "N", "bits of activations, 8 or 16 (8)", 8, 16);
  args.Flag("--symmetric", symmetric_, "the zero points of activations are in the middle");
  args.Flag("--per-tensor", per_tensor_, "one scale for all output channels of a layer's weights");
  args.Choice("--rounding", rounding_, {"nearest", "adaround"},
              "how weights are rounded; adaround: up or down, so that results change least (adaround)");
  args.Flag("--no-bias-correction", no_bias_, "do not compensate shifts of means in biases");
  args.Flag("--equalize", equalize_, "balance the channels between layers first (cross-layer equalization)");
  args.Option("--keep-float", keep_, "LAYER", "the name of a Conv or MatMul that stays float (repeatable)");
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
  if (!(percentile_ > 50 && percentile_ <= 100))
    return InvalidArgument("--percentile ", percentile_, ": must be above 50 and at most 100");
  options_.activations = {
      *compress::ParseMethod(method_), percentile_, {static_cast<int>(bits_), symmetric_}};
  options_.weights.per_channel = !per_tensor_;
  options_.adaround = rounding_ == "adaround";
  options_.correct_bias = !no_bias_;
  options_.equalize = equalize_;
  options_.integer_bias = EndsWith(out_.path(), ".onnx");
  options_.threads = static_cast<int>(threads_);
  for (const std::string& name : keep_) options_.keep[name] = "--keep-float";
  return out_.Check(model_);
}

void QuantizeTool::PrintJson(const compress::Quantized& made, size_t samples) const {
  std::error_code ignored;
  data::JsonWriter json;
  json.BeginObject().Key("output").Text(out_.path()).Key("method").Text(method_);
  json.Key("samples").Unsigned(samples).Key("layers").Unsigned(made.layers.size());
  json.Key("bytes").BeginObject().Key("before").Unsigned(std::filesystem::file_size(model_, ignored));
  json.Key("after").Unsigned(std::filesystem::file_size(out_.path(), ignored)).EndObject();
  json.Key("float_layers").BeginArray();
  for (const auto& [name, why] : made.floats)
    json.BeginObject().Key("name").Text(name).Key("why").Text(why).EndObject();
  json.EndArray().Key("values").BeginArray();
  for (const compress::GridReport& v : made.grids) {
    json.BeginObject().Key("name").Text(v.value).Key("type").Text(DTypeName(v.grid.dtype));
    json.Key("scale").Number(v.grid.scale).Key("zero_point").Int(v.grid.zero);
    json.Key("low").Number(v.observed.low).Key("high").Number(v.observed.high);
    json.Key("sqnr_db").Number(v.sqnr).Key("cosine").Number(v.cosine).EndObject();
  }
  fmt::print("{}\n", json.EndArray().EndObject().text());
}

void QuantizeTool::Print(const compress::Quantized& made, size_t samples) const {
  std::error_code ignored;
  const auto before = std::filesystem::file_size(model_, ignored);
  const auto after = std::filesystem::file_size(out_.path(), ignored);
  fmt::print("{}: {} layers quantized by {} on {} samples; {} bytes, {:.1f} % of {}\n", out_.path(),
             made.layers.size(), method_, samples, after,
             100 * static_cast<double>(after) / static_cast<double>(before), before);
  for (const auto& [name, why] : made.floats) fmt::print("  '{}' stays float: {}\n", name, why);
}

Result<int> QuantizeTool::Run(const Args& args) {
  TERN_TRY(Check(args));
  TERN_ASSIGN(const data::ImageOptions pictures, PreprocessOf(preprocess_));
  TERN_ASSIGN(std::unique_ptr<Graph> graph, LoadModel(model_, threads_));
  TERN_TRY(shapes_.Apply(*graph));
  std::unique_ptr<compress::Samples> samples;
  if (!calib_.empty()) {
    TERN_ASSIGN(samples, OpenSamples(calib_, *graph, pictures, limit_));
  }
  if (weights_.wanted()) return weights_.Run(*graph, model_, samples.get(), keep_, threads_, out_, json_);
  TERN_ASSIGN(const std::unique_ptr<compress::Quantizer> quantizer,
              compress::Quantizer::Make(std::move(graph), options_));
  {
    Progress progress("calibrating");
    TERN_TRY(quantizer->Observe(*samples, [&](double share) { progress.Show(share); }));
  }
  TERN_ASSIGN(const compress::Quantized made, quantizer->Write());
  for (const auto& [name, why] : options_.keep)
    if (!made.floats.count(name)) return NotFound("--keep-float ", name, ": no Conv or MatMul has this name");
  TERN_TRY(out_.Save(*made.graph, model_).status());
  json_ ? PrintJson(made, samples->size()) : Print(made, samples->size());
  return 0;
}

}  // namespace

TERN_TOOL(Quantize) { return std::make_unique<QuantizeTool>(); }

}  // namespace tern::tools

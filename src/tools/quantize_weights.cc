#include "tools/quantize_weights.h"

#include <fmt/core.h>

#include <filesystem>

#include "data/json_writer.h"
#include "tools/progress.h"

namespace tern::tools {
namespace {

constexpr int64_t kDefaultBlock = 32;

void Print(const compress::WeightOnlyReport& report, const std::string& model, const std::string& out) {
  std::error_code ignored;
  const auto before = static_cast<double>(std::filesystem::file_size(model, ignored)),
             after = static_cast<double>(std::filesystem::file_size(out, ignored));
  double mean = 0;
  for (const auto& layer : report.layers) mean += layer.sqnr / static_cast<double>(report.layers.size());
  fmt::print(
      "{}: {} layers, {:.1f} dB on average; their weights {} -> {} bytes; file {:.1f} % of {:.0f} bytes\n",
      out, report.layers.size(), mean, report.bytes_before, report.bytes_after, 100 * after / before, before);
}

void PrintJson(const compress::WeightOnlyReport& report, const std::string& model, const std::string& out) {
  std::error_code ignored;
  data::JsonWriter json;
  json.BeginObject().Key("output").Text(out).Key("bytes").BeginObject();
  json.Key("before").Unsigned(std::filesystem::file_size(model, ignored));
  json.Key("after").Unsigned(std::filesystem::file_size(out, ignored)).EndObject();
  json.Key("weight_bytes").BeginObject().Key("before").Int(report.bytes_before);
  json.Key("after").Int(report.bytes_after).EndObject().Key("layers").BeginArray();
  for (const compress::WeightOnlyLayer& layer : report.layers) {
    json.BeginObject().Key("name").Text(layer.node).Key("inputs").Int(layer.inputs);
    json.Key("outputs").Int(layer.outputs).Key("sqnr_db").Number(layer.sqnr).EndObject();
  }
  fmt::print("{}\n", json.EndArray().EndObject().text());
}

}  // namespace

void WeightFlags::Declare(Args& args) {
  args.Choice("--weights", weights_, {"int8", "int4"},
              "quantize only the weights of matrix products; calibration data is optional");
  args.Option(
      "--block", block_, "N",
      "with --weights: inputs that share a scale, 16 or a multiple of 32; 0 means all inputs (int4: 32, int8: 0)",
      0, 1 << 20);
  args.Choice("--weight-method", method_, {"nearest", "gptq", "awq"},
              "with --weights: round to nearest, or by GPTQ or AWQ, which need --calib (nearest)");
  args.Flag(
      "--dynamic", dynamic_,
      "8-bit weights per column, and rows that are rounded to 8 bits in every run; no calibration data");
}

Status WeightFlags::Check(const Args& args) const {
  if (dynamic_ && (weights_ == "int4" || args.Given("--block")))
    return InvalidArgument(
        "--dynamic has weights of 8 bits with one scale per column; --weights int4 and --block are not for it");
  if (!wanted() && (args.Given("--block") || args.Given("--weight-method")))
    return InvalidArgument("--block and --weight-method are for --weights int8 and --weights int4");
  if (block_ > 0 && block_ != 16 && block_ % 32 != 0)
    return InvalidArgument("--block ", block_, ": must be 0, 16 or a multiple of 32");
  for (const char* option : {"--method", "--percentile", "--bits", "--symmetric", "--per-tensor"})
    if (wanted() && args.Given(option))
      return InvalidArgument(option, " is for the ranges of activations; --weights and --dynamic have none");
  if (wanted() && method_ != "nearest" && !args.Given("--calib"))
    return InvalidArgument("--weight-method ", method_,
                           " needs calibration data; use --calib DIR or --calib FILE.npz");
  return {};
}

Result<int> WeightFlags::Run(Graph& graph, const std::string& model, compress::Samples* samples,
                             const std::vector<std::string>& keep, int64_t threads, const SaveOptions& out,
                             bool json) const {
  compress::WeightOnlyOptions options;
  options.format.bits = weights_ == "int4" ? 4 : 8;
  options.format.block = block_ >= 0 ? block_ : weights_ == "int4" ? kDefaultBlock : 0;
  options.format.search = options.format.bits == 4;
  options.dynamic = dynamic_;
  options.method = method_ == "gptq"  ? compress::WeightMethod::kGptq
                   : method_ == "awq" ? compress::WeightMethod::kAwq
                                      : compress::WeightMethod::kNearest;
  options.keep = keep;
  options.threads = static_cast<int>(threads);
  compress::WeightOnlyReport report;
  {
    Progress progress("quantizing");
    TERN_ASSIGN(report, compress::QuantizeWeights(graph, options, samples,
                                                  [&](double share) { progress.Show(share); }));
  }
  TERN_TRY(out.Save(graph, model).status());
  json ? PrintJson(report, model, out.path()) : Print(report, model, out.path());
  return 0;
}

}  // namespace tern::tools

#include "tools/quantize_weights.h"

#include <fmt/core.h>

#include "quantize/quantize.h"
#include "quantize/report.h"
#include "tools/progress.h"

namespace tern::tools {
namespace {

// Options that have no effect on weight-only and dynamic quantization.
constexpr const char* kOnlyStatic[] = {
    "--method",   "--percentile",         "--bits",  "--symmetric", "--per-tensor",
    "--equalize", "--no-bias-correction", "--state", "--min-sqnr",  "--fastest",
    "--layers",   "--sensitivity",        "--html",  "--images",    "--labels"};

void Print(const compress::WeightOnlyReport& report, const std::string& model, const std::string& out) {
  const auto before = static_cast<double>(quantize::ModelBytes(model)),
             after = static_cast<double>(quantize::ModelBytes(out));
  double mean = 0;
  for (const auto& layer : report.layers) mean += layer.sqnr / static_cast<double>(report.layers.size());
  fmt::print(
      "{}: {} layers quantized, mean SQNR {:.1f} dB; their weights {} -> {} bytes; file size {:.1f} % of {:.0f} bytes\n",
      out, report.layers.size(), mean, report.bytes_before, report.bytes_after, 100 * after / before, before);
}

}  // namespace

void WeightFlags::Declare(Args& args) {
  args.Choice("--weights", weights_, {"int8", "int4"}, "quantize only the weights of matrix products");
  args.Option(
      "--block", block_, "N",
      "with --weights: block size, the number of consecutive weights along k that share a scale: 16 or a multiple of 32; "
      "0 means one scale per output column (default: 32 for int4, 0 for int8)",
      0, 1 << 20);
  args.Choice(
      "--weight-method", method_, compress::WeightMethodNames(),
      "with --weights or --dynamic: how weights are quantized: round to nearest, GPTQ, AWQ or AdaRound; gptq, awq "
      "and adaround need --calib (default: nearest)");
  args.Flag(
      "--dynamic", dynamic_,
      "dynamic quantization: int8 weights with one scale per output column, and activations quantized to 8 bits at run "
      "time with one scale per row; needs no calibration data");
}

// Fails if an option is given that would be ignored.
Status WeightFlags::CheckUnused(const Args& args) const {
  if (!wanted()) return {};
  for (const char* option : kOnlyStatic)
    if (args.Given(option))
      return InvalidArgument(
          option, " is an option of static quantization and cannot be used with --weights or --dynamic");
  if (args.Given("--rounding"))
    return InvalidArgument("--rounding cannot be used with --weights or --dynamic; use --weight-method ",
                           Join(compress::WeightMethodNames(), "|"));
  for (const char* option : {"--samples", "--preprocess"})
    if (args.Given(option) && !args.Given("--calib"))
      return InvalidArgument(option, " has no effect without calibration data; use --calib");
  return {};
}

Status WeightFlags::Check(const Args& args) const {
  if (dynamic_ && (weights_ == "int4" || args.Given("--block")))
    return InvalidArgument(
        "--dynamic uses 8-bit weights with one scale per column, so --weights int4 and --block cannot be used with it");
  if (!wanted() && (args.Given("--block") || args.Given("--weight-method")))
    return InvalidArgument(
        "--block needs --weights int8 or --weights int4; --weight-method needs --weights or --dynamic");
  if (block_ > 0 && block_ != 16 && block_ % 32 != 0)
    return InvalidArgument("--block ", block_, ": must be 0, 16 or a multiple of 32");
  TERN_TRY(CheckUnused(args));
  if (wanted() && method_ != "nearest" && !args.Given("--calib"))
    return InvalidArgument("--weight-method ", method_,
                           " needs calibration data; use --calib DIR or --calib FILE.npz");
  return {};
}

Result<int> WeightFlags::Run(Graph& graph, const std::string& model, compress::Samples* samples,
                             const std::vector<std::string>& keep, int64_t threads, const SaveOptions& out,
                             bool json) const {
  quantize::Options names;
  names.weights = weights_;
  names.block = block_;
  names.weight_method = method_;
  names.dynamic = dynamic_;
  names.keep_float = keep;
  names.threads = static_cast<int>(threads);
  const compress::WeightOnlyOptions options = quantize::WeightOptionsOf(names);
  compress::WeightOnlyReport report;
  {
    Progress progress("quantizing");
    TERN_ASSIGN(report, compress::QuantizeWeights(graph, options, samples,
                                                  [&](double share) { progress.Show(share); }));
  }
  TERN_TRY(out.Save(graph, model).status());
  if (json)
    fmt::print("{}\n", quantize::WeightsJson(quantize::FilesOf(model, out.path()), report));
  else
    Print(report, model, out.path());
  return 0;
}

}  // namespace tern::tools

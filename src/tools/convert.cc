// tern convert: converts a model. The extension of the output file determines its format.
#include <fmt/core.h>

#include <filesystem>

#include "compress/half/half_weights.h"
#include "data/json_writer.h"
#include "tools/engine.h"
#include "tools/save_model.h"
#include "tools/shapes.h"
#include "tools/tool.h"
#include "tools/units.h"

namespace tern::tools {
namespace {

class ConvertTool : public Tool {
 public:
  const char* name() const override { return "convert"; }
  const char* summary() const override { return "convert a model of any format to .onnx or .tern"; }
  const char* examples() const override {
    return "  tern convert model.onnx -o model.tern\n"
           "  tern convert model.tern -o model.onnx\n"
           "  tern convert program.pt2 -o program.onnx\n"
           "  tern convert model.onnx -o half.tern --precision fp16\n"
           "  tern convert big.onnx -o big2.onnx --external-data\n";
  }
  void Declare(Args& args) override {
    args.Positional("IN", in_, ModelHelp());
    model_flags_.Declare(args);
    out_.Declare(args, "the file to write, .onnx or .tern");
    args.Choice("--precision", precision_, {"fp32", "fp16", "bf16"},
                "how weights are stored (fp32: as they are); weights that 16 bits cannot represent stay f32");
    shapes_.Declare(args, "fixed in the output file");
    args.Flag("--json", json_, "print one JSON object");
  }
  Result<int> Run(const Args& args) override;

 private:
  ModelFlags model_flags_;
  std::string in_, precision_ = "fp32";
  SaveOptions out_;
  bool json_ = false;
  ShapeOptions shapes_;
};

void WriteHalf(const compress::HalfReport& half, data::JsonWriter& json) {
  json.Key("weights_converted").Int(half.converted).Key("weights_kept").BeginArray();
  for (const auto& kept : half.kept)
    json.BeginObject()
        .Key("name")
        .Text(kept.constant)
        .Key("node")
        .Text(kept.node)
        .Key("why")
        .Text(kept.why)
        .EndObject();
  json.EndArray();
}

Result<int> ConvertTool::Run(const Args&) {
  if (!out_.wanted()) return InvalidArgument("no output given; use -o OUT.tern or -o OUT.onnx");
  TERN_TRY(out_.Check(in_));
  TERN_ASSIGN(std::unique_ptr<Graph> graph, LoadModel(in_, model_flags_.Options(), shapes_));
  TERN_TRY(shapes_.Apply(*graph));
  compress::HalfReport half;
  if (precision_ != "fp32") {
    TERN_ASSIGN(half,
                compress::StoreWeightsAsHalf(*graph, precision_ == "fp16" ? DType::kF16 : DType::kBF16));
  }
  TERN_ASSIGN(const int64_t nodes, out_.Save(*graph, in_));
  std::error_code ignored;
  const uint64_t bytes = std::filesystem::file_size(out_.path(), ignored);
  if (json_) {
    data::JsonWriter json;
    json.BeginObject().Key("output").Text(out_.path()).Key("nodes").Int(nodes).Key("bytes").Unsigned(bytes);
    if (precision_ != "fp32") WriteHalf(half, json);
    fmt::print("{}\n", json.EndObject().text());
  } else {
    fmt::print("{}: {} nodes, {} bytes\n", out_.path(), nodes, bytes);
    for (const auto& kept : half.kept)
      fmt::print("'{}' of {} stays f32: {}\n", Printable(kept.constant), Printable(kept.node), kept.why);
  }
  return 0;
}

}  // namespace

TERN_TOOL(Convert) { return std::make_unique<ConvertTool>(); }

}  // namespace tern::tools

// tern convert: from one model format to another; the output's extension says which.
#include <fmt/core.h>

#include <filesystem>

#include "data/file.h"
#include "data/json_writer.h"
#include "export/onnx/exporter.h"
#include "ir/tern_file.h"
#include "tools/engine.h"
#include "tools/shapes.h"
#include "tools/tool.h"

namespace fs = std::filesystem;

namespace tern::tools {
namespace {

class ConvertTool : public Tool {
 public:
  const char* name() const override { return "convert"; }
  const char* summary() const override { return "convert a model between .onnx and .tern"; }
  const char* examples() const override {
    return "  tern convert model.onnx -o model.tern\n"
           "  tern convert model.tern -o model.onnx\n"
           "  tern convert big.onnx -o big2.onnx --external-data\n";
  }
  void Declare(Args& args) override {
    args.Positional("IN", in_, "the model, .onnx or .tern");
    args.Option("-o,--output", out_, "OUT", "the file to write, .onnx or .tern");
    shapes_.Declare(args);
    args.Flag("--external-data", external_, "put an .onnx model's weights into OUT.data");
    args.Flag("--json", json_, "print one JSON object");
  }
  Result<int> Run(const Args& args) override;

 private:
  Status Write(const Graph& graph, const std::string& path) const;
  std::string in_, out_;
  bool external_ = false, json_ = false;
  ShapeOptions shapes_;
};

// Says later which file a .tern came from. 0 for one so large that reading it again would cost.
uint64_t SourceHash(const std::string& path) {
  std::error_code error;
  constexpr uintmax_t kMax = uintmax_t{256} << 20;
  if (fs::file_size(path, error) > kMax || error) return 0;
  auto bytes = data::ReadFile(path);
  return bytes.ok() ? Checksum(bytes->data(), bytes->size()) : 0;
}

Status ConvertTool::Write(const Graph& graph, const std::string& path) const {
  return EndsWith(path, ".tern") ? SaveTern(graph, path, SourceHash(in_))
                                 : onnx::ExportFile(graph, path, external_);
}

Result<int> ConvertTool::Run(const Args&) {
  if (out_.empty()) return InvalidArgument("where to? give -o OUT.tern or -o OUT.onnx");
  if (!EndsWith(out_, ".tern") && !EndsWith(out_, ".onnx"))
    return InvalidArgument("'", out_, "': the output's name must end in .tern or .onnx");
  if (external_ && EndsWith(out_, ".tern"))
    return InvalidArgument("--external-data is for .onnx; '", out_, "' keeps its weights inside");
  std::error_code ignored;
  if (fs::equivalent(in_, out_, ignored)) return InvalidArgument("'", out_, "' is the input itself");
  TERN_ASSIGN(std::unique_ptr<Graph> graph, LoadModel(in_));
  TERN_TRY(shapes_.Apply(*graph));
  TERN_ASSIGN(data::Staging staging, data::Staging::Beside(out_));
  TERN_TRY(Write(*graph, staging.path()).While(StrCat("writing '", out_, "'")));
  TERN_TRY(staging.Commit());
  const uint64_t bytes = fs::file_size(out_, ignored);
  if (json_) {
    data::JsonWriter json;
    json.BeginObject()
        .Key("output")
        .Text(out_)
        .Key("nodes")
        .Int(graph->NodeCount())
        .Key("bytes")
        .Unsigned(bytes)
        .EndObject();
    fmt::print("{}\n", json.text());
  } else {
    fmt::print("{}: {} nodes, {} bytes\n", out_, graph->NodeCount(), bytes);
  }
  return 0;
}

}  // namespace

std::unique_ptr<Tool> MakeConvert() { return std::make_unique<ConvertTool>(); }

}  // namespace tern::tools

// tern pipeline: writes a pipeline.yaml for a model, or checks one.
#include <fmt/core.h>

#include <filesystem>

#include "data/file.h"
#include "data/json_writer.h"
#include "pipeline/guess.h"
#include "pipeline/pipeline.h"
#include "tools/engine.h"
#include "tools/tool.h"
#include "tools/units.h"

namespace tern::tools {
namespace {

class PipelineTool : public Tool {
 public:
  const char* name() const override { return "pipeline"; }
  const char* summary() const override {
    return "write or check the steps from pictures, sounds and texts to results";
  }
  const char* examples() const override {
    return "  tern pipeline init resnet.onnx              # writes pipeline.yaml beside the model\n"
           "  tern pipeline init resnet.onnx -o -         # prints it\n"
           "  tern pipeline check resnet.onnx             # checks pipeline.yaml against the model\n";
  }
  void Declare(Args& args) override {
    args.Positional("ACTION", action_, "init or check");
    args.Positional("MODEL", model_, ModelHelp());
    args.Option("-o,--output", output_, "FILE",
                "init: the file to write, '-' for standard output (pipeline.yaml beside the model)");
    args.Option("--pipeline", file_, "FILE", "check: the file to check (pipeline.yaml beside the model)");
    args.Flag("--force", force_, "init: replace an existing file");
    args.Flag("--json", json_, "print one JSON object");
  }
  Result<int> Run(const Args&) override {
    if (action_ == "init") return Init();
    if (action_ == "check") return Check();
    return InvalidArgument("unknown action '", action_, "'; the actions are init and check");
  }

 private:
  Result<int> Init() {
    namespace fs = std::filesystem;
    TERN_ASSIGN(const std::unique_ptr<Graph> graph, LoadModel(model_));
    TERN_ASSIGN(const std::string text, pipeline::GuessPipeline(*graph, model_));
    if (output_ == "-") {
      Say("", text, text);
      return 0;
    }
    const fs::path folder = fs::is_directory(model_) ? fs::path(model_) : fs::path(model_).parent_path();
    const std::string path = output_.empty() ? (folder / "pipeline.yaml").string() : output_;
    if (fs::exists(path) && !force_)
      return InvalidArgument("'", path, "' exists; --force replaces it, and -o writes another file");
    TERN_TRY(data::WriteFile(path, text));
    Say(path, text, StrCat(text, Printable(path), ": read the comments, which state what was guessed\n"));
    return 0;
  }

  Result<int> Check() {
    TERN_ASSIGN(const pipeline::Source source, pipeline::FindSource(model_, file_));
    TERN_ASSIGN(std::unique_ptr<Graph> graph, LoadModel(source.model));
    TERN_ASSIGN(const auto steps, pipeline::Steps::Create(source.spec, *graph));
    WarnOfLabels(steps->binding());
    Say(source.spec.file, "", StrCat(Printable(source.spec.file), " fits ", Printable(source.model), "\n"));
    return 0;
  }

  // Labels that do not match the classes of an output are probably those of another model.
  static void WarnOfLabels(const pipeline::Binding& binding) {
    const auto labels = static_cast<int64_t>(binding.labels.size());
    for (const pipeline::BoundOutput& output : binding.outputs) {
      const bool named =
          output.spec.Find<pipeline::TopKStep>() || output.spec.Find<pipeline::ThresholdStep>();
      if (!labels || !named || output.classes < 0 || output.classes == labels) continue;
      fmt::print(stderr, "warning: there are {} labels, but output '{}' has {} classes\n", labels,
                 Printable(output.tensor), output.classes);
    }
  }

  // Prints the file and its text as JSON, or a message.
  void Say(const std::string& file, const std::string& text, const std::string& message) const {
    if (!json_) {
      fmt::print("{}", message);
      return;
    }
    data::JsonWriter json;
    json.BeginObject();
    if (!file.empty()) json.Key("file").Text(file);
    if (!text.empty()) json.Key("text").Text(text);
    fmt::print("{}\n", json.EndObject().text());
  }

  std::string action_, model_, output_, file_;
  bool force_ = false, json_ = false;
};

}  // namespace

TERN_TOOL(Pipeline) { return std::make_unique<PipelineTool>(); }

}  // namespace tern::tools

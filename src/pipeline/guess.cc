#include "pipeline/guess.h"

#include <algorithm>
#include <filesystem>

#include "pipeline/binding.h"
#include "pipeline/guess_parts.h"

namespace tern::pipeline {
namespace {

std::string Describe(const std::vector<Value*>& values) {
  std::string out;
  for (const Value* value : values) out += StrCat("\n  ", value->name, ": ", value->type.ToString());
  return out;
}

bool IsOneLine(const std::string& text) {
  return std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; });
}

// Returns comment lines for the model's outputs that no step reads, so that a reader can add them. Leaves out
// outputs with a name that would end the comment.
std::string OtherOutputs(const Spec& spec, const Graph& graph) {
  std::string out;
  for (const Value* value : graph.outputs()) {
    bool used = std::any_of(spec.states.begin(), spec.states.end(),
                            [&](const auto& state) { return state.second == value->name; });
    for (const OutputSpec& output : spec.outputs) {
      const auto* tensor = output.Find<TensorStep>();
      const auto* boxes = output.Find<BoxesStep>();
      used |= (tensor && tensor->name == value->name) ||
              (boxes && (boxes->boxes == value->name || boxes->scores == value->name));
    }
    if (used || !IsOneLine(value->name)) continue;
    out += StrCat("  # ", Quoted(value->name), ":    # not guessed: ", value->type.ToString(),
                  "; without '#', clients get this tensor\n");
    out += StrCat("  #   - tensor: ", Quoted(value->name), "\n");
  }
  return out;
}

// Returns why a model has no pipeline.
Status NoKind(const Graph& graph, const std::vector<std::string>& reasons) {
  std::string text = "no kind of pipeline fits the model";
  for (const std::string& reason : reasons) text += StrCat("\n  ", reason);
  return Unsupported(text, "\ninputs:", Describe(graph.inputs()), "\noutputs:", Describe(graph.outputs()),
                     "\nwrite pipeline.yaml by hand: docs/guide/pipelines.md");
}

Status Check(const std::string& text, const Graph& graph, const std::string& file) {
  TERN_ASSIGN(const Spec spec, ParseSpec(text, file));
  const std::unique_ptr<Graph> copy = graph.Clone();
  TERN_ASSIGN(Binding binding, Bind(spec, *copy));
  return AddGraphSteps(binding, *copy);
}

}  // namespace

Result<std::string> GuessPipeline(const Graph& graph, const std::string& model) {
  namespace fs = std::filesystem;
  const fs::path path(model);
  std::error_code error;
  const bool folder = fs::is_directory(path, error);
  GuessInput input{graph, (folder ? path : path.parent_path()).string(), {}};
  std::string body;
  for (auto* guess : {&GuessText, &GuessStrings, &GuessImage, &GuessAudio}) {
    body = guess(input);
    if (!body.empty()) break;
  }
  if (body.empty()) return NoKind(graph, input.reasons);
  std::string text =
      StrCat("# Written by `tern pipeline init`. docs/guide/pipelines.md describes this file.\n",
             folder ? "" : StrCat("model: ", path.filename().string(), "\n"), body);
  const std::string file = (fs::path(input.folder) / "pipeline.yaml").string();
  const Status checked = Check(text, graph, file);
  if (!checked.ok()) return NoKind(graph, {StrCat("the guessed pipeline does not fit: ", checked.message())});
  TERN_ASSIGN(const Spec spec, ParseSpec(text, file));
  text += OtherOutputs(spec, graph);
  return text;
}

}  // namespace tern::pipeline

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
  const Status checked = Check(text, graph, (fs::path(input.folder) / "pipeline.yaml").string());
  if (!checked.ok()) return NoKind(graph, {StrCat("the guessed pipeline does not fit: ", checked.message())});
  return text;
}

}  // namespace tern::pipeline

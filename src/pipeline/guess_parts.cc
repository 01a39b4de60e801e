#include "pipeline/guess_parts.h"

#include <algorithm>
#include <filesystem>

namespace tern::pipeline {
namespace {

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return text;
}

bool EndsInSoftmax(const Value& value) {
  const Node* node = value.producer;
  return node && (node->op->name == "Softmax" ||
                  (node->op->name == "Unary" && node->attrs.Text("kind") == "sigmoid"));
}

bool IsTokens(const Value& value) {
  return value.type.tensor() && (value.type.dtype == DType::kI64 || value.type.dtype == DType::kI32) &&
         value.type.shape.rank() == 2;
}

}  // namespace

std::string GuessInput::FindFile(const std::vector<std::string>& names) const {
  std::error_code error;
  for (const std::string& name : names)
    if (std::filesystem::is_regular_file(std::filesystem::path(folder) / name, error)) return name;
  return {};
}

bool IsFloatTensor(const Value& value, int rank) {
  return value.type.tensor() && IsFloat(value.type.dtype) && value.type.shape.rank() == rank;
}

bool NameContains(const Value& value, std::initializer_list<std::string_view> parts) {
  const std::string name = Lower(value.name);
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return name.find(part) != std::string::npos; });
}

std::string Quoted(const std::string& name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string ClassSteps(const Value& scores) {
  std::string out = StrCat("    - tensor: ", Quoted(scores.name), "\n");
  const bool done = EndsInSoftmax(scores);
  if (!done) out += "    - softmax               # guessed: the model's last op is no softmax\n";
  const Shape& shape = scores.type.shape;
  const bool few = shape.rank() > 1 && shape[1].known() && shape[1].value() >= 1 && shape[1].value() < 5;
  return out + StrCat("    - top_k: ", few ? shape[1].value() : 5, "\n");
}

std::string LabelLine(const GuessInput& input, const Value& scores) {
  const std::string file = input.FindFile({"labels.txt", "labels.json", "classes.txt", "imagenet_classes.txt",
                                           "imagenet.txt", "synset.txt", "id2label.json"});
  if (!file.empty()) return StrCat("labels: ", file, "   # found beside the model\n");
  const Shape& shape = scores.type.shape;
  const std::string count = shape.rank() > 1 && shape[1].known() ? StrCat(shape[1].value(), " ") : "";
  return StrCat("# labels: labels.txt      # the names of the ", count, "classes, one per line\n");
}

// Guesses a text encoder or classifier: outputs are vectors per token [N,tokens,size], vectors per text
// [N,size], or scores [N,classes].
std::string GuessText(GuessInput& input) {
  const auto& inputs = input.graph.inputs();
  const bool all = !inputs.empty() &&
                   std::all_of(inputs.begin(), inputs.end(), [](const Value* v) { return IsTokens(*v); });
  const bool ids = std::any_of(inputs.begin(), inputs.end(), [](const Value* v) {
    return NameContains(*v, {"ids", "token"});
  });
  if (!all || !ids) return input.No("text: needs inputs of token ids, i64[N,tokens], such as input_ids");
  const std::string file = input.FindFile({"tokenizer.json"});
  if (file.empty())
    return input.No("text: the inputs are token ids, but there is no tokenizer.json beside the model");
  std::string out =
      "# Guessed: a text model, because its inputs are token ids and tokenizer.json is beside it.\n";
  std::string steps, labels;
  for (const Value* output : input.graph.outputs()) {
    if (!steps.empty()) break;
    if (IsFloatTensor(*output, 2) && NameContains(*output, {"logits", "prob", "score"})) {
      labels = LabelLine(input, *output);
      steps = StrCat("outputs:\n  label:\n", ClassSteps(*output));
    } else if (IsFloatTensor(*output, 3)) {
      steps = StrCat("outputs:\n  vector:\n    - tensor: ", Quoted(output->name),
                     "\n    - pool: mean            # guessed; cls and max are the other kinds\n"
                     "    - l2_normalise          # so that a dot product is a cosine\n");
    } else if (IsFloatTensor(*output, 2)) {
      steps = StrCat("outputs:\n  vector:\n    - tensor: ", Quoted(output->name), "\n    - l2_normalise\n");
    }
  }
  if (steps.empty()) return input.No("text: no output is f32[N,tokens,size] or f32[N,size]");
  return StrCat(out, labels, "inputs:\n  text:\n    - tokenize: {file: ", file, "}\n", steps);
}

std::string GuessStrings(GuessInput& input) {
  const auto& inputs = input.graph.inputs();
  if (inputs.size() != 1 || !inputs[0]->type.tensor() || inputs[0]->type.dtype != DType::kString)
    return input.No("strings: needs one input of strings");
  std::string out =
      "# Guessed: a model of strings, such as a scikit-learn pipeline with a vectorizer.\n"
      "inputs:\n  text:\n    - text\noutputs:\n";
  bool any = false;
  for (const Value* output : input.graph.outputs()) {
    if (!output->type.tensor()) continue;
    any = true;
    out += StrCat("  ", Quoted(output->name), ":\n    - tensor: ", Quoted(output->name), "\n");
  }
  return any ? out : input.No("strings: no output is a tensor");
}

}  // namespace tern::pipeline

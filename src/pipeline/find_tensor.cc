#include "pipeline/find_tensor.h"

#include <algorithm>

namespace tern::pipeline {
namespace {

std::string NamesOf(const std::vector<Value*>& values) {
  std::vector<std::string> names;
  for (const Value* value : values) names.push_back(StrCat("'", value->name, "' ", value->type.ToString()));
  return Join(names, ", ");
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool IsInteger(DType dtype) { return dtype == DType::kI64 || dtype == DType::kI32; }

// Returns whether the value is a tensor of i32 or i64 whose name contains `part`.
bool IsTokens(const Value& value, std::string_view part) {
  return value.type.tensor() && IsInteger(value.type.dtype) && Contains(value.name, part);
}

}  // namespace

bool TensorFinder::Free(const Value& input) const {
  return !fed_.contains(input.name) && !spec_.constants.contains(input.name) &&
         !spec_.states.contains(input.name);
}

Result<const Value*> TensorFinder::InputNamed(int line, const std::string& name) {
  for (const Value* value : graph_.inputs())
    if (value->name == name) {
      if (!value->type.tensor())
        return InvalidArgument(PlaceOf(spec_, line), "input '", name, "' of the model is ",
                               value->type.ToString(), ", not a tensor");
      if (!fed_.insert(name).second)
        return InvalidArgument(PlaceOf(spec_, line), "input '", name, "' of the model has two sources");
      return value;
    }
  return InvalidArgument(PlaceOf(spec_, line), "the model has no input '", name, "'; its inputs are ",
                         NamesOf(graph_.inputs()));
}

Result<const Value*> TensorFinder::OutputNamed(int line, const std::string& name) {
  for (const Value* value : graph_.outputs())
    if (value->name == name) return value;
  return InvalidArgument(PlaceOf(spec_, line), "the model has no output '", name, "'; its outputs are ",
                         NamesOf(graph_.outputs()));
}

Result<const Value*> TensorFinder::Input(const InputSpec& input, BoundInput::Kind kind) {
  if (const auto* step = input.Find<TensorStep>(); step && !step->name.empty())
    return InputNamed(input.line, step->name);
  std::vector<const Value*> fitting;
  for (const Value* value : graph_.inputs()) {
    const bool strings = value->type.dtype == DType::kString;
    if (Free(*value) && value->type.tensor() && strings == (kind == BoundInput::Kind::kStrings))
      fitting.push_back(value);
  }
  if (fitting.size() == 1) return InputNamed(input.line, fitting[0]->name);
  return InvalidArgument(PlaceOf(spec_, input.line), fitting.empty() ? "no input" : "more than one input",
                         " of the model fits '", input.name,
                         "'; add the step 'tensor: NAME'; the inputs are ", NamesOf(graph_.inputs()));
}

Status TensorFinder::Tokens(const InputSpec& input, const TokenizeStep& step, BoundInput& out) {
  const auto find = [&](const std::string& given, std::string_view part, std::string& name) -> Status {
    name = given;
    for (const Value* value : graph_.inputs())
      if (name.empty() && Free(*value) && IsTokens(*value, part)) name = value->name;
    if (name.empty()) return {};
    TERN_ASSIGN(const Value* value, InputNamed(input.line, name));
    if (value->type.shape.rank() != 2 || !IsInteger(value->type.dtype))
      return InvalidArgument(PlaceOf(spec_, input.line), "input '", name, "' of the model is ",
                             value->type.ToString(), "; tokens need i64 or i32 with the dims [N,tokens]");
    return {};
  };
  TERN_TRY(find(step.mask, "mask", out.mask));
  TERN_TRY(find(step.type_ids, "type", out.type_ids));
  if (out.type_ids.empty()) TERN_TRY(find("", "segment", out.type_ids));
  TERN_TRY(find(step.ids, "ids", out.tensor));
  if (out.tensor.empty()) TERN_TRY(find("", "", out.tensor));
  if (out.tensor.empty())
    return InvalidArgument(PlaceOf(spec_, input.line), "no input of the model fits the ids of '", input.name,
                           "'; name it with tokenize: {ids: NAME}; the inputs are ",
                           NamesOf(graph_.inputs()));
  for (const Value* value : graph_.inputs())
    if (value->name == out.tensor) out.type = value->type;
  return {};
}

Result<const Value*> TensorFinder::OutputFor(const OutputSpec& output) {
  if (const auto* step = output.Find<TensorStep>()) return OutputNamed(output.line, step->name);
  std::vector<const Value*> fitting;
  for (const Value* value : graph_.outputs()) {
    const bool state = std::any_of(spec_.states.begin(), spec_.states.end(),
                                   [&](const auto& pair) { return pair.second == value->name; });
    if (!state && value->type.tensor()) fitting.push_back(value);
  }
  if (fitting.size() == 1) return fitting[0];
  return InvalidArgument(PlaceOf(spec_, output.line), fitting.empty() ? "no output" : "more than one output",
                         " of the model fits '", output.name,
                         "'; begin it with the step 'tensor: NAME'; the outputs are ",
                         NamesOf(graph_.outputs()));
}

Status TensorFinder::Boxes(const BoxesStep& step, BoundOutput& out) {
  std::string boxes = step.boxes, scores = step.scores;
  for (const Value* value : graph_.outputs()) {
    if (boxes.empty() && Contains(value->name, "box")) boxes = value->name;
    if (scores.empty() && step.boxes.empty() && Contains(value->name, "score")) scores = value->name;
  }
  if (boxes.empty() && graph_.outputs().size() == 1) boxes = graph_.outputs()[0]->name;
  if (boxes.empty())
    return InvalidArgument(PlaceOf(spec_, out.spec.line),
                           "no output fits the boxes; name it with boxes: {boxes: NAME, scores: NAME}; the "
                           "outputs are ",
                           NamesOf(graph_.outputs()));
  out.tensor = boxes;
  out.scores = scores;
  TERN_TRY(OutputNamed(out.spec.line, boxes).TakeStatus());
  return scores.empty() ? Status() : OutputNamed(out.spec.line, scores).TakeStatus();
}

Result<BoundOutput> TensorFinder::Output(const OutputSpec& output) {
  BoundOutput out;
  out.spec = output;
  if (const auto* boxes = output.Find<BoxesStep>()) {
    TERN_TRY(Boxes(*boxes, out));
    return out;
  }
  TERN_ASSIGN(const Value* value, OutputFor(output));
  out.tensor = value->name;
  if (!value->type.tensor())
    return InvalidArgument(PlaceOf(spec_, output.line), "output '", value->name, "' of the model is ",
                           value->type.ToString(), ", not a tensor");
  const Shape& shape = value->type.shape;
  if (shape.rank() > 0 && shape[-1].known()) out.classes = shape[-1].value();
  const auto* pool = output.Find<PoolStep>();
  if (!pool || pool->kind == "cls") return out;
  out.mask = pool->mask;
  for (const Value* input : graph_.inputs())
    if (out.mask.empty() && IsTokens(*input, "mask")) out.mask = input->name;
  return out;
}

}  // namespace tern::pipeline

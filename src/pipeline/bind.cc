#include <algorithm>
#include <set>

#include "data/post/labels.h"
#include "pipeline/binding.h"
#include "pipeline/find_tensor.h"

namespace tern::pipeline {
namespace {

// Decides layout and channels of a picture's tensor.
Status BindImage(const Spec& spec, BoundInput& input) {
  const Shape& shape = input.type.shape;
  const std::string place = PlaceOf(spec, input.spec.line);
  if (shape.rank() != 4)
    return InvalidArgument(place, "input '", input.tensor, "' of the model is ", input.type.ToString(),
                           "; a picture needs 4 dims, [N,C,H,W] or [N,H,W,C]");
  const auto* tensor = input.spec.Find<TensorStep>();
  const std::string layout = tensor ? tensor->layout : "auto";
  const auto channels = [&](int axis) {
    return shape[axis].known() && (shape[axis].value() == 1 || shape[axis].value() == 3);
  };
  if (layout == "auto" && !channels(1) && !channels(3))
    return InvalidArgument(place, "the layout of input '", input.tensor, "', ", input.type.ToString(),
                           ", is not clear; write tensor: {name: ", input.tensor, ", layout: NCHW}");
  ImageBinding& image = input.image;
  image.nchw = layout == "auto" ? channels(1) : layout == "NCHW";
  const Dim& c = shape[image.nchw ? 1 : 3];
  const std::string& wanted = input.spec.Find<DecodeImageStep>()->channels;
  image.bgr = wanted == "bgr";
  image.channels = wanted == "gray" ? 1 : wanted == "auto" && c.known() ? static_cast<int>(c.value()) : 3;
  if (image.channels != 1 && image.channels != 3)
    return InvalidArgument(place, "input '", input.tensor, "' has ", image.channels,
                           " channels; pictures have 1 or 3");
  if (c.known() && c.value() != image.channels)
    return InvalidArgument(place, "input '", input.tensor, "' has ", c.value(), " channels, but channels is ",
                           wanted);
  const auto size = [](const Dim& dim) { return dim.known() ? dim.value() : -1; };
  image.height = size(shape[image.nchw ? 2 : 1]);
  image.width = size(shape[image.nchw ? 3 : 2]);
  if (input.type.dtype == DType::kString)
    return InvalidArgument(place, "input '", input.tensor, "' of the model has strings, not pixels");
  return {};
}

Status CheckNormalise(const Spec& spec, const BoundInput& input) {
  const auto* normalise = input.spec.Find<NormaliseStep>();
  if (!normalise) return {};
  for (const auto* values : {&normalise->mean, &normalise->std})
    if (values->size() > 1 && values->size() != static_cast<size_t>(input.image.channels))
      return InvalidArgument(PlaceOf(spec, input.spec.line), "normalise has ", values->size(),
                             " values, but the picture has ", input.image.channels, " channels");
  return {};
}

// Computes the picture's size after all steps, and compares it with the size of the model's input.
Status CheckSize(const Spec& spec, const BoundInput& input) {
  int width = 0, height = 0;  // 0 means that it depends on the picture
  bool resized = false;
  for (const InputStep& step : input.spec.steps) {
    if (const auto* resize = std::get_if<ResizeStep>(&step.options))
      width = resize->height ? resize->width : 0, height = resize->height;
    else if (const auto* fit = std::get_if<FitStep>(&step.options))
      width = fit->width, height = fit->height;
    else if (const auto* crop = std::get_if<CropStep>(&step.options))
      width = crop->width, height = crop->height;
    else
      continue;
    resized = true;
  }
  const ImageBinding& image = input.image;
  const bool fixed = image.width >= 0 && image.height >= 0;
  if (!resized || !fixed || (width == image.width && height == image.height)) return {};
  const std::string size = width ? StrCat(width, "x", height) : "a size that depends on the picture";
  return InvalidArgument(PlaceOf(spec, input.spec.line), "the steps of '", input.spec.name, "' give ", size,
                         ", but input '", input.tensor, "' of the model is ", image.width, "x", image.height,
                         " (width x height)");
}

Result<BoundInput> BindInput(const Spec& spec, const InputSpec& input, TensorFinder& finder) {
  BoundInput out;
  out.spec = input;
  if (input.Find<DecodeImageStep>()) out.kind = BoundInput::Kind::kImage;
  if (input.Find<TextStep>()) out.kind = BoundInput::Kind::kStrings;
  if (input.Find<DecodeAudioStep>()) out.kind = BoundInput::Kind::kAudio;
  if (const auto* tokenize = input.Find<TokenizeStep>()) {
    out.kind = BoundInput::Kind::kTokens;
    TERN_TRY(finder.Tokens(input, *tokenize, out));
    return out;
  }
  TERN_ASSIGN(const Value* value, finder.Input(input, out.kind));
  out.tensor = value->name;
  out.type = value->type;
  if (out.kind != BoundInput::Kind::kImage) return out;
  TERN_TRY(BindImage(spec, out));
  TERN_TRY(CheckNormalise(spec, out));
  TERN_TRY(CheckSize(spec, out));
  return out;
}

Status CheckOthers(const Spec& spec, const Graph& graph, const std::set<std::string>& fed) {
  std::set<std::string> names;
  for (const Value* input : graph.inputs()) {
    names.insert(input->name);
    if (!fed.contains(input->name) && !spec.constants.contains(input->name) &&
        !spec.states.contains(input->name))
      return InvalidArgument(spec.file, ": input '", input->name, "' of the model, ", input->type.ToString(),
                             ", has no source; add it to 'inputs', 'constants' or 'states'");
  }
  for (const auto& [name, value] : spec.constants)
    if (!names.contains(name) || fed.contains(name))
      return InvalidArgument(spec.file, ": constant '", name,
                             names.contains(name) ? "' also has a source in 'inputs'; remove one of the two"
                                                  : "' is not an input of the model");
  for (const auto& [name, output] : spec.states)
    if (!names.contains(name))
      return InvalidArgument(spec.file, ": state '", name, "' is not an input of the model");
  return {};
}

// Returns the number of rows per run that the inputs allow. 0 means any number.
Result<int64_t> BatchOf(const Spec& spec, const Graph& graph) {
  std::optional<int64_t> batch;
  for (const Value* input : graph.inputs()) {
    if (spec.constants.contains(input->name) || spec.states.contains(input->name)) continue;
    const Shape& shape = input->type.shape;
    const int64_t own = shape.rank() < 1 ? 1 : shape[0].known() ? shape[0].value() : 0;
    if (batch && *batch != own)
      return InvalidArgument(spec.file,
                             ": the first dims of the model's inputs differ, so there is no batch");
    batch = own;
  }
  return batch.value_or(1);
}

Status BindStates(const Graph& graph, Binding& out) {
  for (const Value* input : graph.inputs()) {
    const auto found = out.spec.states.find(input->name);
    if (found == out.spec.states.end()) continue;
    if (!input->type.tensor() || !input->type.shape.ranked || input->type.dtype == DType::kString)
      return InvalidArgument(out.spec.file, ": state '", input->name, "' is ", input->type.ToString(),
                             "; a state is a tensor of numbers with known dims");
    Dims dims;
    for (const Dim& dim : input->type.shape.dims) dims.push_back(dim.known() ? dim.value() : 1);
    if (!CheckedCount(dims, input->type.dtype))
      return InvalidArgument(out.spec.file, ": state '", input->name, "' is too large");
    out.states.push_back({input->name, found->second, input->type.dtype, std::move(dims)});
  }
  if (!out.states.empty()) out.batch = 1;
  return {};
}

}  // namespace

std::string PlaceOf(const Spec& spec, int line) { return StrCat(spec.file, ", line ", line, ": "); }

Result<Binding> Bind(const Spec& spec, const Graph& graph) {
  Binding out;
  out.spec = spec;
  TensorFinder finder(spec, graph);
  for (const InputSpec& input : spec.inputs) {
    TERN_ASSIGN(BoundInput bound, BindInput(spec, input, finder));
    out.frames |= input.Find<FramesStep>() != nullptr;
    out.inputs.push_back(std::move(bound));
  }
  for (const OutputSpec& output : spec.outputs) {
    TERN_ASSIGN(BoundOutput bound, finder.Output(output));
    out.outputs.push_back(std::move(bound));
  }
  TERN_TRY(CheckOthers(spec, graph, finder.fed()));
  TERN_ASSIGN(out.batch, BatchOf(spec, graph));
  TERN_TRY(BindStates(graph, out));
  out.labels = spec.label_list;
  if (!spec.labels.empty()) {
    TERN_ASSIGN(out.labels, data::ReadLabels(spec.PathOf(spec.labels)));
  }
  return out;
}

}  // namespace tern::pipeline

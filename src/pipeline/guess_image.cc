// Guesses pipelines of pictures: classifiers, detectors, segmentation.
#include <cmath>

#include "pipeline/guess_parts.h"

namespace tern::pipeline {
namespace {

// The model's input of pictures.
struct Picture {
  const Value* value = nullptr;
  bool nchw = true;
  int64_t channels = 3, width = 0, height = 0;  // 0 means open
};

bool IsChannels(const Dim& dim) { return dim.known() && (dim.value() == 1 || dim.value() == 3); }
int64_t SizeOf(const Dim& dim) { return dim.known() ? dim.value() : 0; }

bool FindPicture(const Graph& graph, Picture& out) {
  if (graph.inputs().size() != 1) return false;
  const Value& value = *graph.inputs()[0];
  const Shape& shape = value.type.shape;
  if (!value.type.tensor() || shape.rank() != 4 || value.type.dtype == DType::kString) return false;
  if (!IsChannels(shape[1]) && !IsChannels(shape[3])) return false;
  out.value = &value;
  out.nchw = IsChannels(shape[1]);
  out.channels = SizeOf(shape[out.nchw ? 1 : 3]);
  out.height = SizeOf(shape[out.nchw ? 2 : 1]);
  out.width = SizeOf(shape[out.nchw ? 3 : 2]);
  return true;
}

// Returns whether the model itself subtracts, divides or multiplies its pixels by constants.
bool NormalisesItself(const Value& input) {
  for (const auto& [node, index] : input.uses)
    if (node->op->name == "Binary" || node->op->name == "BatchNorm" || node->op->name == "Scale") return true;
  return false;
}

std::string SizeText(const Picture& picture) { return StrCat(picture.width, "x", picture.height); }

std::string TensorLine(const Picture& picture) {
  return StrCat("    - tensor: {name: ", Quoted(picture.value->name),
                ", layout: ", picture.nchw ? "NCHW" : "NHWC", "}\n");
}

std::string NormaliseLine(const Picture& picture, bool imagenet) {
  if (picture.value->type.dtype == DType::kU8) return "";
  if (NormalisesItself(*picture.value))
    return "    # No normalise: the model begins with arithmetic on its input.\n";
  if (picture.channels == 3 && imagenet)
    return "    - normalise: {scale: 1/255, mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225]}  # guessed: "
           "the values of ImageNet\n";
  return "    - normalise: {scale: 1/255}   # guessed; compare with how the model was trained\n";
}

std::string Inputs(const Picture& picture, const std::string& size, bool imagenet) {
  return StrCat("inputs:\n  image:\n    - decode_image: {channels: ", picture.channels == 1 ? "gray" : "rgb",
                "}\n", size, NormaliseLine(picture, imagenet), TensorLine(picture));
}

std::string Classifier(const GuessInput& input, const Picture& picture, const Value& scores) {
  std::string size;
  const int64_t side = picture.width ? picture.width : 224;
  if (picture.channels == 3 && side >= 96 && (!picture.width || picture.width == picture.height))
    size = StrCat("    - resize: ", std::lround(static_cast<double>(side) * 256 / 224),
                  "           # guessed: the shorter side\n    - crop: ", side, "\n");
  else if (picture.width && picture.height)
    size = StrCat("    - resize: ", SizeText(picture), "\n");
  return StrCat("# Guessed: an image classifier, because output '", scores.name, "' is ",
                scores.type.ToString(), ".\n", LabelLine(input, scores),
                Inputs(picture, size, scores.type.shape[1].known() && side >= 96), "outputs:\n  label:\n",
                ClassSteps(scores));
}

std::string Detector(const GuessInput& input, const Picture& picture, const Value& boxes,
                     const Value& scores) {
  const bool two = scores.type.shape[-1].known() && scores.type.shape[-1].value() >= 2;
  const std::string size = picture.width ? StrCat("    - resize: ", SizeText(picture), "\n") : "";
  return StrCat("# Guessed: a detector, because '", boxes.name, "' is ", boxes.type.ToString(), " and '",
                scores.name, "' is ", scores.type.ToString(), ".\n", LabelLine(input, scores),
                Inputs(picture, size, false),
                "outputs:\n  objects:\n    - boxes:\n        boxes: ", Quoted(boxes.name),
                "\n        scores: ", Quoted(scores.name),
                "\n        format: xyxy        # guessed; yxyx, xywh and cxcywh are the others\n"
                "        unit: relative      # guessed; pixels is the other\n",
                two ? "        background: 0       # guessed: class 0 is no object\n" : "",
                "        score: 0.5\n        iou: 0.3\n");
}

std::string Yolo(const GuessInput& input, const Picture& picture, const Value& output) {
  const std::string size =
      picture.width ? StrCat("    - fit: {size: ", SizeText(picture), ", fill: 114}\n") : "";
  return StrCat("# Guessed: a YOLO detector, because the only output is ", output.type.ToString(), ".\n",
                LabelLine(input, output), Inputs(picture, size, false),
                "outputs:\n  objects:\n    - boxes:\n        boxes: ", Quoted(output.name),
                "\n        format: cxcywh\n        unit: pixels\n"
                "        objectness: false   # guessed; true for YOLO v5 to v7\n"
                "        score: 0.25\n        iou: 0.45\n");
}

std::string Segmentation(const GuessInput& input, const Picture& picture, const Value& output) {
  const std::string size = picture.width ? StrCat("    - resize: ", SizeText(picture), "\n") : "";
  return StrCat("# Guessed: a segmentation, because output '", output.name, "' is ", output.type.ToString(),
                ", one score per class and pixel.\n", LabelLine(input, output), Inputs(picture, size, true),
                "outputs:\n  classes:\n    - tensor: ", Quoted(output.name), "\n    - segmentation\n");
}

const Value* FindBoxes(const Graph& graph) {
  for (const Value* output : graph.outputs())
    if (IsFloatTensor(*output, 3) && output->type.shape[-1].known() && output->type.shape[-1].value() == 4)
      return output;
  return nullptr;
}

}  // namespace

std::string GuessImage(GuessInput& input) {
  Picture picture;
  if (!FindPicture(input.graph, picture))
    return input.No("image: needs one input of 4 dims with 1 or 3 channels, [N,C,H,W] or [N,H,W,C]");
  const auto& outputs = input.graph.outputs();
  if (const Value* boxes = FindBoxes(input.graph))
    for (const Value* scores : outputs)
      if (scores != boxes && IsFloatTensor(*scores, 3)) return Detector(input, picture, *boxes, *scores);
  for (const Value* output : outputs)
    if (IsFloatTensor(*output, 2)) return Classifier(input, picture, *output);
  if (outputs.size() == 1 && IsFloatTensor(*outputs[0], 3)) return Yolo(input, picture, *outputs[0]);
  for (const Value* output : outputs)
    if (IsFloatTensor(*output, 4) && output->type.shape[1].known() && output->type.shape[1].value() > 3)
      return Segmentation(input, picture, *output);
  return input.No(
      "image: the input is a picture, but no output is f32[N,classes], boxes [N,B,4] with scores [N,B,C], "
      "[N,4+C,B], or [N,C,H,W]");
}

}  // namespace tern::pipeline

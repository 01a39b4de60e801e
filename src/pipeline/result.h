// Results of a pipeline: labels, boxes, text, spans of time, vectors.
#pragma once
#include <string>
#include <vector>

#include "core/tensor.h"

namespace tern::data {
class JsonWriter;
}

namespace tern::pipeline {

struct Label {
  int64_t index = 0;
  double score = 0;
  std::string label;  // "" if there is no file of labels
};

// A box, in pixels of the original picture.
struct LabelledBox {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0, score = 0;
  int64_t index = 0;
  std::string label;
};

// A span of a sound.
struct Span {
  double start = 0, end = 0;  // seconds
  double score = 0;           // the mean of its frames
};

// One result of one picture, sound or text.
struct ItemResult {
  enum class Kind { kTensor, kLabels, kBoxes, kText, kSpans, kSegmentation } kind = Kind::kTensor;
  std::string name;
  Tensor tensor;  // kTensor; kSegmentation: the class of each pixel; kSpans: the score of each frame
  std::vector<Label> labels;  // kLabels; kSegmentation: the share of each class
  std::vector<LabelledBox> boxes;
  std::vector<Span> spans;
  std::string text;
  bool open = false;  // kLabels: the number of labels depends on the scores
};

// The results of one picture, sound or text, one per output of the pipeline.
using Item = std::vector<ItemResult>;

// Writes {"name": value, …}. Labels, boxes and spans are lists of objects, vectors are lists of numbers. A
// segmentation is an object with the picture's size and the share of each class.
void WriteItem(const Item& item, data::JsonWriter& json);
// Writes the value of one result.
void WriteResult(const ItemResult& result, data::JsonWriter& json);

// Returns lines for a terminal, such as "  0.9942  7  seven".
std::string Describe(const ItemResult& result);

}  // namespace tern::pipeline

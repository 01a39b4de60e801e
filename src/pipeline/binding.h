// A pipeline whose names and sizes are checked against a model's inputs and outputs.
#pragma once
#include <memory>
#include <optional>

#include "ir/graph.h"
#include "pipeline/spec.h"

namespace tern::pipeline {

// How pictures are converted to the u8[N,H,W,C] input that AddGraphSteps adds to the model.
struct ImageBinding {
  int channels = 3;
  bool bgr = false;
  bool nchw = true;                 // of the model's own input
  int64_t width = -1, height = -1;  // of the model's own input; -1 means any
};

struct BoundInput {
  enum class Kind { kImage, kTokens, kStrings, kAudio } kind = Kind::kImage;
  InputSpec spec;
  std::string tensor;  // the model's input; for tokens, that of the ids
  Type type;           // of the model's own input
  ImageBinding image;
  std::string mask, type_ids;  // inputs for tokens; "" means that the model has none
};

struct BoundOutput {
  OutputSpec spec;
  std::string tensor;    // the model's output
  std::string scores;    // boxes: the model's output with the scores; "" means in `tensor`
  std::string mask;      // pool: the model's input with the mask; "" means none
  int64_t classes = -1;  // the size of the last axis; -1 means unknown
  // The outputs of the graph after AddGraphSteps.
  std::string result, result_scores;
};

// A value that is carried from frame to frame. It starts as zeros.
struct BoundState {
  std::string input, output;
  DType dtype = DType::kInvalid;
  Dims dims;  // an open dim is 1
};

struct Binding {
  Spec spec;
  std::vector<BoundInput> inputs;
  std::vector<BoundOutput> outputs;
  std::vector<BoundState> states;
  std::vector<std::string> labels;
  bool frames = false;  // an input is cut into frames
  int64_t batch = 1;    // rows per run of the model; 0 means any number
};

// Checks the pipeline against the graph. Reads the file of labels.
Result<Binding> Bind(const Spec& spec, const Graph& graph);

// Adds the steps that are ops to the graph, so that they are optimized with the model: conversion of pixels,
// normalise, softmax, sigmoid, pool, l2_normalise, and the first operation of segmentation, ctc and
// decode_text (arg max or log softmax). The model's input of pictures becomes u8[N,H,W,C]. Removes outputs
// that the pipeline does not read. Inputs in Spec::constants become constants of the graph. Sets
// BoundOutput::result and result_scores.
Status AddGraphSteps(Binding& binding, Graph& graph);

// For messages: "FILE, line N: ".
std::string PlaceOf(const Spec& spec, int line);

}  // namespace tern::pipeline

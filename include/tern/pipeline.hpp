// Pipelines, which take a picture, a sound or a text, and return labels, boxes, text or vectors.
//
//   auto pipeline = tern::Pipeline::Create(tern::Config("digits.onnx"));  // with pipeline.yaml beside it
//   if (!pipeline.ok()) return Fail(pipeline.status().message());
//   auto answer = pipeline->Run({"image", png_bytes});
//   if (answer.ok()) for (const tern::Label& l : answer->Labels("digit")) Show(l.label, l.score);
// A pipeline.yaml describes the steps; docs/guide/pipelines.md is its specification. Link with
// Tern::tern_pipeline (CMake), or with -ltern_pipeline and `pkg-config --libs tern`.
#pragma once
#include <string>
#include <vector>

#include "tern/tern.hpp"

namespace tern {
TERN_API_NAMESPACE {
  // The bytes of one input. Each item is a file (JPEG, PNG, WAV, …) or a text in UTF-8.
  struct RawInput {
    RawInput(std::string input, std::string bytes) : name(std::move(input)), items{std::move(bytes)} {}
    RawInput(std::string input, std::vector<std::string> batch)
        : name(std::move(input)), items(std::move(batch)) {}
    std::string name;                // "" means the only input of the pipeline
    std::vector<std::string> items;  // all inputs of a call have the same number of items
  };

  struct Label {
    int64_t index = 0;
    double score = 0;
    std::string label;  // "" if the pipeline has no labels
  };

  // A box in pixels of the original picture.
  struct Box {
    float x0 = 0, y0 = 0, x1 = 0, y1 = 0, score = 0;
    int64_t index = 0;
    std::string label;
  };

  // A span of a sound, in seconds.
  struct Span {
    double start = 0, end = 0, score = 0;
  };

  // The results of one item. If an output does not exist or is of another kind, its function returns an empty
  // list, text or value.
  class Answer {
   public:
    std::vector<std::string> Names() const;  // the outputs of the pipeline
    std::vector<Label> Labels(const std::string& output) const;
    std::vector<Box> Boxes(const std::string& output) const;
    std::vector<Span> Spans(const std::string& output) const;
    std::string Text(const std::string& output) const;
    // Returns a vector, the class of each pixel of a segmentation, or the score of each frame of a sound.
    Value Tensor(const std::string& output) const;
    std::string Json() const;  // {"digit": [{"label": "7", "index": 7, "score": 0.99}, …]}

   private:
    friend class Pipeline;
    std::shared_ptr<const void> item_;
  };

  // Copies are cheap and share the model. Thread-safe: any number of threads may call Run at the same time.
  class Pipeline {
   public:
    // Loads config.model_path(), and its pipeline: `file`, or the pipeline.yaml beside the model if `file` is
    // empty. The model may be a folder with a pipeline.yaml that names the model file. Errors of the
    // pipeline name its file and line.
    static Result<Pipeline> Create(const Config& config, const std::string& file = "");

    Result<Answer> Run(const RawInput& input) const;  // the only item of the only input
    // Returns one answer per item. Items are batched if the model takes batches.
    Result<std::vector<Answer>> RunBatch(const std::vector<RawInput>& inputs,
                                         const RunOptions& options = {}) const;
    std::vector<std::string> InputNames() const;
    std::vector<std::string> OutputNames() const;

   private:
    struct Impl;
    explicit Pipeline(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
    std::shared_ptr<const Impl> impl_;
  };
}  // TERN_API_NAMESPACE
}  // namespace tern

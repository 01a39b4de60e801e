// The work of one request: reads its items, makes the model's inputs, takes the model's outputs, and makes
// results. The caller runs the model, so that a program can use a session and a server can use its scheduler.
#pragma once
#include "pipeline/finish.h"

namespace tern::pipeline {

// The steps of a pipeline, without a session that runs the model. Thread-safe.
class Steps {
 public:
  // Adds the steps that are ops to the graph.
  static Result<std::shared_ptr<const Steps>> Create(const Spec& spec, Graph& graph);

  const Binding& binding() const { return binding_; }
  const std::vector<std::shared_ptr<const InputReader>>& readers() const { return readers_; }
  const std::vector<std::shared_ptr<const OutputMaker>>& makers() const { return makers_; }

 private:
  explicit Steps(Binding binding) : binding_(std::move(binding)) {}
  Binding binding_;
  std::vector<std::shared_ptr<const InputReader>> readers_;
  std::vector<std::shared_ptr<const OutputMaker>> makers_;
};

// The bytes that a client sends for one input: one string per item.
struct RawInput {
  std::string name;  // "" means the only input of the pipeline
  std::vector<std::string_view> items;
};

// Not thread-safe.
class Work {
 public:
  // `most` limits the number of rows of one run. Reads all items, which takes most of the time of a request.
  // Start and Finish return kCancelled if `stop` fires between two items. The flag that `stop` points to must
  // outlive the Work.
  static Result<Work> Start(std::shared_ptr<const Steps> steps, const std::vector<RawInput>& inputs,
                            int64_t most, const Stop& stop = {});

  // Returns the inputs of the next run of the model. They are empty if no run is left.
  Result<NamedTensors> Next();
  // Takes the outputs of the run whose inputs Next returned last.
  Status Take(const NamedTensors& outputs);
  // Returns the results of all items. Call it after the last run.
  Result<std::vector<Item>> Finish() const;
  size_t items() const { return items_.size(); }

 private:
  struct RowPlace {
    size_t item = 0, row = 0;
  };
  Work(std::shared_ptr<const Steps> steps, const Stop& stop) : steps_(std::move(steps)), stop_(stop) {}
  Status Collect(const std::vector<RawInput>& inputs);
  Status Plan(int64_t most);
  Status TakeStates(const NamedTensors& outputs);

  std::shared_ptr<const Steps> steps_;
  Stop stop_;
  std::vector<ItemRows> items_;
  std::vector<std::vector<NamedTensors>> made_;  // [item][row]: the outputs
  std::vector<std::vector<RowPlace>> runs_;
  size_t next_ = 0;     // the run that Next returns
  int64_t padded_ = 0;  // rows that fill the batch of a model with a fixed batch size
  NamedTensors states_;
};

}  // namespace tern::pipeline

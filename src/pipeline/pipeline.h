// A model with its pipeline: bytes in, results out.
#pragma once
#include <mutex>

#include "base/stop.h"
#include "load/load.h"
#include "pipeline/work.h"
#include "runtime/exec/session.h"

namespace tern::pipeline {

struct PipelineOptions {
  SessionOptions session{.level = Level::kLayout};
  int64_t most = 32;  // rows of one run of the model, if the model takes batches of any size
};

// Immutable. Thread-safe: each Run takes a session from a pool.
class Pipeline {
 public:
  // Loads a model and its pipeline. An empty `file` means the pipeline.yaml beside the model. Fails if there
  // is none.
  static Result<std::shared_ptr<Pipeline>> Load(const std::string& model, const std::string& file,
                                                const PipelineOptions& options);
  // Creates a pipeline for a graph that is already loaded.
  static Result<std::shared_ptr<Pipeline>> Create(std::unique_ptr<Graph> graph, const Spec& spec,
                                                  const PipelineOptions& options);

  // Returns one Item per item of the inputs. Checks `stop` between items and between steps of the model.
  Result<std::vector<Item>> Run(const std::vector<RawInput>& inputs, const Stop& stop = {}) const;

  const Binding& binding() const { return steps_->binding(); }
  const Graph& graph() const { return first_->graph(); }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  class Borrowed;
  Pipeline(std::shared_ptr<const Steps> steps, std::unique_ptr<Session> session, int64_t most)
      : steps_(std::move(steps)), first_(std::move(session)), most_(most) {}
  Result<NamedTensors> RunOnce(Session& session, const NamedTensors& inputs) const;

  const std::shared_ptr<const Steps> steps_;
  const std::unique_ptr<Session> first_;  // the source of clones; it never runs
  const int64_t most_;
  std::vector<std::string> warnings_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Session>> idle_;
};

// A pipeline and the path of its model.
struct Source {
  Spec spec;
  std::string model;
};
// Reads a pipeline. An empty `file` means the pipeline.yaml beside the model. If `model` is a folder, the
// pipeline may name the model file in it.
Result<Source> FindSource(const std::string& model, const std::string& file);

// Writes {"results": [{…}, …]}, one object per item.
std::string ToJson(const std::vector<Item>& items);

}  // namespace tern::pipeline

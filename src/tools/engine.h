// Loads models and runs them: the one place where the commands meet the runtime.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "core/datum.h"
#include "ir/graph.h"
#include "runtime/exec/session.h"
#include "tools/engine_flags.h"

namespace tern::tools {

// A model of any format that load::Formats() can read. What an importer ignores is said on stderr.
// threads: how many may copy weights; 0: as many as the machine has.
Result<std::unique_ptr<Graph>> LoadModel(const std::string& path, int64_t threads = 0);

class Engine {
 public:
  static Result<Engine> Make(std::unique_ptr<Graph> graph, const SessionOptions& options);

  const Graph& graph() const { return session_->graph(); }
  // One datum per graph input; one per output.
  Result<DatumList> Run(const DatumList& inputs) { return session_->Run(inputs); }
  // The same in two steps, for measuring: inputs are bound once, results stay inside.
  Status Bind(const DatumList& inputs);
  Status RunBound() { return session_->Run(); }
  void SetObserver(RunObserver* observer) { session_->SetObserver(observer); }
  // Chooses kernels for the inputs bound, without running them.
  Status Prepare() { return session_->Prepare(); }
  MemoryReport Memory() const { return session_->Memory(); }
  Packs PackedWeights() const { return session_->PackedWeights(); }
  // Which kernel runs each node of the model's own graph: its name, "reference" for the slow evaluator,
  // "view" or "folded" where nothing is left to run. Empty before the first plan.
  std::map<const Node*, std::string> Kernels() const;
  std::vector<Choice> Choices() const { return session_->Choices(); }
  TuneReport Tuning() const { return session_->Tuning(); }
  void Warn() const;  // says on stderr what Session::Warnings() has to say

 private:
  explicit Engine(std::unique_ptr<Session> session) : session_(std::move(session)) {}
  std::unique_ptr<Session> session_;
};

}  // namespace tern::tools

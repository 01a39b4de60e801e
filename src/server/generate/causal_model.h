// A language model that predicts the next token, and keeps keys and values of earlier tokens as states.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "runtime/exec/session.h"

namespace tern::server {

struct CausalOptions {
  int64_t context = 0;  // the largest number of tokens of a sequence, with the prompt
  int64_t chunk = 32;   // tokens of a prompt that one run reads
  int64_t rows = 8;     // sequences that run at the same time
  int threads = 0;      // per run; 0: one per core
  Precision precision = Precision::kF32;
};

// The indices of the inputs that are not states, and of the scores. -1: the model has none.
struct CausalPorts {
  int ids = -1, mask = -1, positions = -1;
  int scores = -1;
  int positions_of_scores = -1;  // the tokens of a run after which scores are computed; see SelectScores
};

// Immutable, except for the plans that its sessions share. Thread-safe.
class CausalModel {
 public:
  // Returns whether the graph has growing states. FindStates (ir/state.h) recognizes them by the names of
  // inputs and outputs. A model without such states cannot generate.
  static bool HasStates(const Graph& graph);
  // Fails with kUnsupported if the model has other inputs than token ids, mask, positions and states.
  static Result<std::shared_ptr<const CausalModel>> Create(std::unique_ptr<Graph> graph,
                                                           const CausalOptions& options);

  const CausalOptions& options() const { return options_; }
  const CausalPorts& ports() const { return ports_; }
  const std::vector<std::string>& states() const { return states_; }  // names of the inputs
  int batch_axis() const { return batch_axis_; }                      // of all states
  // True if sequences of different lengths can run as rows of one batch, with the same results as alone.
  bool batches() const { return why_alone_.empty(); }
  const std::string& why_alone() const { return why_alone_; }
  // The numbers of tokens of a prompt that one run reads, in ascending order. The last one is
  // options().chunk.
  std::vector<int64_t> widths() const;
  size_t bytes_per_token() const { return bytes_per_token_; }  // of all states, for one row
  int64_t vocabulary() const { return vocabulary_; }
  std::unique_ptr<Session> NewSession() const { return session_->Clone(); }
  DType InputType(int input) const;
  // Values for the metrics: plans, packed bytes.
  MemoryReport Memory() const { return session_->Memory(); }
  int plans() const { return session_->PlansMade(); }
  std::vector<std::string> Warnings() const { return session_->Warnings(); }

 private:
  CausalModel() = default;
  Status FindPorts();
  Status FindPort(int input);
  Status FindStates();
  Status TryOneToken();
  // Compares rows of a batch with sequences that run alone. Compiles the plans of all batch sizes.
  Status TryBatches();

  CausalOptions options_;
  std::unique_ptr<Session> session_;
  CausalPorts ports_;
  std::vector<std::string> states_;
  int batch_axis_ = -1;
  std::string why_alone_;
  size_t bytes_per_token_ = 0;
  int64_t vocabulary_ = 0;
};

}  // namespace tern::server

// Models and instances of the built-in engine.
#pragma once
#include <memory>
#include <string>

#include "runtime/exec/session.h"
#include "server/backend/host.h"

namespace tern::server {

// A loaded model. Instances are clones of its session, so they share plans and weights.
struct EngineModel {
  std::unique_ptr<Session> session;
  std::string items_mixed;  // why the items of a batch may influence each other; empty: they do not, or it is
                            // not known

  static Result<std::unique_ptr<EngineModel>> Load(const TernModelInfo& info);
  static Result<std::unique_ptr<EngineModel>> Create(const TernModelInfo& info, std::unique_ptr<Graph> graph);
  Status Describe(const TernModelInfo& info, TernDescription* to) const;
};

// Runs batches, one at a time.
class EngineInstance {
 public:
  explicit EngineInstance(const EngineModel& model) : session_(model.session->Clone()) {}
  Status Run(const TernBatch& batch, TernOutputs* outputs);

 private:
  Status BindInputs(const TernBatch& batch);
  Status BindInput(int i, const TernTensor& input);
  Status BindOutputs(const TernBatch& batch, TernOutputs* outputs);
  Status GiveOthers(TernOutputs* outputs);
  Status GiveOutput(const std::string& name, const Datum& datum, TernOutputs* outputs);

  enum class Delivery : uint8_t { kNone, kBound, kCopy };
  std::unique_ptr<Session> session_;
  std::vector<Delivery> deliveries_;  // one per output of the current batch
};

}  // namespace tern::server

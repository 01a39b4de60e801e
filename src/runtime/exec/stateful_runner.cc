#include "runtime/exec/stateful_runner.h"

#include "runtime/exec/runner.h"

namespace tern {

StatefulRunner::StatefulRunner(Engine& engine, const Program& program)
    : engine_(engine),
      program_(program),
      states_(program),
      inputs_(static_cast<size_t>(program.input_count)) {}

Status StatefulRunner::Start(const std::vector<Tensor>& values, const std::vector<BoundValue>& captures) {
  bound_.clear();
  for (const Datum& d : inputs_) bound_.push_back({&d, false});
  bound_.insert(bound_.end(), captures.begin(), captures.end());
  return states_.Start(values);
}

Status StatefulRunner::Run(const DatumList& inputs) {
  if (inputs.size() != inputs_.size())
    return InvalidModel("graph '", program_.graph->name, "' takes ", inputs_.size(), " inputs, got ",
                        inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!states_.IsInput(static_cast<int>(i))) inputs_[i] = inputs[i];
  TERN_TRY(states_.Feed(inputs_));
  if (!current_ || !current_->plan().Matches(bound_, states_.length())) {
    if (current_) current_->Release();
    current_ = nullptr;
    TERN_ASSIGN(current_, states_.Prepare(engine_.RunnerFor(program_), bound_));
  }
  TERN_TRY(states_.Begin(*current_, inputs_));
  TERN_TRY(current_->Run(bound_));
  return states_.End(*current_, bound_);
}

void StatefulRunner::Finish() {
  if (current_) current_->Release();
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (!states_.IsInput(static_cast<int>(i))) inputs_[i] = Datum();
}

const Datum& StatefulRunner::Output(int i) const {
  static const Datum none;
  return !current_ || states_.IsOutput(i) ? none : current_->Output(i);
}

}  // namespace tern

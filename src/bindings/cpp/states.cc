// The functions of Predictor for its states. A state is a value that the predictor keeps between runs.
#include "bindings/cpp/api.h"

namespace tern::v1 {

std::vector<StateInfo> Predictor::States() const {
  std::vector<StateInfo> out;
  if (!state_) return out;
  const tern::Graph& graph = state_->session->graph();
  for (const tern::GraphState& state : graph.states())
    out.push_back({state.input->name, graph.outputs()[static_cast<size_t>(state.output)]->name,
                   state.input->type.ToString(), state.axis});
  return out;
}

int64_t Predictor::StateLength() const { return state_ ? state_->active().StateLength() : 0; }

Status Predictor::ResetStates() {
  if (!state_) return Convert(MovedFrom());
  return Protect([&]() -> tern::Status {
    const State::Hold hold(*state_);
    TERN_TRY(hold.status());
    state_->active().ResetState();
    return {};
  });
}

Result<Value> Predictor::GetState(const std::string& name) const {
  if (!state_) return Convert(MovedFrom());
  Value value;
  const Status status = Protect([&]() -> tern::Status {
    const State::Hold hold(*state_);
    TERN_TRY(hold.status());
    TERN_ASSIGN(tern::Tensor held, state_->active().GetState(name));
    value = Value(std::make_shared<const tern::Datum>(std::move(held)));
    return {};
  });
  if (!status.ok()) return status;
  return value;
}

Status Predictor::SetState(const std::string& name, const Value& value) {
  if (!state_) return Convert(MovedFrom());
  return Protect([&]() -> tern::Status {
    const State::Hold hold(*state_);
    TERN_TRY(hold.status());
    const auto* datum = static_cast<const tern::Datum*>(value.datum_.get());
    if (!datum || !datum->is_tensor())
      return tern::InvalidArgument("state '", name, "' is given ",
                                   datum ? datum->Describe() : "an empty value", ", not a tensor");
    return state_->active().SetState(name, datum->tensor);
  });
}

}  // namespace tern::v1

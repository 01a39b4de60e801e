// Implements the public API's Predictor with the runtime's Session.
#include <algorithm>

#include "bindings/cpp/config.h"
#include "bindings/cpp/profile.h"
#include "generate/generate.h"

namespace tern::v1 {
namespace {

const std::vector<std::string>& NoNames() {
  static const auto* none = new std::vector<std::string>();
  return *none;
}

template <class Handles> std::vector<std::string> NamesOf(const Handles& handles) {
  std::vector<std::string> names;
  for (const auto& handle : handles) names.push_back(handle.declared->name);
  return names;
}

}  // namespace

static_assert(static_cast<int>(Code::kCancelled) == static_cast<int>(tern::Code::kCancelled));
static_assert(static_cast<int>(DType::kC128) == static_cast<int>(tern::DType::kC128));
static_assert(static_cast<int>(tern::DType::kC128) + 1 == static_cast<int>(tern::DType::kCount));

tern::Status MovedFrom() {
  return tern::InvalidArgument("the predictor was moved from; use the one that it was moved to");
}

const char* Version() { return TERN_VERSION; }
const char* Name(DType dtype) { return tern::DTypeName(static_cast<tern::DType>(dtype)); }

Predictor::State::State(std::unique_ptr<tern::Session> s, std::vector<std::string> import_warnings)
    : session(std::move(s)), warnings(std::move(import_warnings)) {
  for (int i = 0; i < session->InputCount(); ++i)
    if (!session->IsStateInput(i))
      inputs.push_back({this, i, true, session->graph().inputs()[static_cast<size_t>(i)]});
  for (int i = 0; i < session->OutputCount(); ++i)
    if (!session->IsStateOutput(i))
      outputs.push_back({this, i, false, session->graph().outputs()[static_cast<size_t>(i)]});
  input_names = NamesOf(inputs);
  output_names = NamesOf(outputs);
  for (const tern::Value* constant : session->Overridable()) constants.push_back({this, -1, true, constant});
  overridable_names = NamesOf(constants);
}

Predictor::State::~State() = default;

Predictor::Predictor(std::shared_ptr<State> state) : state_(std::move(state)) {}
Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&&) noexcept = default;
Predictor::~Predictor() = default;

Result<Predictor> Predictor::Create(const Config& config) {
  std::shared_ptr<State> state;
  const Status status = Protect([&]() -> tern::Status {
    TERN_TRY(config.impl_->Check());
    tern::InitGenerate();
    TERN_ASSIGN(tern::load::Loaded loaded, config.impl_->Load());
    TERN_ASSIGN(std::unique_ptr<tern::Session> session,
                tern::Session::Create(std::move(loaded.graph), config.impl_->options));
    state = std::make_shared<State>(std::move(session), std::move(loaded.warnings));
    return {};
  });
  if (!status.ok()) return status;
  return Predictor(std::move(state));
}

Result<Predictor> Predictor::Clone() const {
  std::shared_ptr<State> state;
  const Status status = Protect([&]() -> tern::Status {
    if (!state_) return MovedFrom();
    state = std::make_shared<State>(state_->session->Clone(), state_->warnings);
    return {};
  });
  if (!status.ok()) return status;
  return Predictor(std::move(state));
}

const std::vector<std::string>& Predictor::InputNames() const {
  return state_ ? state_->input_names : NoNames();
}
const std::vector<std::string>& Predictor::OutputNames() const {
  return state_ ? state_->output_names : NoNames();
}

const std::vector<std::string>& Predictor::OverridableNames() const {
  return state_ ? state_->overridable_names : NoNames();
}

std::vector<std::string> Predictor::warnings() const {
  if (!state_) return {};
  std::vector<std::string> all = state_->warnings;
  for (const tern::Session* session : {state_->session.get(), state_->variant.get()})
    if (session)
      for (std::string& text : session->Warnings())
        if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(std::move(text));
  return all;
}

Tensor Predictor::Input(size_t index) {
  if (state_ && index < state_->inputs.size())
    return Tensor(std::shared_ptr<Tensor::Impl>(state_, &state_->inputs[index]));
  return Missing("input", StrCat(index), InputNames());
}

Tensor Predictor::Output(size_t index) {
  if (state_ && index < state_->outputs.size())
    return Tensor(std::shared_ptr<Tensor::Impl>(state_, &state_->outputs[index]));
  return Missing("output", StrCat(index), OutputNames());
}

Tensor Predictor::Input(const std::string& name) {
  const auto& names = InputNames();
  if (const auto it = std::find(names.begin(), names.end(), name); it != names.end())
    return Input(static_cast<size_t>(it - names.begin()));
  const auto& constants = OverridableNames();
  if (const auto it = std::find(constants.begin(), constants.end(), name); it != constants.end())
    return Tensor(std::shared_ptr<Tensor::Impl>(
        state_, &state_->constants[static_cast<size_t>(it - constants.begin())]));
  return Missing("input", StrCat("'", name, "'"), names);
}

Tensor Predictor::Output(const std::string& name) {
  const auto& names = OutputNames();
  const auto it = std::find(names.begin(), names.end(), name);
  return it == names.end() ? Missing("output", StrCat("'", name, "'"), names)
                           : Output(static_cast<size_t>(it - names.begin()));
}

Tensor Predictor::Missing(const std::string& role, const std::string& name,
                          const std::vector<std::string>& names) const {
  auto impl = std::make_shared<Tensor::Impl>();
  tern::Status status =
      state_ ? tern::NotFound("the model has no ", role, " ", name, "; it has: ", tern::Join(names, ", "))
             : MovedFrom();
  for (const StateInfo& state : States())
    if (name == StrCat("'", role == "input" ? state.name : state.output, "'"))
      status = tern::InvalidArgument(role, " ", name, " belongs to state '", state.name,
                                     "', which the predictor keeps; GetState and SetState read and write it");
  impl->status = Convert(status);
  return Tensor(std::move(impl));
}

tern::Status Predictor::State::Hold::status() const {
  if (held_) return {};
  return tern::InvalidArgument("the predictor is in use by another thread; give each thread a Clone() of it");
}

}  // namespace tern::v1

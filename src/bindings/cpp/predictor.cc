// The public API over the runtime's Session.
#include "bindings/cpp/api.h"

#include <algorithm>

#include "load/load.h"
#include "ops/ops.h"
#include "passes/batch/set_batch.h"

namespace tern::v1 {
namespace {

constexpr int kMaxThreads = 1024;

// The system's calls end a path at a NUL: they would open another file.
tern::Status CheckPath(const char* setting, const std::string& path) {
  const size_t at = path.find('\0');
  if (at == std::string::npos) return {};
  return tern::InvalidArgument(setting, " has a NUL at byte ", at, ", behind '", path.substr(0, at), "'");
}

const std::vector<std::string>& NoNames() {
  static const auto* none = new std::vector<std::string>();
  return *none;
}

std::vector<std::string> NamesOf(const std::vector<tern::Value*>& values) {
  std::vector<std::string> names;
  for (const tern::Value* v : values) names.push_back(v->name);
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

tern::Status Predictor::State::CheckModel(const Config& c) {
  TERN_TRY(CheckPath("model_path", c.model_path_));
  if (!c.buffer_ && c.buffer_size_)
    return tern::InvalidArgument("model_buffer is null, with a size of ", c.buffer_size_, " bytes");
  if (c.buffer_ && !c.model_path_.empty())
    return tern::InvalidArgument("model_buffer and model_path '", c.model_path_,
                                 "' are both set; give one of them");
  if (c.model_path_.empty() && !c.buffer_) return tern::InvalidArgument("the config names no model");
  return {};
}

tern::Status Predictor::State::CheckOptions(const Config& c) {
  if (c.threads_ < 0 || c.threads_ > kMaxThreads)
    return tern::InvalidArgument("threads must be 0 (one per core) or up to ", kMaxThreads, ", got ",
                                 c.threads_);
  if (c.plan_cache_ < 1) return tern::InvalidArgument("plan_cache must be at least 1, got ", c.plan_cache_);
  if (c.batch_ < 0)
    return tern::InvalidArgument("batch must be 0 (as the model has it) or more, got ", c.batch_);
  TERN_TRY(CheckPath("cache_dir", c.cache_dir_));
  if (c.reference_ && c.tune_ms_)
    return tern::InvalidArgument("tune_ms ", c.tune_ms_,
                                 " and reference(true) exclude each other: the reference evaluator has no "
                                 "kernels to measure");
  if (c.reference_ && !c.cache_dir_.empty())
    return tern::InvalidArgument("cache_dir '", c.cache_dir_,
                                 "' and reference(true) exclude each other: the reference evaluator has no "
                                 "kernels whose measurements could be read");
  if (c.reference_ && c.precision_ == "bf16")
    return tern::InvalidArgument(
        "precision \"bf16\" and reference(true) exclude each other: the reference "
        "evaluator computes as the model says");
  return {};
}

Predictor::State::State(std::unique_ptr<tern::Session> s, std::vector<std::string> import_warnings)
    : session(std::move(s)), warnings(std::move(import_warnings)) {
  input_names = NamesOf(session->graph().inputs());
  output_names = NamesOf(session->graph().outputs());
  overridable_names = NamesOf(session->Overridable());
  for (size_t i = 0; i < input_names.size(); ++i)
    inputs.push_back({this, static_cast<int>(i), true, session->graph().inputs()[i]});
  for (size_t i = 0; i < output_names.size(); ++i)
    outputs.push_back({this, static_cast<int>(i), false, session->graph().outputs()[i]});
  for (const tern::Value* constant : session->Overridable()) constants.push_back({this, -1, true, constant});
}

Predictor::Predictor(std::shared_ptr<State> state) : state_(std::move(state)) {}
Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&&) noexcept = default;
Predictor::~Predictor() = default;

Result<Predictor> Predictor::Create(const Config& c) {
  std::shared_ptr<State> state;
  const Status status = Protect([&]() -> tern::Status {
    TERN_TRY(State::CheckOptions(c));
    TERN_TRY(State::CheckModel(c));
    tern::InitOps();
    const auto bytes = tern::Buffer::Borrow(const_cast<void*>(c.buffer_), c.buffer_size_, nullptr);
    TERN_ASSIGN(tern::load::Loaded loaded, c.buffer_ ? tern::load::LoadBytes(bytes, c.threads_)
                                                     : tern::load::LoadFile(c.model_path_, c.threads_));
    if (c.batch_) TERN_TRY(SetBatch(*loaded.graph, c.batch_));
    tern::SessionOptions options;
    options.threads = c.threads_;
    options.plan_cache = c.plan_cache_;
    options.memory_limit = c.memory_limit_;
    options.collect_limit = c.collect_limit_;
    options.reference_only = c.reference_;
    const auto level = tern::ParseLevel(c.optimize_);
    if (!level)
      return tern::InvalidArgument(
          "'", c.optimize_, "' is no level of optimization; there are: none, basic, ", "extended, layout");
    options.level = *level;
    const auto precision = tern::ParsePrecision(c.precision_);
    if (!precision)
      return tern::InvalidArgument("'", c.precision_, "' is no precision; there are: fp32, bf16, auto");
    options.precision = *precision;
    options.tune_ms = c.tune_ms_;
    if (c.has_cache_dir_) options.cache_dir = c.cache_dir_;
    TERN_ASSIGN(std::unique_ptr<tern::Session> session,
                tern::Session::Create(std::move(loaded.graph), options));
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
  return Missing(StrCat("input ", index), InputNames());
}

Tensor Predictor::Output(size_t index) {
  if (state_ && index < state_->outputs.size())
    return Tensor(std::shared_ptr<Tensor::Impl>(state_, &state_->outputs[index]));
  return Missing(StrCat("output ", index), OutputNames());
}

Tensor Predictor::Input(const std::string& name) {
  const auto& names = InputNames();
  if (const auto it = std::find(names.begin(), names.end(), name); it != names.end())
    return Input(static_cast<size_t>(it - names.begin()));
  const auto& constants = OverridableNames();
  if (const auto it = std::find(constants.begin(), constants.end(), name); it != constants.end())
    return Tensor(std::shared_ptr<Tensor::Impl>(
        state_, &state_->constants[static_cast<size_t>(it - constants.begin())]));
  return Missing(StrCat("input '", name, "'"), names);
}

Tensor Predictor::Output(const std::string& name) {
  const auto& names = OutputNames();
  const auto it = std::find(names.begin(), names.end(), name);
  return it == names.end() ? Missing(StrCat("output '", name, "'"), names)
                           : Output(static_cast<size_t>(it - names.begin()));
}

Tensor Predictor::Missing(const std::string& what, const std::vector<std::string>& names) const {
  auto impl = std::make_shared<Tensor::Impl>();
  impl->status =
      Convert(state_ ? tern::NotFound("the model has no ", what, "; it has: ", tern::Join(names, ", "))
                     : MovedFrom());
  return Tensor(std::move(impl));
}

tern::Status Predictor::State::Hold::status() const {
  if (held_) return {};
  return tern::InvalidArgument("the predictor is in use by another thread; give each thread a Clone() of it");
}

}  // namespace tern::v1

// The public API over the runtime's Session.
#include "bindings/cpp/api.h"

#include <algorithm>
#include <cstring>

#include "bindings/cpp/load.h"

namespace tern::v1 {
namespace {

Status Convert(const tern::Status& status) {
  if (status.ok()) return {};
  return Status(static_cast<Code>(status.code()), status.ToString());
}

// Where nothing may escape: memory can run out anywhere.
template <class F> Status Protect(F&& body) {
  return Convert(tern::Guard([&]() -> tern::Status { return body(); }));
}

constexpr int kMaxThreads = 1024;

// The system's calls end a path at a NUL: they would open another file.
tern::Status CheckPath(const char* setting, const std::string& path) {
  const size_t at = path.find('\0');
  if (at == std::string::npos) return {};
  return tern::InvalidArgument(setting, " has a NUL at byte ", at, ", behind '", path.substr(0, at), "'");
}

tern::Status MovedFrom() {
  return tern::InvalidArgument("the predictor was moved from; use the one that it was moved to");
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
  for (size_t i = 0; i < input_names.size(); ++i)
    inputs.push_back({this, static_cast<int>(i), true, session->graph().inputs()[i]});
  for (size_t i = 0; i < output_names.size(); ++i)
    outputs.push_back({this, static_cast<int>(i), false, session->graph().outputs()[i]});
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
    std::vector<std::string> warnings;
    TERN_ASSIGN(std::unique_ptr<tern::Graph> graph,
                c.buffer_ ? LoadModelBytes(c.buffer_, c.buffer_size_, c.threads_, warnings)
                          : LoadModelFile(c.model_path_, c.threads_, warnings));
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
    TERN_ASSIGN(std::unique_ptr<tern::Session> session, tern::Session::Create(std::move(graph), options));
    state = std::make_shared<State>(std::move(session), std::move(warnings));
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

std::vector<std::string> Predictor::warnings() const {
  if (!state_) return {};
  std::vector<std::string> all = state_->warnings;
  for (std::string& text : state_->session->Warnings()) all.push_back(std::move(text));
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
  const auto it = std::find(names.begin(), names.end(), name);
  return it == names.end() ? Missing(StrCat("input '", name, "'"), names)
                           : Input(static_cast<size_t>(it - names.begin()));
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

Status Predictor::Run() { return Run(RunOptions()); }

Status Predictor::Run(const RunOptions& options) {
  if (!state_) return Convert(MovedFrom());
  const State::Hold hold(*state_);
  if (const tern::Status status = hold.status(); !status.ok()) return Convert(status);
  state_->has_run = false;
  if (options.timeout.count() < 0)
    return Status(Code::kInvalidArgument, StrCat("RunOptions::timeout is ", options.timeout.count(),
                                                 " ns; wanted is 0 (no limit) or more"));
  for (Tensor::Impl& input : state_->inputs) {
    if (!input.changed) continue;
    if (Status bound = Convert(state_->session->BindInput(input.index, tern::Datum(input.value)));
        !bound.ok())
      return bound;
    input.changed = false;
  }
  tern::Stop stop;
  stop.cancel = options.cancel;
  const auto now = tern::Stop::Clock::now();
  if (options.timeout.count() && options.timeout < stop.deadline - now) stop.deadline = now + options.timeout;
  state_->session->SetStop(stop);
  const tern::Status status = state_->session->Run();
  if (!status.ok()) return Convert(status);
  state_->has_run = true;
  return {};
}

const tern::Tensor* Tensor::Impl::Get() const {
  if (!state) return nullptr;
  if (is_input) return value.defined() ? &value : nullptr;
  if (!state->has_run) return nullptr;
  const tern::Datum& datum = state->session->Output(index);
  return datum.is_tensor() ? &datum.tensor : nullptr;
}

const Status& Tensor::status() const { return impl_->status; }
const std::string& Tensor::name() const {
  static const std::string none;
  return impl_->declared ? impl_->declared->name : none;
}

DType Tensor::dtype() const {
  if (const tern::Tensor* t = impl_->Get()) return static_cast<DType>(t->dtype());
  return impl_->declared ? static_cast<DType>(impl_->declared->type.dtype) : DType::kInvalid;
}

Shape Tensor::shape() const {
  if (const tern::Tensor* t = impl_->Get()) return t->dims();
  Shape shape;
  if (impl_->declared)
    for (const tern::Dim& d : impl_->declared->type.shape.dims) shape.push_back(d.known() ? d.value() : -1);
  return shape;
}

size_t Tensor::size() const {
  const tern::Tensor* t = impl_->Get();
  return t ? static_cast<size_t>(t->size()) : 0;
}

size_t Tensor::bytes() const {
  const tern::Tensor* t = impl_->Get();
  return t ? t->bytes() : 0;
}

void* Tensor::raw() {
  const tern::Tensor* t = impl_->Get();
  return t ? t->raw() : nullptr;
}

const void* Tensor::raw() const { return const_cast<Tensor*>(this)->raw(); }

tern::Status Tensor::Impl::CheckInput() const {
  if (!is_input) return tern::InvalidArgument("output '", declared->name, "' cannot be fed");
  if (declared->type.tensor() && declared->type.dtype != tern::DType::kInvalid) return {};
  return tern::Unsupported("input '", declared->name, "' is ", declared->type.ToString(), ", not a tensor");
}

// For whoever passes on a declared shape, where -1 stands for a dim that is open.
const char* NeedsDims(const Shape& shape) {
  const bool open = std::any_of(shape.begin(), shape.end(), [](int64_t d) { return d < 0; });
  return open ? "; every dim must be given, none is worked out from the rest" : "";
}

tern::Status Tensor::Impl::Resize(const Shape& shape) {
  if (value.defined() && value.dims() == shape && !shared) return {};
  const tern::DType dtype = declared->type.dtype;
  if (!tern::CheckedCount(shape, dtype))
    return tern::InvalidArgument("input '", declared->name, "': impossible shape [", tern::Join(shape, ","),
                                 "]", NeedsDims(shape));
  const auto allocate = [&]() -> tern::Status {
    value = tern::Tensor(dtype, shape);
    return {};
  };
  TERN_TRY(tern::Guard(allocate).While(
      tern::StrCat("giving input '", declared->name, "' memory for ", tern::Describe(dtype, shape))));
  changed = true;
  shared = false;
  return {};
}

tern::Status Tensor::Impl::Copy(const void* data, size_t count, tern::DType type, const Shape* shape) {
  const tern::Value& input = *declared;
  const auto wrong = [&](const auto&... what) {
    return tern::InvalidArgument("input '", input.name, "' is ", input.type.ToString(), ", got ", what...);
  };
  if (!data && count) return wrong(count, " elements at a null pointer");
  if (type != input.type.dtype) return wrong("elements of type ", tern::DTypeName(type));
  if (!shape && !value.defined() && input.type.shape.fully_known())
    TERN_TRY(Resize(input.type.shape.Concrete()));
  if (!shape && !value.defined()) return wrong(count, " elements and no shape; call Reshape first");
  const Shape& dims = shape ? *shape : value.dims();
  const auto wanted = tern::CheckedCount(dims, input.type.dtype);
  if (!wanted || static_cast<size_t>(*wanted) != count)
    return wrong(count, " elements for the shape [", tern::Join(dims, ","), "]", NeedsDims(dims));
  TERN_TRY(Resize(dims));
  if (value.dtype() == tern::DType::kString)
    std::copy_n(static_cast<const std::string*>(data), count, value.data<std::string>());
  else if (count)
    std::memcpy(value.raw(), data, value.bytes());
  return {};
}

tern::Status Tensor::Impl::Share(void* data, size_t bytes, const Shape& shape) {
  const tern::DType dtype = declared->type.dtype;
  const auto count = tern::CheckedCount(shape, dtype);
  if (dtype == tern::DType::kString || !count || tern::BytesOf(dtype, static_cast<size_t>(*count)) != bytes)
    return tern::InvalidArgument("input '", declared->name, "': ", bytes, " bytes cannot be shared as ",
                                 tern::DTypeName(dtype), "[", tern::Join(shape, ","), "]", NeedsDims(shape));
  if (!data && bytes)
    return tern::InvalidArgument("input '", declared->name, "': ", bytes, " bytes at a null pointer");
  value = tern::Tensor::View(tern::Buffer::Borrow(data, bytes, nullptr), dtype, shape);
  changed = true;
  shared = true;
  return {};
}

template <class F> Status Tensor::Change(F&& body) {
  if (!impl_->status.ok()) return impl_->status;
  return Protect([&]() -> tern::Status {
    TERN_TRY(impl_->CheckInput());
    const Predictor::State::Hold hold(*impl_->state);
    TERN_TRY(hold.status());
    return body(*impl_);
  });
}

Status Tensor::Reshape(const Shape& shape) {
  return Change([&](Impl& impl) { return impl.Resize(shape); });
}

Status Tensor::Copy(const void* data, size_t count, DType type, const Shape* shape) {
  return Change([&](Impl& impl) { return impl.Copy(data, count, static_cast<tern::DType>(type), shape); });
}

Status Tensor::CopyBits(const std::vector<bool>& data, const Shape* shape) {
  std::unique_ptr<bool[]> flat;
  const Status made = Protect([&]() -> tern::Status {
    flat = std::make_unique<bool[]>(data.size());
    std::copy(data.begin(), data.end(), flat.get());
    return {};
  });
  return made.ok() ? Copy(flat.get(), data.size(), DType::kBool, shape) : made;
}

Status Tensor::Share(void* data, size_t bytes, const Shape& shape) {
  return Change([&](Impl& impl) { return impl.Share(data, bytes, shape); });
}

}  // namespace tern::v1

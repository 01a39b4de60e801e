#include "bindings/cpp/config.h"

#include "load/input_types.h"
#include "passes/batch/set_batch.h"

namespace tern::v1 {

Config::Config() : impl_(std::make_unique<Impl>()) {}
Config::Config(std::string path) : Config() { impl_->model_path = std::move(path); }
Config::Config(const Config& other) : impl_(std::make_unique<Impl>(*other.impl_)) {}
Config& Config::operator=(const Config& other) {
  *impl_ = *other.impl_;
  return *this;
}
Config::~Config() = default;

Config& Config::model_path(std::string path) {
  impl_->model_path = std::move(path);
  return *this;
}
Config& Config::weights_path(std::string path) {
  impl_->weights_path = std::move(path);
  return *this;
}
Config& Config::signature(std::string name) {
  impl_->signature = std::move(name);
  return *this;
}
Config& Config::input_type(std::string name, std::string type) {
  impl_->input_types[std::move(name)] = std::move(type);
  return *this;
}
Config& Config::model_buffer(const void* data, size_t size) {
  impl_->buffer = data;
  impl_->buffer_size = size;
  return *this;
}
Config& Config::threads(int count) {
  impl_->options.threads = count;
  return *this;
}
Config& Config::plan_cache(int count) {
  impl_->options.plan_cache = count;
  return *this;
}
Config& Config::memory_limit(size_t bytes) {
  impl_->options.memory_limit = bytes;
  return *this;
}
Config& Config::collect_limit(size_t bytes) {
  impl_->options.collect_limit = bytes;
  return *this;
}
Config& Config::batch(int64_t size) {
  impl_->batch = size;
  return *this;
}
Config& Config::optimize(std::string level) {
  const auto known = tern::ParseLevel(level);
  impl_->level = known ? tern::Status()
                       : tern::InvalidArgument("'", level,
                                               "' is not an optimization level; choose none, "
                                               "basic, extended or layout");
  if (known) impl_->options.level = *known;
  return *this;
}
Config& Config::precision(std::string name) {
  const auto known = tern::ParsePrecision(name);
  impl_->precision =
      known ? tern::Status()
            : tern::InvalidArgument("'", name, "' is not a precision; choose ", tern::kPrecisionNames);
  if (known) impl_->options.precision = *known;
  return *this;
}
Config& Config::tune_ms(int64_t milliseconds) {
  impl_->options.tune_ms = milliseconds;
  return *this;
}
Config& Config::cache_dir(std::string folder) {
  impl_->options.cache_dir = std::move(folder);
  return *this;
}
Config& Config::reference(bool on) {
  impl_->options.reference = on;
  return *this;
}
Config& Config::states(std::string pairs) {
  impl_->options.states = std::move(pairs);
  return *this;
}

const std::string& Config::model_path() const { return impl_->model_path; }
int Config::threads() const { return impl_->options.threads; }
bool Config::reference() const { return impl_->options.reference; }

tern::Status Config::Impl::Check() const {
  TERN_TRY(level);
  TERN_TRY(precision);
  TERN_TRY(options.Validate());
  if (batch < 0)
    return tern::InvalidArgument("batch must be 0 (the model's own batch size) or more, got ", batch);
  // System calls end a path at a NUL, so they would open another file.
  if (const size_t at = model_path.find('\0'); at != std::string::npos)
    return tern::InvalidArgument("model_path has a NUL at byte ", at, ", after '", model_path.substr(0, at),
                                 "'");
  if (!buffer && buffer_size)
    return tern::InvalidArgument("model_buffer is null, but its size is ", buffer_size, " bytes");
  if (buffer && !model_path.empty())
    return tern::InvalidArgument("model_buffer and model_path '", model_path,
                                 "' are both set; set only one of them");
  if (model_path.empty() && !buffer)
    return tern::InvalidArgument("the config names no model; set model_path or model_buffer");
  return {};
}

tern::Result<tern::load::Loaded> Config::Impl::Load() const {
  const auto bytes = tern::Buffer::Borrow(const_cast<void*>(buffer), buffer_size, nullptr);
  tern::load::LoadOptions how{options.threads, weights_path, signature};
  TERN_ASSIGN(how.input_types, tern::load::ParseInputTypes(input_types));
  TERN_ASSIGN(tern::load::Loaded loaded,
              buffer ? tern::load::LoadBytes(bytes, how) : tern::load::LoadFile(model_path, how));
  if (batch) TERN_TRY(tern::SetBatch(*loaded.graph, batch));
  return loaded;
}

}  // namespace tern::v1

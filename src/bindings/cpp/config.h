// What stands behind a Config: the model, and the runtime's options, which its setters fill.
#pragma once
#include "bindings/cpp/api.h"
#include "load/load.h"
#include "runtime/options.h"

namespace tern::v1 {

struct Config::Impl {
  std::string model_path;
  const void* buffer = nullptr;
  size_t buffer_size = 0;
  int64_t batch = 0;  // 0: as the model has it
  tern::SessionOptions options{.level = tern::Level::kLayout};
  tern::Status level, precision;  // why the last name that was set is none

  // What the config says by itself, before anything is opened.
  tern::Status Check() const;
  tern::Result<tern::load::Loaded> Load() const;  // with the batch size asked for
};

}  // namespace tern::v1

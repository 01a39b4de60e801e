// The implementation of Config: the model and the runtime's options.
#pragma once
#include "bindings/cpp/api.h"
#include "load/load.h"
#include "runtime/options.h"

namespace tern::v1 {

struct Config::Impl {
  std::string model_path, weights_path, signature;
  std::map<std::string, std::string> input_types;
  const void* buffer = nullptr;
  size_t buffer_size = 0;
  int64_t batch = 0;  // 0 means the model's batch size
  tern::SessionOptions options{.level = tern::Level::kLayout};
  tern::Status level, precision;  // errors if optimize() or precision() got an invalid name

  // Checks the config before any file is opened.
  tern::Status Check() const;
  tern::Result<tern::load::Loaded> Load() const;  // loads the model and sets the batch size
};

}  // namespace tern::v1

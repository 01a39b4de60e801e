// What stands behind the public API's handles. Includes both worlds: tern::v1 is the API's, tern the
// library's own.
#pragma once
#define TERN_BUILDING_API
#include "tern/tern.hpp"

#include "runtime/session.h"

namespace tern::v1 {

// One input or output of one predictor.
struct Tensor::Impl {
  Predictor::State* state = nullptr;  // null: a name that does not exist
  int index = 0;
  bool is_input = false;
  const tern::Value* declared = nullptr;
  Status status = {};
  tern::Tensor value = {};  // inputs: what is fed
  bool changed = false;     // since it was bound to the session
  bool shared = false;      // the caller's memory

  const tern::Tensor* Get() const;  // what is there now, or null
  Status CheckInput() const;
};

struct Predictor::State {
  explicit State(std::unique_ptr<tern::Session> session);
  std::unique_ptr<tern::Session> session;
  std::vector<std::string> input_names, output_names;
  std::vector<Tensor::Impl> inputs, outputs;
  bool has_run = false;
};

}  // namespace tern::v1

// What stands behind the public API's handles. Includes both worlds: tern::v1 is the API's, tern the
// library's own.
#pragma once
#define TERN_BUILDING_API
#include "tern/tern.hpp"

#include <atomic>

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
  tern::Status CheckInput() const;
  // Under a Hold:
  tern::Status Resize(const Shape& shape);
  tern::Status Copy(const void* data, size_t count, tern::DType type, const Shape* shape);
  tern::Status Share(void* data, size_t bytes, const Shape& shape);
};

struct Predictor::State {
  // One call's hold on a predictor. A second thread that calls meanwhile is told so: it would corrupt the
  // first one's memory.
  class Hold {
   public:
    explicit Hold(State& state) : state_(state), held_(!state.busy.exchange(true)) {}
    ~Hold() {
      if (held_) state_.busy = false;
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    tern::Status status() const;

   private:
    State& state_;
    const bool held_;
  };

  // What the config says by itself, before anything is opened.
  static tern::Status CheckModel(const Config& config);
  static tern::Status CheckOptions(const Config& config);

  State(std::unique_ptr<tern::Session> session, std::vector<std::string> import_warnings);
  std::unique_ptr<tern::Session> session;
  std::vector<std::string> input_names, output_names, warnings;  // of the import
  std::vector<Tensor::Impl> inputs, outputs;
  std::atomic<bool> has_run{false};
  std::atomic<bool> busy{false};
};

}  // namespace tern::v1

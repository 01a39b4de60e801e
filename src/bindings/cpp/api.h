// What stands behind the public API's handles. Includes both worlds: tern::v1 is the API's, tern the
// library's own.
#pragma once
#define TERN_BUILDING_API
#include "tern/tern.hpp"

#include <atomic>

#include "runtime/exec/session.h"

namespace tern::v1 {

inline Status Convert(const tern::Status& status) {
  if (status.ok()) return {};
  return Status(static_cast<Code>(status.code()), status.ToString());
}

// Where nothing may escape: memory can run out anywhere.
template <class F> Status Protect(F&& body) {
  return Convert(tern::Guard([&]() -> tern::Status { return body(); }));
}

tern::Status MovedFrom();

// One input, output or overridable constant of one predictor.
struct Tensor::Impl {
  enum class Memory : uint8_t {
    kOwn,
    kCaller,  // Share, Bind
    kValue,   // Set: immutable
  };

  Predictor::State* state = nullptr;  // null: a name that does not exist
  // Among the inputs or outputs of the session that runs; -1: a constant that it has by itself.
  int index = 0;
  bool is_input = false;
  const tern::Value* declared = nullptr;
  Status status = {};
  Status read_status = {};  // of the last CopyTo or ToVector
  tern::Datum value = {};   // inputs: what is fed; outputs: the caller's memory, where one is bound
  bool changed = false;     // since it was bound to the session
  Memory memory = Memory::kOwn;

  bool fed() const { return value.kind != tern::Datum::Kind::kEmpty; }
  const tern::Datum* Held() const;  // what is there now, or null
  const tern::Tensor* Get() const;  // the same where it is a tensor
  // Under a Hold:
  tern::Status CheckTensorInput() const;
  tern::Status Resize(const Shape& shape);
  tern::Status Copy(const void* data, size_t count, tern::DType type, const Shape* shape);
  // A view of the caller's memory. what: "shared" or "bound", for messages.
  tern::Status Borrow(void* data, size_t bytes, const Shape& shape, const char* what);
  tern::Status Bind(void* data, size_t bytes, const Shape& shape);
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

  State(std::unique_ptr<tern::Session> session, std::vector<std::string> import_warnings);
  tern::Session& active();
  tern::Status Run(const RunOptions& options);

  std::unique_ptr<tern::Session> session;
  std::unique_ptr<tern::Session> variant;  // runs in its place while constants are fed
  std::vector<std::string> input_names, output_names, overridable_names;
  std::vector<std::string> warnings;  // of the import
  std::vector<Tensor::Impl> inputs, outputs, constants;
  std::atomic<bool> has_run{false};
  std::atomic<bool> busy{false};

 private:
  tern::Status ChooseSession();
  tern::Status BindAll();
};

}  // namespace tern::v1

// The implementation of the public API's handles. tern::v1 is the namespace of the API. tern is the namespace
// of the library.
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

// Converts exceptions such as std::bad_alloc into a Status, because no exception may cross the API.
template <class F> Status Protect(F&& body) {
  return Convert(tern::Guard([&]() -> tern::Status { return body(); }));
}

tern::Status MovedFrom();
tern::Result<tern::Stop> StopOf(const RunOptions& options);  // fails if the time limit is negative

class Recorder;  // bindings/cpp/profile.h

// One input, output or overridable constant of one predictor.
struct Tensor::Impl {
  enum class Memory : uint8_t {
    kOwn,
    kCaller,  // memory that the caller passed to Share or Bind
    kValue,   // the immutable value that the caller passed to Set
  };

  Predictor::State* state = nullptr;  // null if the name does not exist
  // The index among the inputs or outputs of the active session; -1 for a constant that is not fed.
  int index = 0;
  bool is_input = false;
  const tern::Value* declared = nullptr;
  Status status = {};
  Status read_status = {};  // result of the last CopyTo or ToVector
  tern::Datum value = {};   // the fed value of an input, or the caller's bound memory of an output
  bool changed = false;     // `value` changed since it was last bound to the session
  Memory memory = Memory::kOwn;

  bool fed() const { return value.kind != tern::Datum::Kind::kEmpty; }
  const tern::Datum* Held() const;  // the current value, or null
  const tern::Tensor* Get() const;  // the current value if it is a tensor
  // The caller of the functions below must have a Predictor::State::Hold.
  tern::Status CheckTensorInput() const;
  tern::Status Resize(const Shape& shape);
  tern::Status Copy(const void* data, size_t count, tern::DType type, const Shape* shape);
  // Makes `value` a view of the caller's memory. `what` is "shared" or "bound", for messages.
  tern::Status Borrow(void* data, size_t bytes, const Shape& shape, const char* what);
  tern::Status Bind(void* data, size_t bytes, const Shape& shape);
};

struct Predictor::State {
  // Reserves the predictor for one call. If a call of another thread has already reserved it, status()
  // returns an error, because two concurrent calls would corrupt memory.
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
  ~State();
  tern::Session& active();
  tern::Status Run(const RunOptions& options);

  std::unique_ptr<tern::Session> session;
  std::unique_ptr<tern::Session> variant;  // replaces `session` while constants are fed
  std::vector<std::string> input_names, output_names, overridable_names;
  std::vector<std::string> warnings;  // warnings of the import
  std::vector<Tensor::Impl> inputs, outputs, constants;
  std::atomic<bool> has_run{false};
  std::atomic<bool> busy{false};
  std::unique_ptr<Recorder> recorder;  // null unless runs are recorded

 private:
  tern::Status RunActive();
  tern::Status ChooseSession();
  tern::Status BindAll();
};

}  // namespace tern::v1

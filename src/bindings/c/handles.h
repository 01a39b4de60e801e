// The objects behind the handles of the C API (tern/tern.h), and the conversion of errors.
#pragma once
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bindings/cpp/api.h"
#include "tern/tern.h"

struct TernStatus {
  TernCode code;
  std::string message;
};

struct TernStrings {
  std::vector<std::string> texts;
};

struct TernConfig {
  tern::v1::Config config;
  tern::v1::Status error;  // the first error of a setter
};

struct TernRunOptions {
  tern::v1::RunOptions options;
  std::shared_ptr<std::atomic<bool>> cancel;  // options.cancel points to it
  tern::v1::Status error;                     // the first error of a setter
};

struct TernCancel {
  std::shared_ptr<std::atomic<bool>> flag;
};

struct TernPort {
  explicit TernPort(const tern::v1::Tensor& t)
      : tensor(t), declared_type(t.declared_type()), declared_dims(t.declared_dims()) {}
  tern::v1::Tensor tensor;
  std::string declared_type;
  std::vector<tern::v1::DeclaredDim> declared_dims;
};

struct TernPredictor {
  explicit TernPredictor(tern::v1::Predictor p);
  tern::v1::Predictor predictor;
  std::vector<TernPort> inputs, outputs, constants;  // never resized, because callers have pointers to ports
  std::vector<tern::v1::StateInfo> states;
};

struct TernValue {
  explicit TernValue(tern::v1::Value v) : value(std::move(v)) {}
  tern::v1::Value value;
  // The type as text, computed by the first call that asks for it.
  mutable std::once_flag typed;
  mutable std::string type;
};

struct TernProfile {
  tern::v1::Profile profile;
};

namespace tern::c {

// An argument that must not be null.
struct Argument {
  const char* name;
  const void* value;
};

// Returns null for a status that is ok, else an object that the caller of the API owns. Does not throw.
TernStatus* Give(const v1::Status& status) noexcept;
TernStatus* OutOfMemory() noexcept;      // a static object, which tern_status_free ignores
v1::Status CurrentException() noexcept;  // describes the exception that is being handled
v1::Status CheckNotNull(const char* function, std::initializer_list<Argument> arguments);

template <class... Pieces> v1::Status Invalid(const Pieces&... pieces) {
  return v1::Convert(tern::InvalidArgument(pieces...));
}

// Runs `body`, which returns a v1::Status, unless one of the arguments is null. No exception escapes.
template <class F>
TernStatus* Try(const char* function, std::initializer_list<Argument> arguments, F&& body) noexcept {
  try {
    if (const v1::Status status = CheckNotNull(function, arguments); !status.ok()) return Give(status);
    return Give(body());
  } catch (...) {
    return Give(CurrentException());
  }
}

// Runs a `body` that cannot report an error. Returns `otherwise` if `body` throws because memory is
// exhausted.
template <class T, class F> T TryGet(T otherwise, F&& body) noexcept {
  try {
    return body();
  } catch (...) {
    return otherwise;
  }
}

// Runs a setter. Stores the first error in object->error. Does nothing for a null object; the function that
// later takes the object reports it.
template <class Object, class F>
void TrySet(Object* object, const char* function, std::initializer_list<Argument> arguments,
            F&& body) noexcept {
  if (!object) return;
  v1::Status status;
  try {
    status = CheckNotNull(function, arguments);
    if (status.ok()) body();
  } catch (...) {
    status = CurrentException();
  }
  if (object->error.ok()) object->error = std::move(status);
}

// Stores a new handle in *out. `value` is a Result of the C++ API.
template <class Handle, class T> v1::Status Store(v1::Result<T> value, Handle** out) {
  if (!value.ok()) return value.status();
  *out = new Handle(std::move(*value));
  return {};
}

}  // namespace tern::c

// Errors as return values. A Status has a code, a message, and the names of the operations that were running
// when the error occurred.
#pragma once
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/strings.h"

namespace tern {

enum class Code {
  kOk,
  kInvalidArgument,  // the caller's mistake: wrong name, shape, option
  kInvalidModel,     // the file is damaged or inconsistent
  kUnsupported,      // a valid request that Tern does not support
  kNotFound,
  kIo,
  kResourceExhausted,
  kInternal,     // a bug in Tern
  kCancelled,    // the caller ended the run, or its deadline passed
  kUnavailable,  // the model or server is loading, shutting down or overloaded; a retry may succeed
  kAlreadyExists,
};

const char* CodeName(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message);
  Status(const Status& other);
  Status(Status&&) = default;
  Status& operator=(const Status& other);
  Status& operator=(Status&&) = default;

  bool ok() const { return rep_ == nullptr; }
  Code code() const { return rep_ ? rep_->code : Code::kOk; }
  const std::string& message() const;
  // Appends `context`, the name of an operation that was running. Callers append the innermost operation
  // first, so that ToString prints `while: inner < outer`.
  Status While(std::string context) &&;
  // Returns the code and the message, and on the next line the chain of operations.
  std::string ToString() const;

 private:
  struct Rep {
    Code code;
    std::string message;
    std::string chain;
  };
  struct DeleteRep {
    void operator()(Rep* rep) const;  // not inline, because every TERN_TRY would contain a copy
  };
  std::unique_ptr<Rep, DeleteRep> rep_;
};

Status MakeStatus(Code code, std::initializer_list<TextPiece> message);

template <class T> class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT: implicit on purpose
  Result(Status status) : status_(std::move(status)) {}  // NOLINT
  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  Status TakeStatus() { return std::move(status_); }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

template <class... A> [[gnu::always_inline]] inline Status InvalidArgument(const A&... a) {
  return MakeStatus(Code::kInvalidArgument, {TextPiece(a)...});
}
template <class... A> [[gnu::always_inline]] inline Status InvalidModel(const A&... a) {
  return MakeStatus(Code::kInvalidModel, {TextPiece(a)...});
}
template <class... A> [[gnu::always_inline]] inline Status Unsupported(const A&... a) {
  return MakeStatus(Code::kUnsupported, {TextPiece(a)...});
}
template <class... A> [[gnu::always_inline]] inline Status IoError(const A&... a) {
  return MakeStatus(Code::kIo, {TextPiece(a)...});
}
template <class... A> [[gnu::always_inline]] inline Status NotFound(const A&... a) {
  return MakeStatus(Code::kNotFound, {TextPiece(a)...});
}
template <class... A> [[gnu::always_inline]] inline Status Unavailable(const A&... a) {
  return MakeStatus(Code::kUnavailable, {TextPiece(a)...});
}
template <class... A> [[gnu::always_inline]] inline Status ResourceExhausted(const A&... a) {
  return MakeStatus(Code::kResourceExhausted, {TextPiece(a)...});
}

// TERN_CHECK throws this exception if its condition is false, which is a bug in Tern. Public functions of the
// library use Guard to convert it to a Status with the code kInternal.
class InternalError : public std::logic_error {
  using std::logic_error::logic_error;
};
[[noreturn]] void FailCheck(const char* file, int line, const char* condition,
                            std::initializer_list<TextPiece> detail);

// Runs `body` and returns its result. If `body` throws a std::exception, returns a Status instead.
template <class F> auto Guard(F&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Status(Code::kResourceExhausted, "out of memory");
  } catch (const std::length_error&) {
    return Status(Code::kResourceExhausted, "out of memory: a size beyond what can be allocated");
  } catch (const std::exception& e) {
    return Status(Code::kInternal, StrCat("internal error: ", e.what()));
  }
}

}  // namespace tern

#define TERN_CHECK(condition, ...)                                                      \
  do {                                                                                  \
    if (!(condition)) ::tern::FailCheck(__FILE__, __LINE__, #condition, {__VA_ARGS__}); \
  } while (0)

#define TERN_TRY(expression)                     \
  do {                                           \
    ::tern::Status tern_status_ = (expression);  \
    if (!tern_status_.ok()) return tern_status_; \
  } while (0)

#define TERN_CONCAT_(a, b) a##b
#define TERN_CONCAT(a, b) TERN_CONCAT_(a, b)
#define TERN_ASSIGN_(temp, lhs, expression) \
  auto temp = (expression);                 \
  if (!temp.ok()) return temp.TakeStatus(); \
  lhs = std::move(*temp)
// TERN_ASSIGN(auto x, Compute()); assigns the value of the Result to x, or returns its error to the caller.
#define TERN_ASSIGN(lhs, expression) TERN_ASSIGN_(TERN_CONCAT(tern_result_, __LINE__), lhs, expression)

#include "base/status.h"

namespace tern {

const char* CodeName(Code code) {
  switch (code) {
    case Code::kOk:
      return "ok";
    case Code::kInvalidArgument:
      return "invalid argument";
    case Code::kInvalidModel:
      return "invalid model";
    case Code::kUnsupported:
      return "unsupported";
    case Code::kNotFound:
      return "not found";
    case Code::kIo:
      return "i/o error";
    case Code::kResourceExhausted:
      return "resource exhausted";
    case Code::kInternal:
      return "internal error";
    case Code::kCancelled:
      return "cancelled";
    case Code::kUnavailable:
      return "unavailable";
    case Code::kAlreadyExists:
      return "already exists";
  }
  return "?";
}

Status::Status(Code code, std::string message) : rep_(new Rep{code, std::move(message), {}}) {}

Status::Status(const Status& other) : rep_(other.rep_ ? new Rep(*other.rep_) : nullptr) {}

Status& Status::operator=(const Status& other) {
  if (this != &other) rep_.reset(other.rep_ ? new Rep(*other.rep_) : nullptr);
  return *this;
}

void Status::DeleteRep::operator()(Rep* rep) const { delete rep; }

const std::string& Status::message() const {
  static const std::string kEmpty;
  return rep_ ? rep_->message : kEmpty;
}

Status Status::While(std::string context) && {
  if (rep_) rep_->chain += (rep_->chain.empty() ? "" : " < ") + context;
  return std::move(*this);
}

std::string Status::ToString() const {
  if (!rep_) return "ok";
  const std::string prefix = StrCat(CodeName(rep_->code), ": ");
  std::string out = StartsWith(rep_->message, prefix) ? rep_->message : prefix + rep_->message;
  if (!rep_->chain.empty()) out += "\n  while: " + rep_->chain;
  return out;
}

Status MakeStatus(Code code, std::initializer_list<TextPiece> message) { return {code, JoinPieces(message)}; }

void FailCheck(const char* file, int line, const char* condition, std::initializer_list<TextPiece> detail) {
  const std::string text = JoinPieces(detail);
  throw InternalError(StrCat(file, ":", line, ": check failed: ", condition, text.empty() ? "" : ": ", text));
}

}  // namespace tern

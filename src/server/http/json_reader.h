// Reads JSON from memory in one pass. The caller reads each value directly into its variable, so no tree is
// built.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace tern::server {

// A JSON number. NaN, Infinity and -Infinity are accepted, as in Triton.
struct JsonNumber {
  bool integer = false;  // has no fraction and no exponent, and is in the range of int64_t or uint64_t
  bool negative = false;
  uint64_t magnitude = 0;  // only for an integer: the absolute value
  std::string_view text;
};

// Accepts only RFC 8259, plus NaN and infinities. Does not check for duplicate keys. The text must outlive
// the reader.
class JsonReader {
 public:
  enum class Kind { kObject, kArray, kString, kNumber, kBool, kNull, kNone };

  JsonReader(std::string_view text, int max_depth) : text_(text), max_depth_(max_depth) {}

  Kind Peek();  // the kind of the next value; kNone if no value follows
  // Calls `member` with each key. `member` must read the value. The key is valid until the next read.
  template <class F> Status Object(F&& member);
  // Calls `element` for each element. `element` must read the element.
  template <class F> Status Array(F&& element);
  Status String(std::string& value);
  // Sets a view of the text, or of `storage` if the string has escapes.
  Status String(std::string_view& value, std::string& storage);
  Status Number(JsonNumber& number);
  Status Bool(bool& value);
  Status Null();
  Status Skip();  // skips any value
  Status End();   // fails if anything but white space follows

  size_t position() const { return at_; }
  void Seek(size_t position) { at_ = position; }
  size_t left() const { return text_.size() - at_; }
  std::string_view text() const { return text_; }

 private:
  void Space();
  Status Fail(std::string_view what) const;
  Status Enter();
  Status Expect(char c, std::string_view what);
  Status Escape(std::string& out);
  Status Hex(uint32_t& value);
  Status Key(std::string_view& key, std::string& storage);
  bool Take(std::string_view word);
  // Called after an element. Sets `more` to whether another element follows.
  Status Next(char close, bool& more);

  const std::string_view text_;
  const int max_depth_;
  size_t at_ = 0;
  int depth_ = 0;
};

// These functions convert a number to a C++ type. ToInt64 and ToUint64 fail with kInvalidArgument if the type
// cannot represent the value exactly. ToFloat and ToDouble fail if the value is finite but out of range.
Status ToFloat(const JsonNumber& number, float& value);
Status ToDouble(const JsonNumber& number, double& value);
Status ToInt64(const JsonNumber& number, int64_t& value);
Status ToUint64(const JsonNumber& number, uint64_t& value);

template <class F> Status JsonReader::Object(F&& member) {
  TERN_TRY(Expect('{', "expected an object"));
  TERN_TRY(Enter());
  bool more = true;
  Space();
  if (at_ < text_.size() && text_[at_] == '}') {
    ++at_;
    more = false;
  }
  std::string storage;
  while (more) {
    std::string_view key;
    TERN_TRY(Key(key, storage));
    TERN_TRY(member(key));
    TERN_TRY(Next('}', more));
  }
  --depth_;
  return {};
}

template <class F> Status JsonReader::Array(F&& element) {
  TERN_TRY(Expect('[', "expected an array"));
  TERN_TRY(Enter());
  bool more = true;
  Space();
  if (at_ < text_.size() && text_[at_] == ']') {
    ++at_;
    more = false;
  }
  while (more) {
    TERN_TRY(element());
    TERN_TRY(Next(']', more));
  }
  --depth_;
  return {};
}

}  // namespace tern::server

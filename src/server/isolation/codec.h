// Writes and reads the payloads of messages between the server and the process of an isolated model.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace tern::server {

class Encoder {
 public:
  template <class T> Encoder& Put(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Encoder& Text(std::string_view text) {
    Put(static_cast<uint64_t>(text.size()));
    out_.append(text);
    return *this;
  }
  std::string Take() { return std::move(out_); }

 private:
  std::string out_;
};

// Never reads beyond its bytes. After the first error, every value is zero or empty, and ok() is false.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : left_(bytes) {}
  template <class T> T Get() {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>);
    T value{};
    if (left_.size() < sizeof value) return Fail(value);
    std::memcpy(&value, left_.data(), sizeof value);
    left_.remove_prefix(sizeof value);
    return value;
  }
  // A byte that must be 0 or 1.
  bool Flag() {
    const auto byte = Get<uint8_t>();
    if (byte > 1) ok_ = false;
    return ok_ && byte == 1;
  }
  // The result refers to the decoder's bytes.
  std::string_view View() {
    const auto size = Get<uint64_t>();
    if (size > left_.size()) return Fail(std::string_view());
    const std::string_view text = left_.substr(0, size);
    left_.remove_prefix(size);
    return text;
  }
  std::string Text() { return std::string(View()); }
  // The number of elements of a list, of which each takes at least `bytes` bytes.
  size_t Count(size_t bytes) {
    const auto count = Get<uint64_t>();
    return count > left_.size() / bytes ? Fail(size_t{0}) : static_cast<size_t>(count);
  }
  bool ok() const { return ok_; }
  bool AtEnd() const { return ok_ && left_.empty(); }

 private:
  template <class T> T Fail(T value) {
    ok_ = false;
    left_ = {};
    return value;
  }
  std::string_view left_;
  bool ok_ = true;
};

}  // namespace tern::server

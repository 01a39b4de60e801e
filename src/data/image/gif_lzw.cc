#include "data/image/gif_lzw.h"

#include <array>

namespace tern::data {
namespace {

constexpr uint32_t kMaxCodes = 4096;

// Reads codes of a growing number of bits, lowest bit first.
class CodeReader {
 public:
  explicit CodeReader(std::string_view data) : data_(data) {}
  // Returns false at the end of the data.
  bool Next(int bits, uint32_t& code) {
    while (held_ < bits) {
      if (at_ == data_.size()) return false;
      buffer_ |= uint32_t{static_cast<uint8_t>(data_[at_++])} << held_;
      held_ += 8;
    }
    code = buffer_ & ((1u << bits) - 1);
    buffer_ >>= bits;
    held_ -= bits;
    return true;
  }

 private:
  std::string_view data_;
  size_t at_ = 0;
  uint32_t buffer_ = 0;
  int held_ = 0;
};

// A code stands for a string: the string of its prefix code, followed by one index.
class CodeTable {
 public:
  explicit CodeTable(int bits) : bits_(bits), clear_(1u << bits) {
    for (uint32_t i = 0; i < clear_; ++i) {
      last_[i] = first_[i] = static_cast<uint8_t>(i);
      length_[i] = 1;
    }
    Reset();
  }
  uint32_t clear() const { return clear_; }
  uint32_t end() const { return clear_ + 1; }
  uint32_t next() const { return next_; }
  int width() const { return width_; }
  size_t length(uint32_t code) const { return length_[code]; }
  uint8_t first(uint32_t code) const { return first_[code]; }
  void Reset() {
    next_ = clear_ + 2;
    width_ = bits_ + 1;
  }
  // A full table stays as it is until a clear code.
  void Add(uint32_t prefix, uint8_t index) {
    if (next_ == kMaxCodes) return;
    prefix_[next_] = static_cast<uint16_t>(prefix);
    last_[next_] = index;
    first_[next_] = first_[prefix];
    length_[next_] = static_cast<uint16_t>(length_[prefix] + 1);
    ++next_;
    if (next_ == 1u << width_ && width_ < 12) ++width_;
  }
  // Writes the first `room` indices of the string, or all if it is shorter.
  void Write(uint32_t code, uint8_t* out, size_t room) const {
    size_t at = length_[code];
    while (at > 0) {
      --at;
      if (at < room) out[at] = last_[code];
      code = prefix_[code];
    }
  }

 private:
  int bits_, width_ = 0;
  uint32_t clear_, next_ = 0;
  std::array<uint16_t, kMaxCodes> prefix_{}, length_{};
  std::array<uint8_t, kMaxCodes> last_{}, first_{};
};

}  // namespace

Result<std::vector<uint8_t>> DecodeGifLzw(std::string_view data, int bits, size_t count) {
  CodeTable table(bits);
  CodeReader in(data);
  std::vector<uint8_t> out(count);
  constexpr uint32_t kNone = kMaxCodes;
  uint32_t code = 0, previous = kNone;
  for (size_t at = 0; at < count;) {
    if (!in.Next(table.width(), code) || code == table.end())
      return InvalidArgument("broken GIF: the data ends after ", at, " of ", count, " pixels");
    if (code == table.clear()) {
      table.Reset();
      previous = kNone;
      continue;
    }
    const bool repeats = code == table.next() && previous != kNone && table.next() < kMaxCodes;
    if (code >= table.next() && !repeats)
      return InvalidArgument("broken GIF: code ", code, " after ", at, " of ", count, " pixels, where ",
                             table.next(), " codes are known");
    // A code that is not in the table yet is the previous string and its first index.
    if (previous != kNone) table.Add(previous, table.first(repeats ? previous : code));
    table.Write(code, out.data() + at, count - at);
    at += table.length(code);
    previous = code;
  }
  return out;
}

}  // namespace tern::data

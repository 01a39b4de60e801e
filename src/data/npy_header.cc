#include "data/npy_header.h"

#include <cstring>

namespace tern::data {
namespace {

// Parses the Python literals that a header may contain.
class Literal {
 public:
  explicit Literal(std::string_view text) : text_(text) {}

  bool Take(char c) {
    Skip();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool TakeText(std::string& out) {
    const char quote = Take('\'') ? '\'' : Take('"') ? '"' : 0;
    if (!quote) return false;
    const size_t end = text_.find(quote);
    if (end == std::string_view::npos) return false;
    out = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return true;
  }
  bool TakeBool(bool& out) {
    Skip();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!StartsWith(text_, word)) continue;
      text_.remove_prefix(word.size());
      out = value;
      return true;
    }
    return false;
  }
  bool TakeInt(int64_t& out) {
    Skip();
    size_t n = 0;
    while (n < text_.size() && text_[n] >= '0' && text_[n] <= '9') ++n;
    if (n == 0 || !ParseInt(text_.substr(0, n), out)) return false;
    text_.remove_prefix(n);
    Take('L');  // Python 2 writes 3L
    return true;
  }
  bool TakeTuple(Dims& out) {
    if (!Take('(')) return false;
    while (!Take(')')) {
      int64_t v = 0;
      if (out.size() >= 64 || !TakeInt(v)) return false;
      out.push_back(v);
      if (!Take(',')) return Take(')');
    }
    return true;
  }

 private:
  void Skip() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n' || text_.front() == '\t'))
      text_.remove_prefix(1);
  }
  std::string_view text_;
};

Status ParseDescr(const std::string& descr, NpyHeader& h) {
  const bool has_order = !descr.empty() && std::strchr("<>|=", descr[0]);
  if (has_order) h.big_endian = descr[0] == '>';
  const std::string_view type = std::string_view(descr).substr(has_order ? 1 : 0);
  int64_t width = 0;
  if (type.size() < 2 || !std::strchr("biufcUSV", type[0]) || !ParseInt(type.substr(1), width) || width < 0)
    return Unsupported("numpy type '", descr, "' is not supported; store numbers, booleans or text");
  h.kind = type[0];
  if (width > INT32_MAX) return InvalidArgument("the .npy header claims elements of ", width, " bytes");
  h.item_bytes = h.kind == 'U' ? width * 4 : width;
  return {};
}

Status ParseDict(std::string_view text, NpyHeader& h) {
  const auto broken = [] { return InvalidArgument("the .npy header is not a valid dict"); };
  Literal literal(text);
  if (!literal.Take('{')) return broken();
  std::string key, descr;
  bool has_shape = false, has_order = false;
  while (!literal.Take('}')) {
    if (!literal.TakeText(key) || !literal.Take(':')) return broken();
    if (key == "descr") {
      if (literal.Take('[')) return Unsupported("an array of records; store plain numbers");
      if (!literal.TakeText(descr)) return broken();
      TERN_TRY(ParseDescr(descr, h));
    } else if (key == "fortran_order" && literal.TakeBool(h.fortran_order)) {
      has_order = true;
    } else if (key == "shape" && !has_shape && literal.TakeTuple(h.shape)) {
      has_shape = true;
    } else {
      return broken();
    }
    if (literal.Take(',')) continue;
    if (literal.Take('}')) break;
    return broken();
  }
  return has_shape && has_order && !descr.empty() ? Status() : broken();
}

}  // namespace

Result<NpyHeader> ParseNpyHeader(std::string_view file) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  if (file.size() < 10 || !StartsWith(file, kMagic))
    return InvalidArgument("not a .npy file: it is too short or does not start with \\x93NUMPY");
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(file[i])); };
  const size_t version = byte(6);
  if (version < 1 || version > 3) return Unsupported(".npy version ", version, " is not 1, 2 or 3");
  if (version > 1 && file.size() < 12) return InvalidArgument("the .npy file ends inside its header");
  const size_t start = version == 1 ? 10 : 12;
  const size_t length = byte(8) | byte(9) << 8 | (version == 1 ? 0 : byte(10) << 16 | byte(11) << 24);
  if (length > file.size() - start)
    return InvalidArgument("the .npy header claims ", length, " bytes, but the file has ",
                           file.size() - start);
  NpyHeader h;
  TERN_TRY(ParseDict(file.substr(start, length), h));
  h.data_offset = start + length;
  return h;
}

std::string FormatNpyHeader(const std::string& descr, const Dims& shape) {
  std::string dict = StrCat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (", Join(shape, ", "),
                            shape.size() == 1 ? ",), }" : "), }");
  const size_t before = 10 + dict.size() + 1;
  dict.append((64 - before % 64) % 64, ' ');
  dict += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(dict.size() & 255);
  out += static_cast<char>(dict.size() >> 8);
  return out + dict;
}

}  // namespace tern::data

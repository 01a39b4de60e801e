#include "data/json_writer.h"

#include <cmath>
#include <cstdio>

#include "data/utf8.h"

namespace tern::data {
namespace {

// Returns the number of bytes of the first UTF-8 character, or 0 if the text does not start with a valid one.
size_t CharacterLength(std::string_view text) {
  for (size_t n = 1; n <= 4 && n <= text.size(); ++n)
    if (DecodeUtf8(text.substr(0, n))) return n;
  return 0;
}

void AppendEscaped(std::string_view text, std::string& out) {
  while (!text.empty()) {
    const size_t n = CharacterLength(text);
    const char c = text.front();
    if (n == 0)
      out += "\xef\xbf\xbd";
    else if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (c == '\n')
      out += "\\n";
    else if (static_cast<uint8_t>(c) < 0x20 || c == 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      out += escape;
    } else {
      out += text.substr(0, n);
    }
    text.remove_prefix(n ? n : 1);
  }
}

}  // namespace

void JsonWriter::Separate() {
  if (comma_) out_ += ',';
  comma_ = true;
}

JsonWriter& JsonWriter::Open(char c) {
  Separate();
  out_ += c;
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Close(char c) {
  out_ += c;
  comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view name) {
  Text(name);
  out_ += ':';
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Text(std::string_view value) {
  Separate();
  out_ += '"';
  AppendEscaped(value, out_);
  out_ += '"';
  return *this;
}

JsonWriter& JsonWriter::Int(int64_t value) {
  Separate();
  AppendText(out_, value);
  return *this;
}

JsonWriter& JsonWriter::Unsigned(uint64_t value) {
  Separate();
  AppendText(out_, value);
  return *this;
}

JsonWriter& JsonWriter::Number(double value) {
  if (std::isnan(value)) return Text("nan");
  if (std::isinf(value)) return Text(value < 0 ? "-inf" : "inf");
  Separate();
  AppendText(out_, value);
  return *this;
}

JsonWriter& JsonWriter::Number(float value) {
  if (!std::isfinite(value)) return Number(static_cast<double>(value));
  Separate();
  AppendText(out_, value);
  return *this;
}

JsonWriter& JsonWriter::Bool(bool value) {
  Separate();
  out_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::Null() {
  Separate();
  out_ += "null";
  return *this;
}

JsonWriter& JsonWriter::Dims(const tern::Dims& dims) {
  BeginArray();
  for (const int64_t d : dims) Int(d);
  return EndArray();
}

void JsonWriter::Element(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DType::kString:
      Text(t.data<std::string>()[i]);
      return;
    case DType::kBool:
      Bool(LoadLong(t, i) != 0);
      return;
    case DType::kU64:
      Unsigned(static_cast<uint64_t>(LoadLong(t, i)));
      return;
    case DType::kF64:
      Number(LoadDouble(t, i));
      return;
    case DType::kC64:
      BeginArray().Number(t.data<float>()[2 * i]).Number(t.data<float>()[2 * i + 1]).EndArray();
      return;
    case DType::kC128:
      BeginArray().Number(t.data<double>()[2 * i]).Number(t.data<double>()[2 * i + 1]).EndArray();
      return;
    default:
      break;
  }
  if (IsFloat(t.dtype()))
    Number(static_cast<float>(LoadDouble(t, i)));
  else
    Int(LoadLong(t, i));
}

void JsonWriter::Rows(const Tensor& t, size_t axis, int64_t& index) {
  if (axis == t.dims().size()) return Element(t, index++);
  BeginArray();
  for (int64_t i = 0; i < t.dims()[axis]; ++i) Rows(t, axis + 1, index);
  EndArray();
}

JsonWriter& JsonWriter::Elements(const Tensor& tensor) {
  const Tensor t = tensor.Contiguous();
  int64_t index = 0;
  if (t.size() == 0 && t.rank() > 0)
    return BeginArray().EndArray();  // otherwise dims [1000000000,0] would print 10^9 empty lists
  Rows(t, 0, index);
  return *this;
}

JsonWriter& JsonWriter::Value(const Datum& d) {
  if (d.is_tensor()) {
    BeginObject().Key("type").Text(DTypeName(d.tensor.dtype())).Key("shape").Dims(d.tensor.dims());
    return Key("data").Elements(d.tensor).EndObject();
  }
  if (d.is_sequence()) {
    BeginArray();
    for (const Datum& item : *d.sequence) Value(item);
    return EndArray();
  }
  if (d.kind == Datum::Kind::kMap) {
    BeginObject();
    const bool text = d.map->keys.dtype() == DType::kString;
    for (size_t i = 0; i < d.map->values.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      Key(text ? d.map->keys.data<std::string>()[at] : StrCat(LoadLong(d.map->keys, at)));
      Value(d.map->values[i]);
    }
    return EndObject();
  }
  return Null();
}

}  // namespace tern::data

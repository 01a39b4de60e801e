#include "pipeline/result.h"

#include <cstdio>

#include "data/json_writer.h"

namespace tern::pipeline {
namespace {

std::string Fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string Name(int64_t index, const std::string& label) {
  return label.empty() ? StrCat("class ", index) : label;
}

// Labels come from files, so they may contain bytes that control a terminal.
std::string Printable(const std::string& text) {
  std::string out;
  for (const char c : text) out += static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c;
  return out;
}

void Write(const Label& label, data::JsonWriter& json) {
  json.BeginObject();
  if (!label.label.empty()) json.Key("label").Text(label.label);
  json.Key("index").Int(label.index).Key("score").Number(static_cast<float>(label.score)).EndObject();
}

void Write(const LabelledBox& box, data::JsonWriter& json) {
  json.BeginObject();
  if (!box.label.empty()) json.Key("label").Text(box.label);
  json.Key("index").Int(box.index).Key("score").Number(box.score).Key("box").BeginArray();
  json.Number(box.x0).Number(box.y0).Number(box.x1).Number(box.y1).EndArray().EndObject();
}

void Write(const Span& span, data::JsonWriter& json) {
  json.BeginObject().Key("start").Number(span.start).Key("end").Number(span.end);
  json.Key("score").Number(static_cast<float>(span.score)).EndObject();
}

template <class T> void WriteList(const std::vector<T>& list, data::JsonWriter& json) {
  json.BeginArray();
  for (const T& element : list) Write(element, json);
  json.EndArray();
}

std::string Preview(const Tensor& tensor) {
  std::string out = tensor.Describe();
  const int64_t count = std::min<int64_t>(tensor.size(), 8);
  if (tensor.dtype() == DType::kString) {
    for (const std::string& text : ToStrings(tensor)) out += StrCat(" ", Printable(text));
    return out;
  }
  for (int64_t i = 0; i < count; ++i)
    out += StrCat(i ? " " : "  ", static_cast<float>(LoadDouble(tensor, i)));
  return count < tensor.size() ? out + " …" : out;
}

}  // namespace

void WriteResult(const ItemResult& result, data::JsonWriter& json) {
  using Kind = ItemResult::Kind;
  if (result.kind == Kind::kLabels) return WriteList(result.labels, json);
  if (result.kind == Kind::kBoxes) return WriteList(result.boxes, json);
  if (result.kind == Kind::kSpans) return WriteList(result.spans, json);
  if (result.kind == Kind::kSegmentation) {
    json.BeginObject().Key("width").Int(result.tensor.dim(1)).Key("height").Int(result.tensor.dim(0));
    WriteList(result.labels, json.Key("classes"));
    json.EndObject();
    return;
  }
  if (result.kind == Kind::kText)
    json.Text(result.text);
  else
    json.Elements(result.tensor);
}

void WriteItem(const Item& item, data::JsonWriter& json) {
  json.BeginObject();
  for (const ItemResult& result : item) WriteResult(result, json.Key(result.name));
  json.EndObject();
}

std::string Describe(const ItemResult& result) {
  using Kind = ItemResult::Kind;
  std::string out = StrCat(Printable(result.name), ":");
  if (result.kind == Kind::kText) return StrCat(out, " ", Printable(result.text), "\n");
  if (result.kind == Kind::kTensor) return StrCat(out, " ", Preview(result.tensor), "\n");
  if (result.labels.empty() && result.boxes.empty() && result.spans.empty()) return out + " none\n";
  out += "\n";
  for (const Label& label : result.labels)
    out += StrCat("  ", Fixed(label.score, 4), "  ", Printable(Name(label.index, label.label)), "\n");
  for (const LabelledBox& box : result.boxes)
    out += StrCat("  ", Fixed(box.score, 4), "  ", Printable(Name(box.index, box.label)), "  [",
                  Fixed(box.x0, 1), ", ", Fixed(box.y0, 1), ", ", Fixed(box.x1, 1), ", ", Fixed(box.y1, 1),
                  "]\n");
  for (const Span& span : result.spans)
    out +=
        StrCat("  ", Fixed(span.score, 4), "  ", Fixed(span.start, 3), " s to ", Fixed(span.end, 3), " s\n");
  return out;
}

}  // namespace tern::pipeline

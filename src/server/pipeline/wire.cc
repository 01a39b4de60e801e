#include "server/pipeline/wire.h"

#include <cstdio>
#include <cstring>

#include "data/json_writer.h"
#include "pipeline/joined.h"
#include "server/backend/wire_strings.h"

namespace tern::server {
namespace {

using pipeline::Item;
using pipeline::ItemResult;

// "score:index:label", as in the classification extension.
std::string LabelText(const pipeline::Label& label) {
  char score[64];
  std::snprintf(score, sizeof score, "%f", label.score);
  return StrCat(score, ":", label.index, label.label.empty() ? "" : ":", label.label);
}

std::string JsonText(const ItemResult& result) {
  data::JsonWriter json;
  WriteResult(result, json);
  return json.Take();
}

WireTensor Texts(const std::string& name, Dims dims, const std::vector<std::string>& texts) {
  return ToWire(name, Tensor::Strings(dims, texts));
}

// Labels are [items, k] if all items have k labels, which is always so after top_k.
WireTensor LabelsOf(const std::vector<Item>& items, size_t index) {
  std::vector<std::string> texts;
  const size_t count = items[0][index].labels.size();
  for (const Item& item : items)
    for (const pipeline::Label& label : item[index].labels) texts.push_back(LabelText(label));
  return Texts(items[0][index].name, {static_cast<int64_t>(items.size()), static_cast<int64_t>(count)},
               texts);
}

Result<WireTensor> TensorsOf(const std::vector<Item>& items, size_t index) {
  std::vector<Tensor> parts;
  for (const Item& item : items) {
    const Tensor& tensor = item[index].tensor;
    if (tensor.dims() != items[0][index].tensor.dims())
      return InvalidArgument("output '", item[index].name,
                             "' has different dims for different items: ", items[0][index].tensor.Describe(),
                             " and ", tensor.Describe(), "; send one item per request");
    Dims dims = tensor.dims();
    dims.insert(dims.begin(), 1);
    parts.push_back(tensor.Contiguous().Reshaped(std::move(dims)));
  }
  return ToWire(items[0][index].name, pipeline::Joined(parts));
}

}  // namespace

Result<std::vector<std::string_view>> ElementsOf(const WireTensor& tensor) {
  std::vector<std::string_view> out;
  const auto* bytes = reinterpret_cast<const char*>(tensor.bytes.data());
  size_t at = 0;
  while (at < tensor.bytes.size()) {
    uint32_t length = 0;
    if (tensor.bytes.size() - at < sizeof length)
      return InvalidArgument("input '", tensor.name, "': element ", out.size(), " has no length");
    std::memcpy(&length, bytes + at, sizeof length);
    at += sizeof length;
    if (length > tensor.bytes.size() - at)
      return InvalidArgument("input '", tensor.name, "': element ", out.size(), " has ", length,
                             " bytes, but only ", tensor.bytes.size() - at, " are left");
    out.emplace_back(bytes + at, length);
    at += length;
  }
  const auto count = CheckedCount(tensor.dims, DType::kU8);
  if (!count || *count != static_cast<int64_t>(out.size()))
    return InvalidArgument("input '", tensor.name, "' has ", out.size(), " elements, but its shape is [",
                           Join(tensor.dims, ","), "]");
  return out;
}

WireTensor ToWire(const std::string& name, const Tensor& tensor) {
  const Tensor from = tensor.Contiguous();
  WireTensor out{name, from.dtype(), from.dims(), {}};
  if (from.dtype() != DType::kString) {
    out.bytes = from.buffer().Slice(0, from.bytes());
    return out;
  }
  out.bytes = Buffer::Allocate(EncodedBytes(from));
  if (out.bytes.size()) EncodeStrings(from, out.bytes.data());
  return out;
}

Result<Tensor> FromWire(const WireTensor& tensor) {
  if (tensor.dtype == DType::kString)
    return DecodeStrings(tensor.name.c_str(), tensor.bytes.data(), tensor.bytes.size(), tensor.dims);
  return Tensor::View(tensor.bytes, tensor.dtype, tensor.dims);
}

Result<WireTensor> WireResult(const std::vector<Item>& items, size_t index) {
  const ItemResult& first = items[0][index];
  const auto count = static_cast<int64_t>(items.size());
  if (first.kind == ItemResult::Kind::kTensor || first.kind == ItemResult::Kind::kSegmentation)
    return TensorsOf(items, index);
  if (first.kind == ItemResult::Kind::kLabels && !first.open) return LabelsOf(items, index);
  std::vector<std::string> texts;
  for (const Item& item : items)
    texts.push_back(first.kind == ItemResult::Kind::kText ? item[index].text : JsonText(item[index]));
  return Texts(first.name, {count}, texts);
}

}  // namespace tern::server

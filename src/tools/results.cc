#include "tools/results.h"

#include <algorithm>

#include "data/file.h"
#include "data/json_writer.h"
#include "data/npy.h"
#include "data/npz.h"
#include "data/text.h"
#include "export/onnx/test_datum.h"

namespace tern::tools {
namespace {

bool IsTensorList(const Datum& d) {
  return d.is_sequence() &&
         std::all_of(d.sequence->begin(), d.sequence->end(), [](const Datum& i) { return i.is_tensor(); });
}

Status WriteJson(const std::string& path, const Datum& datum) {
  data::JsonWriter json;
  json.Value(datum);
  return data::WriteFile(path, json.Take() + "\n");
}

Status WriteOne(const std::string& stem, const Datum& datum, const std::string& format) {
  if (datum.is_tensor() && format == "npy") return data::WriteNpy(stem + ".npy", datum.tensor);
  if (datum.is_tensor() && format == "npz") return data::WriteNpz(stem + ".npz", {{"arr_0", datum.tensor}});
  if (datum.is_tensor() && format == "txt")
    return data::WriteFile(stem + ".txt", data::FormatText(datum.tensor));
  if (format == "pb" && datum.kind != Datum::Kind::kMap) {
    TERN_ASSIGN(const std::string bytes, onnx::TestDatumBytes(datum));
    return data::WriteFile(stem + ".pb", bytes);
  }
  if (IsTensorList(datum) && format != "json") {
    data::NamedTensors items;
    for (const Datum& item : *datum.sequence) items.emplace_back(StrCat("arr_", items.size()), item.tensor);
    return data::WriteNpz(stem + ".npz", items);
  }
  return WriteJson(stem + ".json", datum);
}

std::string ElementText(const Tensor& t, int64_t i) {
  data::JsonWriter json;
  const Tensor flat = t.Contiguous().Reshaped({t.size()});
  const size_t width = BytesOf(t.dtype(), 1);
  if (t.dtype() == DType::kString) return QuoteText(flat.data<std::string>()[i]);
  if (BitWidth(t.dtype()) < 8)
    return IsFloat(t.dtype()) ? StrCat(LoadDouble(flat, i)) : StrCat(LoadLong(flat, i));
  json.Elements(Tensor::View(flat.buffer().Slice(static_cast<size_t>(i) * width, width), t.dtype(), {}));
  return json.Take();
}

}  // namespace

std::string FileName(const std::string& value_name) {
  std::string name = value_name;
  for (char& c : name)
    if (c == '/' || c == ':' || c == '\0') c = '_';
  if (name.empty() || name == "." || name == "..") name.insert(0, "_");
  return name;
}

Status WriteData(const std::string& folder, const std::vector<Value*>& values, const DatumList& data,
                 const std::string& format) {
  TERN_TRY(data::MakeFolders(folder));
  for (size_t i = 0; i < data.size(); ++i)
    TERN_TRY(WriteOne(folder + "/" + FileName(values[i]->name), data[i], format));
  return {};
}

std::string Preview(const Datum& datum, int64_t limit) {
  if (!datum.is_tensor()) {
    data::JsonWriter json;
    json.Value(datum);
    return datum.Describe() + "  " + json.text().substr(0, static_cast<size_t>(limit) * 10);
  }
  const Tensor& t = datum.tensor;
  std::string out = t.Describe() + " ";
  for (int64_t i = 0; i < std::min(limit, t.size()); ++i) out += " " + ElementText(t, i);
  return t.size() > limit ? out + " …" : out;
}

}  // namespace tern::tools

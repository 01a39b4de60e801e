#include "tools/results.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "data/file.h"
#include "data/json_writer.h"
#include "data/npy.h"
#include "data/npz.h"
#include "data/text.h"
#include "export/onnx/test_datum.h"

namespace fs = std::filesystem;

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

// The extension a datum is stored under when `format` is asked for.
std::string KindFor(const Datum& datum, const std::string& format) {
  if (datum.is_tensor() || format == "json") return format;
  if (format == "pb" && datum.kind != Datum::Kind::kMap) return format;
  return IsTensorList(datum) ? "npz" : "json";
}

Status WriteOne(const std::string& path, const Datum& datum, const std::string& kind) {
  if (kind == "npy") return data::WriteNpy(path, datum.tensor);
  if (kind == "txt") return data::WriteFile(path, data::FormatText(datum.tensor));
  if (kind == "json") return WriteJson(path, datum);
  if (kind == "pb") {
    TERN_ASSIGN(const std::string bytes, onnx::TestDatumBytes(datum));
    return data::WriteFile(path, bytes);
  }
  if (datum.is_tensor()) return data::WriteNpz(path, {{"arr_0", datum.tensor}});
  data::NamedTensors items;
  for (const Datum& item : *datum.sequence) items.emplace_back(StrCat("arr_", items.size()), item.tensor);
  return data::WriteNpz(path, items);
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

Status CheckFileNames(const std::vector<Destination>& destinations) {
  std::map<std::string, const Value*> taken;
  for (const Destination& to : destinations) {
    if (to.folder.empty()) continue;
    const fs::path folder = fs::absolute(to.folder).lexically_normal() / "";
    for (const Value* v : to.values) {
      const auto [it, fresh] = taken.emplace((folder / FileName(v->name)).string(), v);
      if (!fresh)
        return InvalidArgument("'", it->second->name, "' and '", v->name, "' would both be written to '",
                               to.folder, "/", FileName(v->name), "'; nothing was run");
    }
  }
  return {};
}

Result<std::vector<std::string>> WriteData(const Destination& to, const DatumList& data,
                                           const std::string& format) {
  TERN_TRY(data::MakeFolders(to.folder));
  std::vector<std::string> paths;
  for (size_t i = 0; i < data.size(); ++i) {
    const std::string kind = KindFor(data[i], format);
    paths.push_back(StrCat(to.folder, "/", FileName(to.values[i]->name), ".", kind));
    TERN_TRY(WriteOne(paths.back(), data[i], kind));
  }
  return paths;
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

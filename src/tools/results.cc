#include "tools/results.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "data/file.h"
#include "data/json_writer.h"
#include "data/npy.h"
#include "data/npz.h"
#include "data/text.h"
#include "export/onnx/test_datum.h"
#include "tools/units.h"

namespace tern::tools {
namespace {

bool IsTensorList(const Datum& d) {
  return d.is_sequence() &&
         std::all_of(d.sequence->begin(), d.sequence->end(), [](const Datum& i) { return i.is_tensor(); });
}

// Returns the extension of the file for a datum. This is `format`, which the user chose, if the format
// can store the datum. Otherwise it is "npz" for a list of tensors, and "json" for other data.
std::string KindFor(const Datum& datum, const std::string& format) {
  if (datum.is_tensor() || format == "json") return format;
  if (format == "pb" && datum.kind != Datum::Kind::kMap) return format;
  return IsTensorList(datum) ? "npz" : "json";
}

Result<std::string> Format(const Datum& datum, const std::string& kind) {
  if (kind == "npy") return data::FormatNpy(datum.tensor);
  if (kind == "txt") return data::FormatText(datum.tensor);
  if (kind == "pb") return onnx::TestDatumBytes(datum);
  if (kind == "json") {
    data::JsonWriter json;
    json.Value(datum);
    return json.Take() + "\n";
  }
  if (datum.is_tensor()) return data::FormatNpz({{"arr_0", datum.tensor}}, /*compress=*/false);
  data::NamedTensors items;
  for (const Datum& item : *datum.sequence) items.emplace_back(StrCat("arr_", items.size()), item.tensor);
  return data::FormatNpz(items, /*compress=*/false);
}

template <class T> void CountIn(const T* data, int64_t size, NonFinite& count) {
  for (int64_t i = 0; i < size; ++i) {
    count.nan += std::isnan(data[i]);
    count.inf += std::isinf(data[i]);
  }
}

void AddNonFinite(const Tensor& tensor, NonFinite& count) {
  if (tensor.dtype() == DType::kString) return;
  count.elements += tensor.size();
  if (!IsFloat(tensor.dtype())) return;
  const Tensor t = tensor.Contiguous();
  if (t.dtype() == DType::kF32) return CountIn(t.data<float>(), t.size(), count);
  if (t.dtype() == DType::kF64) return CountIn(t.data<double>(), t.size(), count);
  for (int64_t i = 0; i < t.size(); ++i) {
    const double v = LoadDouble(t, i);
    CountIn(&v, 1, count);
  }
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

Result<std::vector<std::string>> WriteData(const Destination& to, const DatumList& data,
                                           const std::string& format) {
  TERN_TRY(data::MakeFolders(to.folder));
  std::vector<std::string> paths;
  for (size_t i = 0; i < data.size(); ++i) {
    const std::string kind = KindFor(data[i], format);
    paths.push_back(StrCat(to.folder, "/", to.names[i], ".", kind));
    TERN_ASSIGN(const std::string bytes, Format(data[i], kind));
    TERN_TRY(data::WriteFile(paths.back(), bytes));
  }
  return paths;
}

Result<std::string> FormatData(const std::vector<Value*>& values, const DatumList& data,
                               const std::string& format) {
  if (format == "json") {
    data::JsonWriter json;
    json.BeginObject();
    for (size_t i = 0; i < data.size(); ++i) json.Key(values[i]->name).Value(data[i]);
    json.EndObject();
    return json.Take() + "\n";
  }
  const bool tensors = std::all_of(data.begin(), data.end(), [](const Datum& d) { return d.is_tensor(); });
  if (!tensors || (format != "npz" && data.size() != 1))
    return InvalidArgument(
        "--format ", format, " can write ", format == "npz" ? "only tensors" : "only one tensor",
        " to standard output, but the model has ", data.size(), " outputs",
        tensors ? "" : ", which are not all tensors", "; choose --format ", tensors ? "npz or json" : "json");
  if (format != "npz") return Format(data[0], format);
  data::NamedTensors arrays;
  for (size_t i = 0; i < data.size(); ++i) arrays.emplace_back(values[i]->name, data[i].tensor);
  return data::FormatNpz(arrays, /*compress=*/false);
}

std::string NonFinite::ToString() const {
  const auto part = [&](int64_t count, const char* what) {
    return StrCat(count == elements ? StrCat("all ", elements) : StrCat(count, " of ", elements),
                  elements == 1 ? " element is " : " elements are ", what);
  };
  if (!inf) return part(nan, "NaN");
  return nan ? StrCat(part(nan, "NaN"), ", ", inf, " infinite") : part(inf, "infinite");
}

NonFinite CountNonFinite(const Datum& datum) {
  NonFinite count;
  if (datum.is_tensor()) {
    AddNonFinite(datum.tensor, count);
    return count;
  }
  const auto add = [&](const Datum& item) {
    const NonFinite inner = CountNonFinite(item);
    count.elements += inner.elements, count.nan += inner.nan, count.inf += inner.inf;
  };
  if (datum.is_sequence() && datum.sequence)
    for (const Datum& item : *datum.sequence) add(item);
  if (datum.kind == Datum::Kind::kMap && datum.map)
    for (const Datum& item : datum.map->values) add(item);
  return count;
}

void NoteNonFinite(const std::vector<Value*>& outputs, const DatumList& data) {
  for (size_t i = 0; i < data.size(); ++i)
    if (const NonFinite count = CountNonFinite(data[i]); count.any())
      std::fprintf(stderr, "tern: note: output '%s': %s\n", Printable(outputs[i]->name).c_str(),
                   count.ToString().c_str());
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

#include "quantize/report.h"

#include <cmath>
#include <filesystem>

namespace tern::quantize {
namespace {

// Rounds to 4 decimals. Further digits of a measurement are noise.
double Rounded(double v) { return std::round(v * 1e4) / 1e4; }

double TimeOf(const compress::RunCost& cost, const std::string& layer) {
  const auto it = cost.layers.find(layer);
  return it == cost.layers.end() ? 0 : it->second;
}

void WriteCost(const char* key, double before, double after, data::JsonWriter& json) {
  json.Key(key).BeginObject().Key("before").Number(Rounded(before));
  json.Key("after").Number(Rounded(after)).EndObject();
}

void WriteBytes(const Files& files, data::JsonWriter& json) {
  json.Key("bytes").BeginObject().Key("before").Unsigned(files.bytes_before);
  json.Key("after").Unsigned(files.bytes_after).EndObject();
}

void WriteLayers(const compress::StaticReport& r, data::JsonWriter& json) {
  json.Key("layer_errors").BeginArray();
  for (size_t i = 0; i < r.layers.size(); ++i) {
    const compress::LayerReport& layer = r.made.layers[i];
    json.BeginObject().Key("name").Text(layer.name).Key("sqnr_db").Number(r.layers[i].sqnr());
    json.Key("cosine").Number(r.layers[i].cosine()).Key("max_error").Number(r.layers[i].max_error());
    json.Key("weights_rms_nearest").Number(layer.nearest_error).Key("weights_rms").Number(layer.error);
    if (const auto alone = r.alone.find(layer.name); alone != r.alone.end())
      json.Key("alone_sqnr_db").Number(alone->second);
    WriteCost("ms", TimeOf(r.costs.before, layer.name), TimeOf(r.costs.after, layer.name), json);
    json.EndObject();
  }
  json.EndArray();
}

void WriteValues(const compress::StaticReport& r, data::JsonWriter& json) {
  json.Key("values").BeginArray();
  for (const compress::GridReport& v : r.made.grids) {
    json.BeginObject().Key("name").Text(v.value).Key("type").Text(DTypeName(v.grid.dtype));
    json.Key("scale").Number(v.grid.scale).Key("zero_point").Int(v.grid.zero);
    json.Key("low").Number(v.observed.low).Key("high").Number(v.observed.high);
    json.Key("sqnr_db").Number(v.sqnr).Key("cosine").Number(v.cosine).EndObject();
  }
  json.EndArray();
}

uint64_t SizeOf(const std::filesystem::path& path) {
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

}  // namespace

uint64_t ModelBytes(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error))
    return SizeOf(path) + SizeOf(path + ".data") + SizeOf(path + "_data");
  uint64_t bytes = 0;
  for (auto it = std::filesystem::recursive_directory_iterator(path, error);
       !error && it != std::filesystem::recursive_directory_iterator(); it.increment(error))
    bytes += SizeOf(it->path());
  return bytes;
}

Files FilesOf(const std::string& model, const std::string& output) {
  return {output, ModelBytes(model), ModelBytes(output)};
}

std::string StaticJson(const Files& files, const std::string& method, const compress::StaticReport& r,
                       const std::function<void(data::JsonWriter&)>& more) {
  data::JsonWriter json;
  json.BeginObject().Key("output").Text(files.output).Key("method").Text(method);
  json.Key("samples").Unsigned(r.samples).Key("layers").Unsigned(r.made.layers.size());
  WriteBytes(files, json);
  const compress::RunCost &before = r.costs.before, &after = r.costs.after;
  WriteCost("memory", static_cast<double>(before.memory), static_cast<double>(after.memory), json);
  WriteCost("ms", before.ms, after.ms, json);
  json.Key("outputs").BeginObject().Key("sqnr_db").Number(r.outputs.sqnr());
  json.Key("cosine").Number(r.outputs.cosine()).Key("max_error").Number(r.outputs.max_error()).EndObject();
  if (more) more(json);
  json.Key("float_layers").BeginArray();
  for (const auto& [name, why] : r.made.floats)
    json.BeginObject().Key("name").Text(name).Key("why").Text(why).EndObject();
  json.EndArray();
  if (!r.layers.empty()) WriteLayers(r, json);
  WriteValues(r, json);
  return json.EndObject().Take();
}

std::string WeightsJson(const Files& files, const compress::WeightOnlyReport& report) {
  data::JsonWriter json;
  json.BeginObject().Key("output").Text(files.output);
  WriteBytes(files, json);
  json.Key("weight_bytes").BeginObject().Key("before").Int(report.bytes_before);
  json.Key("after").Int(report.bytes_after).EndObject().Key("layers").BeginArray();
  for (const compress::WeightOnlyLayer& layer : report.layers) {
    json.BeginObject().Key("name").Text(layer.node).Key("inputs").Int(layer.inputs);
    json.Key("outputs").Int(layer.outputs).Key("sqnr_db").Number(layer.sqnr).EndObject();
  }
  return json.EndArray().EndObject().Take();
}

}  // namespace tern::quantize

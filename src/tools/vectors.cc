#include "tools/vectors.h"

#include <algorithm>
#include <filesystem>

#include "data/npy.h"
#include "data/npz.h"

namespace fs = std::filesystem;

namespace tern::tools {
namespace {

std::string StoredFile(const fs::path& folder, const char* prefix, size_t index) {
  for (const char* kind : {".pb", ".npy", ".npz"}) {
    const fs::path path = folder / StrCat(prefix, index, kind);
    if (fs::exists(path)) return path.string();
  }
  return {};
}

Status ReadNumbered(const fs::path& folder, const char* prefix, const std::vector<const Value*>& values,
                    Feeds& out) {
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string path = StoredFile(folder, prefix, i);
    if (path.empty()) continue;
    TERN_ASSIGN(out[values[i]->name], ReadDatum(path, *values[i]));
  }
  const std::string extra = StoredFile(folder, prefix, values.size());
  if (!extra.empty())
    return InvalidArgument("the model has no value for '", extra, "'; it has only ", values.size(),
                           std::string_view(prefix) == "input_" ? " inputs" : " outputs");
  return {};
}

std::vector<const Value*> InputsOf(const Graph& graph) {
  std::vector<const Value*> all(graph.inputs().begin(), graph.inputs().end());
  all.insert(all.end(), graph.overridable().begin(), graph.overridable().end());
  return all;
}

const Value* FindNamed(const std::vector<const Value*>& values, const std::string& name) {
  const auto it = std::find_if(values.begin(), values.end(), [&](const Value* v) { return v->name == name; });
  return it == values.end() ? nullptr : *it;
}

// Reads the inputs and outputs in an .npz file by their names. Ignores other arrays, which such files often
// contain.
Status ReadNamed(const std::string& path, const Graph& graph, Vectors& v) {
  TERN_ASSIGN(data::NamedTensors arrays, data::ReadNpz(path));
  const std::vector<const Value*> inputs = InputsOf(graph),
                                  outputs(graph.outputs().begin(), graph.outputs().end());
  for (auto& [name, tensor] : arrays) {
    const Value* input = FindNamed(inputs, name);
    const Value* value = input ? input : FindNamed(outputs, name);
    if (!value) continue;
    auto adopted = data::AdoptStorage(tensor, value->type.dtype);
    (input ? v.inputs : v.outputs)[name] = Datum(adopted.ok() ? std::move(*adopted) : std::move(tensor));
  }
  return {};
}

bool HasVectors(const fs::path& folder) {
  return fs::exists(folder / "io.npz") || !StoredFile(folder, "input_", 0).empty() ||
         !StoredFile(folder, "output_", 0).empty();
}

Result<Vectors> ReadFolder(const Graph& graph, const fs::path& folder, bool with_outputs) {
  Vectors v;
  v.folder = folder.string();
  if (fs::exists(folder / "io.npz")) {
    TERN_TRY(ReadNamed((folder / "io.npz").string(), graph, v));
  } else {
    TERN_TRY(ReadNumbered(folder, "input_", InputsOf(graph), v.inputs));
    TERN_TRY(ReadNumbered(folder, "output_", {graph.outputs().begin(), graph.outputs().end()}, v.outputs));
  }
  if (with_outputs && v.outputs.empty())
    return NotFound("'", v.folder, "' contains none of the model's outputs");
  return v;
}

}  // namespace

Result<std::vector<Vectors>> ReadVectors(const Graph& graph, const std::string& folder, bool with_outputs) {
  if (!fs::is_directory(folder)) return NotFound("'", folder, "' is not a folder");
  std::vector<fs::path> folders;
  if (HasVectors(folder))
    folders.push_back(folder);
  else
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.is_directory() && HasVectors(entry.path())) folders.push_back(entry.path());
  if (folders.empty())
    return NotFound(
        "'", folder,
        "' has no test vectors: it contains no input_0.pb, input_0.npy or io.npz, and no folder with one");
  std::sort(folders.begin(), folders.end());
  std::vector<Vectors> out;
  for (const fs::path& f : folders) {
    TERN_ASSIGN(Vectors v, ReadFolder(graph, f, with_outputs));
    out.push_back(std::move(v));
  }
  return out;
}

}  // namespace tern::tools

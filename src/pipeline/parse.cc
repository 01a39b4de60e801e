// Parses pipeline.yaml.
#include <filesystem>

#include "data/file.h"
#include "pipeline/spec.h"
#include "pipeline/steps.h"

namespace tern::pipeline {
namespace {

// Reads the steps of one input or output. A step is a name, or a name with options.
template <class Step>
Status ReadSteps(const YamlValue& value, Status (*read)(const YamlValue&, Step&), std::vector<Step>& out) {
  return value.Items([&](const YamlValue& item) -> Status {
    if (out.size() >= 64) return value.Error("has more than 64 steps");
    Step& step = out.emplace_back();
    step.line = item.line();
    if (item.is_scalar()) {
      step.name = item.scalar();
      return read(YamlValue(YAML::Node(), value.file(), StrCat(value.key(), ".", step.name), item.line()),
                  step);
    }
    int count = 0;
    TERN_TRY(item.Members([&](const std::string& name, const YamlValue& options) -> Status {
      if (++count > 1) return options.Error("a step has one name; write '- ' before each step");
      step.name = name;
      return read(options, step);
    }));
    return count == 1 ? Status() : item.Error("expected the name of a step");
  });
}

template <class Step>
Status ReadNamed(const YamlValue& value, Status (*read)(const YamlValue&, Step&),
                 std::vector<NamedSteps<Step>>& out) {
  TERN_TRY(value.Members([&](const std::string& name, const YamlValue& steps) -> Status {
    if (out.size() >= 64) return value.Error("has more than 64 entries");
    out.push_back({name, steps.line(), {}});
    return ReadSteps(steps, read, out.back().steps);
  }));
  return out.empty() ? value.Error("is empty") : Status();
}

Status ReadLimits(const YamlValue& value, Limits& out) {
  return value.Members([&](const std::string& key, const YamlValue& v) -> Status {
    if (key == "pixels") return v.Int64(1, int64_t{1} << 27, out.pixels);
    if (key == "seconds") return v.Number(0.001, 86400, out.seconds);
    if (key == "characters") return v.Int64(1, int64_t{1} << 30, out.characters);
    if (key == "items") return v.Int64(1, 65536, out.items);
    return v.Unknown("limit", key, {"pixels", "seconds", "characters", "items"});
  });
}

Status ReadMember(const std::string& key, const YamlValue& value, Spec& out) {
  if (key == "model") return value.File(out.model);
  if (key == "labels") return value.is_list() ? value.Texts(out.label_list) : value.File(out.labels);
  if (key == "inputs") return ReadNamed(value, &ReadInputStep, out.inputs);
  if (key == "outputs") return ReadNamed(value, &ReadOutputStep, out.outputs);
  if (key == "limits") return ReadLimits(value, out.limits);
  if (key == "constants")
    return value.Members([&](const std::string& name, const YamlValue& v) {
      return v.Number(-1e30, 1e30, out.constants[name]);
    });
  if (key == "states")
    return value.Members(
        [&](const std::string& name, const YamlValue& v) { return v.Text(out.states[name]); });
  return value.Unknown("key", key, {"model", "labels", "inputs", "outputs", "limits", "constants", "states"});
}

// A .tern file is usually the optimized form of the model of the same name.
bool IsFor(const Spec& spec, const std::filesystem::path& model) {
  return spec.model.empty() || spec.model == model ||
         (model.extension() == ".tern" &&
          std::filesystem::path(spec.model).replace_extension(".tern") == model);
}

}  // namespace

std::string Spec::PathOf(const std::string& relative) const {
  return (std::filesystem::path(file).parent_path() / relative).string();
}

Result<Spec> ParseSpec(std::string_view text, const std::string& file) {
  return Guard([&]() -> Result<Spec> {
    TERN_ASSIGN(const YamlValue root, YamlValue::Parse(text, file));
    Spec out;
    out.file = file;
    if (root.is_null()) return InvalidArgument(file, ": is empty; it needs 'inputs' and 'outputs'");
    TERN_TRY(root.Members(
        [&](const std::string& key, const YamlValue& value) { return ReadMember(key, value, out); }));
    if (out.inputs.empty()) return InvalidArgument(file, ": has no 'inputs'");
    if (out.outputs.empty()) return InvalidArgument(file, ": has no 'outputs'");
    TERN_TRY(CheckSteps(out));
    return out;
  });
}

Result<Spec> ReadSpec(const std::string& file) {
  TERN_ASSIGN(const std::string text, data::ReadFile(file));
  return ParseSpec(text, file);
}

Result<Found> LookForPipeline(const std::string& model) {
  namespace fs = std::filesystem;
  std::error_code error;
  const bool folder = fs::is_directory(model, error);
  const fs::path file = (folder ? fs::path(model) : fs::path(model).parent_path()) / "pipeline.yaml";
  if (!fs::is_regular_file(file, error))
    return Found{"", StrCat("there is no pipeline.yaml for '", model, "'; `tern pipeline init ", model,
                            "` writes one")};
  TERN_ASSIGN(const Spec spec, ReadSpec(file.string()));
  if (folder || IsFor(spec, fs::path(model).filename())) return Found{file.string(), ""};
  return Found{"", StrCat("'", file.string(), "' is for '", spec.model, "', not for '",
                          fs::path(model).filename().string(), "'; its key 'model' decides this")};
}

Result<std::string> FindPipeline(const std::string& model) {
  TERN_ASSIGN(Found found, LookForPipeline(model));
  return std::move(found.file);
}

}  // namespace tern::pipeline

#include "tools/run_pipeline.h"

#include <fmt/core.h>

#include <algorithm>

#include "data/file.h"
#include "data/json_writer.h"
#include "pipeline/pipeline.h"
#include "tools/input_file.h"
#include "tools/timing.h"
#include "tools/units.h"

namespace tern::tools {
namespace {

// Options of `tern run` that describe tensors.
constexpr const char* kTensorOptions[] = {
    "--random", "--sample-rate", "--resize",     "--crop",   "--scale",      "--mean",
    "--std",    "--layout",      "--channels",   "--topk",   "--labels",     "--dim",
    "--shape",  "--batch",       "--output-dir", "--format", "--save-inputs"};

// The items of one input. `files` has the headings under which their results are printed: file names, or the
// texts themselves.
struct Items {
  std::string name;
  std::vector<std::string> files, bytes;
};

// Splits NAME=FILE. A file whose name contains '=' needs NAME=.
std::pair<std::string, std::string> Split(const std::string& argument) {
  const size_t equals = argument.find('=');
  if (equals == std::string::npos) return {"", argument};
  return {argument.substr(0, equals), argument.substr(equals + 1)};
}

bool HoldsTensors(const std::string& file) {
  const std::string kind = Extension(file);
  return kind == ".npy" || kind == ".npz" || kind == ".pb" || kind == ".json" || kind == ".csv";
}

Items& Find(std::vector<Items>& all, const std::string& name) {
  for (Items& items : all)
    if (items.name == name) return items;
  all.push_back({name, {}, {}});
  return all.back();
}

Result<std::vector<Items>> ReadItems(const std::vector<std::string>& inputs,
                                     const std::vector<std::string>& texts) {
  std::vector<Items> out;
  for (const std::string& input : inputs) {
    const auto [name, file] = Split(input);
    Items& items = Find(out, name);
    auto bytes = file == "-" ? data::ReadStandardInput() : data::ReadFile(file);
    if (!bytes.ok()) return bytes.TakeStatus();
    const bool text = Extension(file) == ".txt";
    while (text && !bytes->empty() && (bytes->back() == '\n' || bytes->back() == '\r')) bytes->pop_back();
    items.files.push_back(file);
    items.bytes.push_back(std::move(*bytes));
  }
  for (const std::string& text : texts) {
    Items& items = Find(out, "");
    items.files.push_back(text);
    items.bytes.push_back(text);
  }
  return out;
}

void Print(const std::vector<pipeline::Item>& results, const std::vector<std::string>& files) {
  for (size_t i = 0; i < results.size(); ++i) {
    if (results.size() > 1) fmt::print("{}\n", Printable(files[i]));
    for (const pipeline::ItemResult& result : results[i]) fmt::print("{}", Describe(result));
  }
}

void PrintJson(const std::vector<pipeline::Item>& results, double milliseconds) {
  data::JsonWriter json;
  json.BeginObject().Key("latency_ms").Number(Rounded(milliseconds)).Key("results").BeginArray();
  for (const pipeline::Item& item : results) WriteItem(item, json);
  fmt::print("{}\n", json.EndArray().EndObject().text());
}

}  // namespace

void PipelineRun::Declare(Args& args) {
  args.Option("--text", texts_, "TEXT", "pipelines: a text for the input (repeatable)");
  args.Option("--pipeline", file_, "FILE",
              "the steps from pictures, sounds and texts to results (pipeline.yaml beside the model)");
  args.Flag("--no-pipeline", off_, "do not use the pipeline.yaml beside the model");
}

Result<bool> PipelineRun::Applies(const Args& args, const std::string& model,
                                  const std::vector<std::string>& inputs) {
  const bool forced = !file_.empty() || !texts_.empty();
  if (forced && off_) return InvalidArgument("--no-pipeline cannot be used with --pipeline or --text");
  if (off_ || (inputs.empty() && !forced)) return false;
  for (const char* option : kTensorOptions)
    if (args.Given(option)) {
      if (forced) return InvalidArgument(option, " describes tensors, so it cannot be used with a pipeline");
      return false;
    }
  const bool tensors = std::any_of(inputs.begin(), inputs.end(), [](const std::string& input) {
    return HoldsTensors(Split(input).second);
  });
  if (tensors && forced) return InvalidArgument("a pipeline reads pictures, sounds and texts, not tensors");
  if (tensors || !file_.empty()) return !tensors;
  TERN_ASSIGN(const pipeline::Found found, pipeline::LookForPipeline(model));
  file_ = found.file;
  if (file_.empty() && !texts_.empty()) return NotFound("--text needs a pipeline: ", found.reason);
  return !file_.empty();
}

Status PipelineRun::Run(const std::string& model, const std::vector<std::string>& inputs,
                        const SessionOptions& options, bool json) const {
  TERN_ASSIGN(const std::vector<Items> all, ReadItems(inputs, texts_));
  if (all.empty()) return InvalidArgument("give an --input FILE or a --text for the pipeline");
  pipeline::PipelineOptions settings;
  settings.session = options;
  TERN_ASSIGN(const auto loaded, pipeline::Pipeline::Load(model, file_, settings));
  for (const std::string& warning : loaded->warnings())
    fmt::print(stderr, "warning: {}\n", Printable(warning));
  std::vector<pipeline::RawInput> raw;
  for (const Items& items : all) raw.push_back({items.name, {items.bytes.begin(), items.bytes.end()}});
  const Stopwatch watch;
  auto results = loaded->Run(raw);
  const double milliseconds = watch.Milliseconds();
  if (!results.ok()) return results.TakeStatus().While(StrCat("running '", model, "'"));
  if (json) {
    PrintJson(*results, milliseconds);
    return {};
  }
  Print(*results, all[0].files);
  fmt::print("{:.3f} ms\n", milliseconds);
  return {};
}

}  // namespace tern::tools

// tern run: runs a model once. Reads the inputs from files or makes them random. Writes the outputs to files
// or prints them.
#include <fmt/core.h>

#include <filesystem>

#include "data/json_writer.h"
#include "tools/engine.h"
#include "tools/feeds.h"
#include "tools/ranking.h"
#include "tools/results.h"
#include "tools/run_pipeline.h"
#include "tools/shapes.h"
#include "tools/sound_feeds.h"
#include "tools/timing.h"
#include "tools/tool.h"
#include "tools/units.h"

namespace tern::tools {
namespace {

// The results of a run.
struct Outcome {
  DatumList outputs;
  std::vector<Ranking> rankings;
  std::vector<std::string> files;  // one per output, if files are written
  double milliseconds = 0;
};

class RunTool : public Tool {
 public:
  const char* name() const override { return "run"; }
  const char* summary() const override { return "run a model once"; }
  const char* examples() const override {
    return "  tern run model.onnx --random 1\n"
           "  tern run digits.onnx --input seven.png      # with pipeline.yaml beside the model\n"
           "  tern run model.onnx --input image=x.npy --input mask=m.npy --output-dir out\n"
           "  tern run resnet.onnx --input cat.jpg --resize 256 --crop 224 --mean 0.485,0.456,0.406 "
           "--std 0.229,0.224,0.225 --topk 5 --labels imagenet.txt\n"
           "  tern run iris.onnx --input measurements.csv\n"
           "  generate | tern run model.onnx --input x=- --output-dir - --format npy | plot\n"
           "  tern run model.onnx --random 7 --dim batch=4 --save-inputs in --output-dir out\n";
  }
  void Declare(Args& args) override;
  Result<int> Run(const Args& args) override;

 private:
  Result<DatumList> Inputs(Graph& graph, const Args& args);
  // Prints the results and writes the files that the options ask for.
  Status WriteResults(const Destination& ins, const DatumList& inputs, const Destination& outs,
                      Outcome& done) const;
  void Print(const std::vector<Value*>& values, const Outcome& done) const;
  void PrintJson(const std::vector<Value*>& values, const Outcome& done) const;
  void WriteOutput(const Outcome& done, size_t i, data::JsonWriter& json) const;

  std::vector<std::string> words_, inputs_;
  std::string output_dir_, save_inputs_, format_ = "npy";
  int64_t seed_ = 0;
  bool json_ = false;
  ShapeOptions shapes_;
  EngineFlags engine_;
  ModelFlags model_flags_;
  PictureOptions pictures_;
  SoundOptions sound_;
  RankingOptions ranking_;
  PipelineRun pipeline_;
};

void RunTool::Declare(Args& args) {
  args.Positional("MODEL", words_, ModelHelp());
  model_flags_.Declare(args);
  args.Option(
      "--input", inputs_, "NAME=FILE",
      "read this input from a file .npy .npz .pb .json .txt .csv .png .jpg .webp .bmp .gif .wav .flac, or from standard input if FILE is '-' (repeatable)");
  args.Option("--random", seed_, "SEED",
              "use random values for inputs that are not given: floats in [-1,1), integers 0 or 1");
  shapes_.Declare(args);
  engine_.Declare(args);
  pictures_.Declare(args);
  sound_.Declare(args);
  ranking_.Declare(args);
  pipeline_.Declare(args);
  args.Option(
      "--output-dir", output_dir_, "DIR",
      "write each output to DIR/<name>.npy; if DIR is '-', write only the outputs to standard output");
  args.Option("--save-inputs", save_inputs_, "DIR", "write each input to DIR/<name>.npy");
  args.Choice("--format", format_, {"npy", "npz", "json", "txt", "pb"},
              "format of the files of --output-dir and --save-inputs (npy)");
  args.Flag("--json", json_, "print one JSON object");
}

// Returns the first positional argument that is a file or a folder, which is the path of the model. Removes
// it from `words`. Appends the other arguments to `inputs`. For example, b=2.npy in `--input a=1.npy b=2.npy`
// is a positional argument for the parser.
Result<std::string> TakeModel(std::vector<std::string>& words, std::vector<std::string>& inputs) {
  size_t model = 0;
  for (size_t i = 0; i < words.size(); ++i)
    if (std::filesystem::exists(words[i])) {
      model = i;
      break;
    }
  const std::string path = words[model];
  words.erase(words.begin() + static_cast<ptrdiff_t>(model));
  for (const std::string& word : words) {
    if (word.find('=') == std::string::npos) return InvalidArgument("unexpected argument '", word, "'");
    inputs.push_back(word);
  }
  return path;
}

// Removes empty data. They stand for states, which the session keeps.
DatumList WithoutEmpty(const DatumList& data) {
  DatumList out;
  for (const Datum& d : data)
    if (d.kind != Datum::Kind::kEmpty) out.push_back(d);
  return out;
}

Result<DatumList> RunTool::Inputs(Graph& graph, const Args& args) {
  Feeds feeds;
  TERN_TRY(shapes_.Apply(graph));
  TERN_ASSIGN(const data::ImageOptions pictures, pictures_.Parse(args, inputs_));
  TERN_ASSIGN(const int sample_rate, sound_.Parse(args, inputs_));
  for (const std::string& input : inputs_) TERN_TRY(AddFeed(graph, input, pictures, feeds, sample_rate));
  if (args.Given("--random")) {
    TERN_TRY(CloseOpenDims(graph, feeds));
    TERN_TRY(AddRandomFeeds(graph, static_cast<uint64_t>(seed_), feeds));
  }
  return OrderFeeds(graph, feeds);
}

void RunTool::Print(const std::vector<Value*>& values, const Outcome& done) const {
  for (size_t i = 0; i < done.files.size(); ++i)
    fmt::print("{}: {}\n", Printable(done.files[i]), done.outputs[i].Describe());
  for (const Ranking& r : done.rankings) ranking_.Print(r);
  if (!ranking_.wanted() && output_dir_.empty())
    for (size_t i = 0; i < done.outputs.size(); ++i)
      fmt::print("{}: {}\n", Printable(values[i]->name), Preview(done.outputs[i], 16));
  fmt::print("{:.3f} ms\n", done.milliseconds);
}

// Writes one output as an object with the key "type". The object of a tensor also has the key "shape". If
// elements are not finite, it has the keys "nan" and "inf". If the output is written to a file, it has the
// key "file". The key "data" contains the elements. It is absent if files are written or a ranking is
// printed.
void RunTool::WriteOutput(const Outcome& done, size_t i, data::JsonWriter& json) const {
  const Datum& d = done.outputs[i];
  json.BeginObject().Key("type").Text(d.is_tensor() ? DTypeName(d.tensor.dtype()) : d.Describe());
  if (d.is_tensor()) json.Key("shape").Dims(d.tensor.dims());
  if (const NonFinite count = CountNonFinite(d); count.any())
    json.Key("nan").Int(count.nan).Key("inf").Int(count.inf);
  if (i < done.files.size()) json.Key("file").Text(done.files[i]);
  if (output_dir_.empty() && !ranking_.wanted()) {
    json.Key("data");
    if (d.is_tensor())
      json.Elements(d.tensor);
    else
      json.Value(d);
  }
  json.EndObject();
}

void RunTool::PrintJson(const std::vector<Value*>& values, const Outcome& done) const {
  data::JsonWriter json;
  json.BeginObject().Key("latency_ms").Number(Rounded(done.milliseconds)).Key("outputs").BeginObject();
  for (size_t i = 0; i < done.outputs.size(); ++i) WriteOutput(done, i, json.Key(values[i]->name));
  json.EndObject();
  if (ranking_.wanted()) {
    json.Key("topk").BeginObject();
    for (const Ranking& r : done.rankings) ranking_.Write(r, json.Key(r.output));
    json.EndObject();
  }
  fmt::print("{}\n", json.EndObject().text());
}

Result<int> RunTool::Run(const Args& args) {
  TERN_ASSIGN(const std::string path, TakeModel(words_, inputs_));
  TERN_ASSIGN(const SessionOptions options, engine_.Options(args));
  TERN_ASSIGN(const bool pipeline, pipeline_.Applies(args, path, inputs_));
  if (pipeline) {
    TERN_TRY(pipeline_.Run(path, inputs_, options, json_));
    return 0;
  }
  const bool piped = output_dir_ == "-";
  if (piped && (json_ || ranking_.wanted()))
    return InvalidArgument(
        "--output-dir - writes the outputs to standard output, so it cannot be used with --json or --topk");
  TERN_TRY(ranking_.Load());
  load::LoadOptions how = model_flags_.Options(options.threads);
  TERN_ASSIGN(how.input_types, FileTypes(inputs_));
  TERN_ASSIGN(std::unique_ptr<Graph> graph, LoadModel(path, how, shapes_));
  TERN_ASSIGN(const DatumList inputs, Inputs(*graph, args));
  TERN_ASSIGN(Engine engine, Engine::Make(std::move(graph), options));
  const Graph& g = engine.graph();
  const std::vector<Value*> fed = WithoutStates(g, g.inputs()), results = WithoutStates(g, g.outputs());
  Destination ins{save_inputs_, fed}, outs{piped ? "" : output_dir_, results};
  NameFiles({&ins, &outs});
  const Stopwatch watch;
  auto outputs = engine.Run(inputs);
  if (!outputs.ok()) return outputs.TakeStatus().While(StrCat("running '", path, "'"));
  Outcome done{WithoutEmpty(*outputs), {}, {}, watch.Milliseconds()};
  engine.Warn();
  const Status written = Guard([&] { return WriteResults(ins, WithoutEmpty(inputs), outs, done); });
  if (!written.ok()) return Status(written).While(StrCat("writing the results of '", path, "'"));
  return 0;
}

Status RunTool::WriteResults(const Destination& ins, const DatumList& inputs, const Destination& outs,
                             Outcome& done) const {
  NoteNonFinite(outs.values, done.outputs);
  TERN_ASSIGN(done.rankings, ranking_.Rank(outs.values, done.outputs));
  if (!save_inputs_.empty()) TERN_TRY(WriteData(ins, inputs, format_).TakeStatus());
  if (output_dir_ == "-") {
    TERN_ASSIGN(const std::string bytes, FormatData(outs.values, done.outputs, format_));
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    return {};
  }
  if (!output_dir_.empty()) {
    TERN_ASSIGN(done.files, WriteData(outs, done.outputs, format_));
  }
  json_ ? PrintJson(outs.values, done) : Print(outs.values, done);
  return {};
}

}  // namespace

TERN_TOOL(Run) { return std::make_unique<RunTool>(); }

}  // namespace tern::tools

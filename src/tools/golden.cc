// tern golden: records golden requests of a model that a server runs.
#include <fmt/core.h>

#include <filesystem>

#include "data/file.h"
#include "data/json_writer.h"
#include "data/npy.h"
#include "tools/server_library.h"
#include "tools/shapes.h"
#include "tools/token.h"
#include "tools/tool.h"

namespace tern::tools {
namespace {

class GoldenTool : public Tool {
 public:
  const char* name() const override { return "golden"; }
  const char* summary() const override {
    return "record golden requests of a running model, which later versions must pass";
  }
  const char* examples() const override {
    return "  tern golden localhost:8000 resnet -o models/resnet/golden --count 5\n"
           "  tern golden localhost:8000 digits -o models/digits/golden --request seven.json --request two.json\n"
           "  tern golden localhost:8000 resnet --jsonl models/resnet/warmup/requests.jsonl\n"
           "\n"
           "A server loads a version of the model only if it answers the requests of the folder golden as\n"
           "recorded, within the tolerance. It sends the requests of warmup/requests.jsonl to warm up.\n";
  }
  void Declare(Args& args) override;
  Result<int> Run(const Args& args) override;

 private:
  Result<server::RecordCommand> Command() const;
  Status Check() const;
  std::string GoldenText(const server::RecordedPair& pair) const;
  std::string FileName(size_t i) const;

  server::LoadCommand target_;
  std::vector<std::string> requests_, shapes_, inputs_;
  std::string folder_, lines_;
  int64_t count_ = 1, seed_ = 1, dim_ = 1;
  double absolute_ = 1e-5, relative_ = 1e-4;
  bool json_ = false;
};

void GoldenTool::Declare(Args& args) {
  args.Positional("URL", target_.url, "address of the server's HTTP port: HOST:PORT");
  args.Positional("MODEL", target_.model, "the model's name");
  args.Option("-o,--output", folder_, "DIR", "write one golden request per file to this folder");
  args.Option("--jsonl", lines_, "FILE", "write the requests, one per line, for warming up");
  args.Option("--token", target_.token, "TOKEN", "token of a server with access control (TERN_TOKEN)");
  args.Option("--version", target_.version, "V", "version of the model (the latest)");
  args.Option("--request", requests_, "FILE", "send this v2 request in JSON (repeatable)");
  args.Option("--count", count_, "N", "number of requests that are made up if there is no --request (1)", 1,
              100000);
  args.Option("--input", inputs_, "NAME=FILE.npy",
              "read this input of made-up requests from a file (repeatable)");
  args.Option("--shape", shapes_, "NAME=1x3x224x224", "set the dims of a random input (repeatable)");
  args.Option("--dim", dim_, "N", "size of open dims of random inputs (1)", 0, int64_t{1} << 40);
  args.Option("--random", seed_, "SEED", "seed of random inputs (1)");
  args.Option("--absolute", absolute_, "X", "absolute tolerance of float outputs (1e-5)");
  args.Option("--relative", relative_, "X", "relative tolerance of float outputs (1e-4)");
  args.Option("--timeout", target_.timeout_seconds, "S", "wait at most S seconds for an answer (30)");
  args.Flag("--json", json_, "print one JSON object");
}

Status GoldenTool::Check() const {
  if (folder_.empty() && lines_.empty())
    return InvalidArgument(
        "there is nothing to write; name a folder with -o DIR or a file with --jsonl FILE");
  for (const double tolerance : {absolute_, relative_})
    if (!(tolerance >= 0 && tolerance <= 1e30))
      return InvalidArgument("a tolerance must be from 0 to 1e30, got ", tolerance);
  if (!(target_.timeout_seconds > 0 && target_.timeout_seconds <= 1e6))
    return InvalidArgument("--timeout must be above 0 and at most 1000000, got ", target_.timeout_seconds);
  return {};
}

Result<server::RecordCommand> GoldenTool::Command() const {
  TERN_TRY(Check());
  server::RecordCommand command{target_, {}, static_cast<int>(count_)};
  TERN_ASSIGN(command.target.token, TokenOr(target_.token));
  command.target.seed = static_cast<uint64_t>(seed_);
  command.target.open_dim = dim_;
  for (const std::string& file : requests_) {
    TERN_ASSIGN(std::string text, data::ReadFile(file));
    command.requests.push_back(std::move(text));
  }
  for (const std::string& text : shapes_) {
    TERN_ASSIGN(const auto pair, SplitPair(text, "NAME=1x3x224x224"));
    TERN_ASSIGN(command.target.shapes[pair.first], ParseDims(pair.second));
  }
  for (const std::string& text : inputs_) {
    TERN_ASSIGN(const auto pair, SplitPair(text, "NAME=FILE.npy"));
    TERN_ASSIGN(command.target.inputs[pair.first], data::ReadNpy(pair.second));
  }
  return command;
}

// Joins the texts of the request and the response without parsing them, so that all digits of the answer are
// kept.
std::string GoldenTool::GoldenText(const server::RecordedPair& pair) const {
  return fmt::format(
      "{{\"request\":{},\n\"response\":{},\n\"tolerance\":{{\"absolute\":{},\"relative\":{}}}}}\n",
      pair.request, pair.response, absolute_, relative_);
}

std::string GoldenTool::FileName(size_t i) const {
  if (requests_.empty()) return fmt::format("random_{}.json", seed_ + static_cast<int64_t>(i));
  return std::filesystem::path(requests_[i]).stem().string() + ".json";
}

// Returns the text as one line. Line breaks of JSON are white space, because strings cannot contain them.
std::string JoinLines(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\r') c = ' ';
  return text;
}

Result<int> GoldenTool::Run(const Args&) {
  TERN_ASSIGN(const server::RecordCommand command, Command());
  TERN_ASSIGN(const server::ServerLibrary* library, OpenServerLibrary());
  TERN_ASSIGN(const std::vector<server::RecordedPair> pairs, library->record(command));
  std::vector<std::string> files;
  std::string lines;
  for (size_t i = 0; i < pairs.size(); ++i) {
    lines += JoinLines(pairs[i].request) + "\n";
    if (!folder_.empty()) files.push_back((std::filesystem::path(folder_) / FileName(i)).string());
    for (size_t k = 0; !folder_.empty() && k < i; ++k)
      if (files[k] == files[i]) return InvalidArgument("two requests would be written to '", files[i], "'");
  }
  if (!folder_.empty()) TERN_TRY(data::MakeFolders(folder_));
  for (size_t i = 0; i < files.size(); ++i) TERN_TRY(data::WriteFile(files[i], GoldenText(pairs[i])));
  if (!lines_.empty()) {
    const std::string parent = std::filesystem::path(lines_).parent_path().string();
    if (!parent.empty()) TERN_TRY(data::MakeFolders(parent));
    TERN_TRY(data::WriteFile(lines_, lines));
    files.push_back(lines_);
  }
  data::JsonWriter json;
  json.BeginObject().Key("requests").Unsigned(pairs.size()).Key("files").BeginArray();
  for (const std::string& file : files) json.Text(file);
  json.EndArray().EndObject();
  if (json_)
    fmt::print("{}\n", json.text());
  else
    for (const std::string& file : files) fmt::print("wrote {}\n", file);
  return 0;
}

}  // namespace

TERN_TOOL(Golden) { return std::make_unique<GoldenTool>(); }

}  // namespace tern::tools

// tern rollout: shows and changes the labels and the rollout of a model on a server.
#include <fmt/core.h>
#include <simdjson.h>

#include <algorithm>
#include <thread>

#include "data/json_writer.h"
#include "tools/server_library.h"
#include "tools/token.h"
#include "tools/tool.h"
#include "tools/units.h"

namespace tern::tools {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;

const std::vector<std::string> kActions{"status", "start", "weight", "promote", "rollback",
                                        "pin",    "unpin", "abort",  "label"};

class RolloutTool : public Tool {
 public:
  const char* name() const override { return "rollout"; }
  const char* summary() const override {
    return "show or change the rollout of a new version on a server: split, promote, roll back, label";
  }
  const char* examples() const override {
    return "  tern rollout localhost:8000 resnet                         # the state and the evidence\n"
           "  tern rollout localhost:8000 resnet --watch 2               # until the rollout ends\n"
           "  tern rollout localhost:8000 resnet start --version 3\n"
           "  tern rollout localhost:8000 resnet start --version 3 --policy '{\"steps\": [5, 25]}'\n"
           "  tern rollout localhost:8000 resnet weight --weight 20      # percent; auto: the policy's steps\n"
           "  tern rollout localhost:8000 resnet promote\n"
           "  tern rollout localhost:8000 resnet rollback --version 1    # until a newer version appears\n"
           "  tern rollout localhost:8000 resnet label --label beta --version 3\n"
           "  tern rollout localhost:8000 resnet label --label beta      # removes it\n";
  }
  void Declare(Args& args) override {
    args.Positional("URL", url_, "address of the server: HOST:PORT");
    args.Positional("MODEL", model_, "name of the model");
    args.OptionalPositional("ACTION", action_, Join(kActions, ", ") + " (status)");
    args.Option("--version", version_, "V", "start, promote, rollback, pin, label: number of the version");
    args.Option("--stable", stable_, "V", "start: the version that answers meanwhile (the current one)");
    args.Option("--policy", policy_, "JSON", "start: replaces members of the configuration's tern_rollout");
    args.Option("--weight", weight_, "PERCENT", "weight: share of requests for the candidate, or auto");
    args.Option("--label", label_, "NAME", "label: name of the label");
    args.Option("--reason", reason_, "TEXT", "is recorded in the history");
    args.Option("--watch", watch_, "S", "status: print again every S seconds until no rollout runs");
    args.Option("--token", token_, "TOKEN", "token of a server with access control (TERN_TOKEN)");
    args.Flag("--json", json_, "print the server's answer: one JSON object");
  }
  Result<int> Run(const Args& args) override;

 private:
  Result<std::string> Body(const Args& args) const;
  Status CheckOptions(const Args& args) const;

  std::string url_, model_, action_ = "status", version_, stable_, policy_, weight_, label_, reason_, token_;
  double watch_ = 0;
  bool json_ = false;
};

// Percent-encodes a model's name for a URL.
std::string PathOf(const std::string& model) {
  std::string path = "/v2/repository/models/";
  for (const char c : model) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-' || c == '.';
    path += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return path + "/rollout";
}

Status RolloutTool::CheckOptions(const Args& args) const {
  if (std::find(kActions.begin(), kActions.end(), action_) == kActions.end())
    return InvalidArgument("unknown action '", action_, "'; it must be one of ", Join(kActions, ", "));
  const std::pair<const char*, const char*> uses[] = {{"--version", " start promote rollback pin label "},
                                                      {"--stable", " start "},
                                                      {"--policy", " start "},
                                                      {"--weight", " weight "},
                                                      {"--label", " label "},
                                                      {"--watch", " status "}};
  for (const auto& [option, actions] : uses)
    if (args.Given(option) && std::string_view(actions).find(" " + action_ + " ") == std::string_view::npos)
      return InvalidArgument("action '", action_, "' takes no ", option);
  if (args.Given("--reason") && action_ == "status")
    return InvalidArgument("action 'status' takes no --reason");
  if (action_ == "weight" && weight_.empty()) return InvalidArgument("action 'weight' needs --weight");
  if (action_ == "label" && label_.empty()) return InvalidArgument("action 'label' needs --label");
  if (args.Given("--watch") && !(watch_ >= 0.1 && watch_ <= 3600))
    return InvalidArgument("--watch is ", watch_, "; it must be between 0.1 and 3600");
  return {};
}

// Returns the request, or an empty text for action status.
Result<std::string> RolloutTool::Body(const Args& args) const {
  if (action_ == "status") return std::string();
  data::JsonWriter json;
  json.BeginObject().Key("action").Text(action_);
  if (args.Given("--version") || action_ == "label") {
    json.Key("version");
    version_.empty() ? json.Null() : json.Text(version_);
  }
  if (!stable_.empty()) json.Key("stable").Text(stable_);
  if (!label_.empty()) json.Key("label").Text(label_);
  if (!reason_.empty()) json.Key("reason").Text(reason_);
  if (action_ == "weight") {
    double weight = 0;
    if (weight_ != "auto" && !ParseDouble(weight_, weight))
      return InvalidArgument("--weight is '", weight_, "'; it must be a percentage or auto");
    json.Key("weight");
    weight_ == "auto" ? json.Null() : json.Number(weight);
  }
  std::string text = json.EndObject().Take();
  if (policy_.empty()) return text;
  simdjson::dom::parser parser;
  if (parser.parse(policy_).error()) return InvalidArgument("--policy is not valid JSON");
  text.pop_back();
  return text + ",\"policy\":" + policy_ + "}";
}

std::string TextOf(const element& object, const char* key) {
  std::string_view text;
  return object[key].get(text) ? "" : Printable(std::string(text));
}

double NumberOf(const element& object, const char* key) {
  double value = 0;
  return object[key].get(value) ? 0 : value;
}

std::string TimeText(int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

void PrintRollout(const element& state, const element& rollout) {
  array steps;
  const bool has_steps = !rollout["policy"]["steps"].get(steps);
  bool by_hand = false;
  if (rollout["by_hand"].get(by_hand)) by_hand = false;
  fmt::print("version {} is rolled out beside version {}: {:g} % of the requests, {}\n",
             TextOf(state, "candidate"), TextOf(state, "stable"), NumberOf(rollout, "weight"),
             by_hand
                 ? "set by hand"
                 : fmt::format("step {} of {}", NumberOf(rollout, "step") + 1, has_steps ? steps.size() : 0));
  element requests;
  if (!rollout["requests"].get(requests))
    fmt::print("  answered: {:.0f} by {}, {:.0f} by {}, and {:.0f} copies\n", NumberOf(requests, "stable"),
               TextOf(state, "stable"), NumberOf(requests, "candidate"), TextOf(state, "candidate"),
               NumberOf(requests, "copies"));
  for (const char* test : {"errors", "disagreement", "latency"}) {
    element result;
    if (!rollout["tests"][test].get(result))
      fmt::print("  {:<13} {:<5} {}\n", test, TextOf(result, "verdict"), TextOf(result, "text"));
  }
}

Status Print(const std::string& text) {
  simdjson::dom::parser parser;
  element state, rollout;
  if (parser.parse(text).get(state)) return IoError("the server's answer is not JSON");
  const std::string stable = TextOf(state, "stable");
  if (!state["rollout"].get(rollout) && rollout.is_object())
    PrintRollout(state, rollout);
  else if (stable.empty())
    fmt::print("no rollout; the latest version answers\n");
  else
    fmt::print("no rollout; version {} answers{}\n", stable,
               TextOf(state, "state") == "pinned" ? " (pinned until a newer version appears)" : "");
  simdjson::dom::object labels;
  std::string line;
  if (!state["labels"].get(labels))
    for (const auto& [label, version] : labels)
      line += fmt::format("{}{} {}", line.empty() ? "" : ", ", Printable(std::string(label)),
                          std::string_view(version));
  if (!line.empty()) fmt::print("labels: {}\n", line);
  array list;
  if (!state["rejected"].get(list))
    for (const element& entry : list)
      fmt::print("rejected: version {}: {}\n", TextOf(entry, "version"), TextOf(entry, "reason"));
  if (!state["history"].get(list))
    for (const element& entry : list) {
      fmt::print("{} {} {}: {}\n", TimeText(static_cast<int64_t>(NumberOf(entry, "time"))),
                 TextOf(entry, "change"), TextOf(entry, "version"), TextOf(entry, "reason"));
    }
  std::fflush(stdout);
  return {};
}

bool IsRunning(const std::string& text) {
  simdjson::dom::parser parser;
  element state;
  return !parser.parse(text).get(state) && TextOf(state, "state") == "running";
}

Result<int> RolloutTool::Run(const Args& args) {
  TERN_TRY(CheckOptions(args));
  TERN_ASSIGN(const std::string body, Body(args));
  TERN_ASSIGN(const std::string token, TokenOr(token_));
  TERN_ASSIGN(const server::ServerLibrary* library, OpenServerLibrary());
  while (true) {
    TERN_ASSIGN(const std::string answer, library->call(url_, PathOf(model_), body, token));
    if (json_)
      fmt::print("{}\n", answer);
    else
      TERN_TRY(Print(answer));
    std::fflush(stdout);
    if (watch_ <= 0 || !IsRunning(answer) || std::ferror(stdout)) return 0;
    std::this_thread::sleep_for(std::chrono::duration<double>(watch_));
  }
}

}  // namespace

TERN_TOOL(Rollout) { return std::make_unique<RolloutTool>(); }

}  // namespace tern::tools

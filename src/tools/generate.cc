// tern generate: generates tokens with a language model. The session stores the past keys and values of the
// model as states between runs.
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "base/strings.h"
#include "data/json_writer.h"
#include "ir/state.h"
#include "kernels/cpu/peak/bandwidth.h"
#include "tools/engine.h"
#include "tools/timing.h"
#include "tools/tool.h"

namespace tern::tools {
namespace {

// The indices of a decoder's inputs and of its logits. States are not included.
struct Ports {
  int ids = -1, mask = -1, positions = -1;  // inputs
  int logits = -1;                          // output
};

bool Mentions(const std::string& name, std::string_view word) { return name.find(word) != std::string::npos; }

Result<Ports> FindPorts(const Session& session) {
  Ports ports;
  const Graph& graph = session.graph();
  for (int i = 0; i < session.InputCount(); ++i) {
    if (session.IsStateInput(i)) continue;
    const Value& v = *graph.inputs()[static_cast<size_t>(i)];
    if (!v.type.tensor() || !IsInt(v.type.dtype)) {
      return Unsupported("input '", v.name, "' is ", v.type.ToString(),
                         ", but the inputs of a decoder (token ids, mask, positions) must be integers");
    }
    int& port = Mentions(v.name, "mask")       ? ports.mask
                : Mentions(v.name, "position") ? ports.positions
                                               : ports.ids;
    if (port >= 0)
      return Unsupported("input '", v.name,
                         "' is a second input for token ids, mask or positions; a decoder has one of each");
    port = i;
  }
  for (int i = 0; i < session.OutputCount() && ports.logits < 0; ++i)
    if (!session.IsStateOutput(i)) ports.logits = i;
  if (ports.ids < 0 || ports.logits < 0)
    return Unsupported("the model has no input for token ids, or no logits");
  return ports;
}

// Returns the index of the first largest element. NaN is never the largest. std::max_element takes 1 % of the
// time of a token, because each of its comparisons waits for the one before.
int64_t IndexOfLargest(const float* x, int64_t n) {
  constexpr int64_t kLanes = 16;
  float top[kLanes];
  std::fill(top, top + kLanes, -std::numeric_limits<float>::infinity());
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane)
      top[lane] = x[i + lane] > top[lane] ? x[i + lane] : top[lane];
  for (; i < n; ++i) top[0] = x[i] > top[0] ? x[i] : top[0];
  const float* found = std::find(x, x + n, *std::max_element(top, top + kLanes));
  return found == x + n ? 0 : found - x;
}

// A greedy decoder. It always chooses the most probable next token.
class Decoder {
 public:
  Decoder(Session& session, const Ports& ports) : session_(session), ports_(ports) {}

  // Runs the model on these tokens, which come after the tokens of earlier calls. Returns the most probable
  // next token.
  Result<int64_t> Next(const std::vector<int64_t>& tokens) {
    const auto n = static_cast<int64_t>(tokens.size());
    TERN_TRY(Feed(ports_.ids, n, [&](int64_t i) { return tokens[static_cast<size_t>(i)]; }));
    if (ports_.mask >= 0) TERN_TRY(Feed(ports_.mask, past_ + n, [](int64_t) { return 1; }));
    if (ports_.positions >= 0) TERN_TRY(Feed(ports_.positions, n, [&](int64_t i) { return past_ + i; }));
    TERN_TRY(session_.Run());
    past_ += n;
    const Tensor& logits = session_.Output(ports_.logits).tensor;
    if (logits.dtype() != DType::kF32 || logits.rank() < 2 || logits.size() == 0)
      return Unsupported("output ", ports_.logits, " is ", logits.Describe(), ", not f32 logits");
    const float* last = logits.data<const float>() + logits.size() - logits.dim(-1);
    return IndexOfLargest(last, logits.dim(-1));
  }

 private:
  template <class F> Status Feed(int input, int64_t n, const F& value) {
    Tensor& t = buffers_[input];
    const DType dtype = session_.graph().inputs()[static_cast<size_t>(input)]->type.dtype;
    const bool bound = t.defined() && t.dim(1) == n;  // if true, t is already bound
    if (!bound) t = Tensor(dtype, {1, n});
    for (int64_t i = 0; i < n; ++i) StoreLong(t, i, value(i));
    return bound ? Status() : session_.BindInput(input, t);
  }

  Session& session_;
  const Ports ports_;
  int64_t past_ = 0;
  std::map<int, Tensor> buffers_;
};

class GenerateTool : public Tool {
 public:
  const char* name() const override { return "generate"; }
  const char* summary() const override { return "continue a list of token ids with a language model"; }
  const char* examples() const override {
    return "  tern generate gpt2_with_past.onnx --prompt 464,3290 --tokens 20\n"
           "  tern generate decoder.onnx --state past_k=present_k,past_v=present_v --prompt 1 --tokens 100 --json\n";
  }
  void Declare(Args& args) override {
    args.Positional("MODEL", model_, "a decoder with inputs and outputs for the past");
    model_flags_.Declare(args);
    args.Option("--prompt", prompt_, "IDS", "continue these token ids, separated by commas (0)");
    args.Option("--tokens", tokens_, "N", "generate N tokens (16)", 1, 1'000'000);
    args.Option(
        "--state", state_, "PAIRS",
        "the states, which the session stores between runs: auto finds them by their names, PAST=PRESENT,… lists them as pairs of an input and an output (auto)");
    engine_.Declare(args, EngineFlags::kThreads | EngineFlags::kPrecision);
    args.Option(
        "--read-peak", read_bytes_, "BYTES",
        "every 8 tokens, measure how long reading BYTES bytes of memory takes; --json prints the times", 1,
        int64_t{1} << 40);
    args.Flag("--json", json_, "print one JSON object, with times");
  }
  Result<int> Run(const Args& args) override;

 private:
  Result<std::vector<int64_t>> Prompt() const;
  // Generates tokens_ tokens after the prompt.
  Status Generate(Decoder& decoder, std::vector<int64_t> prompt, int threads);
  Status Print(const Session& session) const;

  std::string model_, prompt_ = "0", state_ = "auto";
  int64_t tokens_ = 16, read_bytes_ = 0;
  std::vector<int64_t> generated_;          // tokens
  std::vector<double> token_ms_, read_ms_;  // milliseconds per token, and per pass over read_bytes_
  bool json_ = false;
  EngineFlags engine_;
  ModelFlags model_flags_;
};

Result<std::vector<int64_t>> GenerateTool::Prompt() const {
  std::vector<int64_t> ids;
  for (const std::string& text : SplitText(prompt_, ',')) {
    int64_t id = 0;
    if (!ParseInt(text, id) || id < 0) return InvalidArgument("--prompt: '", text, "' is not a token id");
    ids.push_back(id);
  }
  if (ids.empty()) return InvalidArgument("--prompt needs at least one token id");
  return ids;
}

Result<int> GenerateTool::Run(const Args& args) {
  TERN_ASSIGN(std::vector<int64_t> prompt, Prompt());
  TERN_ASSIGN(SessionOptions options, engine_.Options(args));
  if (const Status states = CheckStatesText(state_); !states.ok())
    return InvalidArgument("--state ", state_, ": ", states.message());
  options.states = state_;
  TERN_ASSIGN(std::unique_ptr<Graph> graph, LoadModel(model_, model_flags_.Options(options.threads)));
  TERN_ASSIGN(const std::unique_ptr<Session> session, Session::Create(std::move(graph), options));
  if (session->graph().states().empty())
    return InvalidArgument(
        "--state ", state_, " finds no states in '", model_,
        "': a state is a pair of an input and an output, such as past_key_values.0.key and present.0.key");
  TERN_ASSIGN(const Ports ports, FindPorts(*session));
  Decoder decoder(*session, ports);
  TERN_TRY(Generate(decoder, std::move(prompt), static_cast<int>(options.threads)));
  TERN_TRY(Print(*session));
  return 0;
}

Status GenerateTool::Generate(Decoder& decoder, std::vector<int64_t> prompt, int threads) {
  constexpr int64_t kTokensPerRead = 8;
  const Workers workers(threads);
  std::optional<cpu::ReadProbe> probe;
  if (read_bytes_ > 0) probe.emplace(static_cast<size_t>(read_bytes_), workers);
  generated_.reserve(static_cast<size_t>(tokens_));
  token_ms_.reserve(static_cast<size_t>(tokens_));
  std::vector<int64_t> next = std::move(prompt);
  for (int64_t i = 0; i < tokens_; ++i) {
    if (probe && i % kTokensPerRead == 0) read_ms_.push_back(1e3 * probe->Seconds());
    const Stopwatch watch;
    TERN_ASSIGN(const int64_t token, decoder.Next(next));
    token_ms_.push_back(watch.Milliseconds());
    generated_.push_back(token);
    next.assign(1, token);
  }
  return {};
}

Status GenerateTool::Print(const Session& session) const {
  if (!json_) {
    std::vector<std::string> texts;
    for (int64_t token : generated_) texts.push_back(StrCat(token));
    fmt::print("{}\n", Join(texts, ","));
    for (const std::string& warning : session.Warnings()) fmt::print(stderr, "tern: warning: {}\n", warning);
    return {};
  }
  // The time of all tokens except the first three, in ms. The times of the first three include the prompt
  // and the compilation of plans.
  double decoding = 0;
  const size_t first = std::min<size_t>(token_ms_.size(), 3);
  for (size_t i = first; i < token_ms_.size(); ++i) decoding += token_ms_[i];
  data::JsonWriter json;
  json.BeginObject();
  json.Key("tokens").BeginArray();
  for (int64_t token : generated_) json.Int(token);
  json.EndArray();
  json.Key("tokens_per_second")
      .Number(decoding > 0 ? 1e3 * static_cast<double>(token_ms_.size() - first) / decoding : 0);
  json.Key("milliseconds").BeginArray();
  for (double t : token_ms_) json.Number(t);
  json.EndArray();
  json.Key("read_milliseconds").BeginArray();
  for (double t : read_ms_) json.Number(t);
  json.EndArray();
  json.Key("plans").Int(session.PlansMade());
  json.Key("warnings").BeginArray();
  for (const std::string& warning : session.Warnings()) json.Text(warning);
  json.EndArray();
  json.EndObject();
  fmt::print("{}\n", json.text());
  return {};
}

}  // namespace

TERN_TOOL(Generate) { return std::make_unique<GenerateTool>(); }

}  // namespace tern::tools

// Finds pairs of past and present by the names that exporters give them.
#include <algorithm>

#include "ir/state.h"

namespace tern {
namespace {

// The kind of state that the names of a pair imply. One axis of a cache grows, and no axis of a fixed state
// grows. The kind decides only if the dims do not show whether an axis grows.
enum class Kind { kCache, kFixed };

// If a part of an input's name is `past`, the output's name has `present` in its place. Parts are separated
// by '.', '_' and '/'.
struct NamePattern {
  const char* past;
  const char* present;
  Kind kind;
  bool with_noun = false;  // applies only to names that also contain a noun such as "state" (NamesAState)
};
constexpr NamePattern kPatterns[] = {
    {"past_key_values", "present", Kind::kCache},             // optimum
    {"past_key_values", "present_key_values", Kind::kCache},  // transformers' own names
    {"past_key_values", "new_key_values", Kind::kCache},
    {"past", "present", Kind::kCache},  // onnxruntime: past_0, past_key_self_0, past_self_key_0
    {"pkv", "present_pkv", Kind::kCache},
    {"pkv", "new_pkv", Kind::kCache},
    {"in", "out", Kind::kFixed, true},  // h_in, hidden_in, state.0.in
    {"prev", "next", Kind::kFixed, true},
    {"h0", "hn", Kind::kFixed},
    {"c0", "cn", Kind::kFixed},
    {"h_0", "h_n", Kind::kFixed},
    {"c_0", "c_n", Kind::kFixed},
};

bool Separates(char c) { return c == '.' || c == '_' || c == '/'; }

// Returns the position of `part` in `name`. On each side of the part must be a separator, or the start or end
// of the name. Returns npos if there is no such part.
size_t FindPart(std::string_view name, std::string_view part) {
  for (size_t at = name.find(part); at != name.npos; at = name.find(part, at + 1)) {
    const size_t end = at + part.size();
    if ((at == 0 || Separates(name[at - 1])) && (end == name.size() || Separates(name[end]))) return at;
  }
  return name.npos;
}

// Returns true for names such as "h_in" and "state.0.in", which contain a noun. "in" and "out" alone do not
// name a state.
bool NamesAState(std::string_view name) {
  constexpr const char* kNouns[] = {"h",      "c",     "hx",     "cx",  "hidden", "cell", "state",
                                    "states", "cache", "memory", "mem", "rnn",    "lstm", "gru"};
  return std::any_of(std::begin(kNouns), std::end(kNouns),
                     [&](const char* noun) { return FindPart(name, noun) != name.npos; });
}

// Returns the growing axis of a pair, or -1 if no axis grows. Returns nullopt if the types do not match or do
// not determine the axis.
std::optional<int> GrowingAxis(const Type& past, const Type& present, Kind kind) {
  if (!past.tensor() || !present.tensor() || past.dtype != present.dtype) return std::nullopt;
  const int rank = past.shape.rank();
  if (rank < 0 || present.shape.rank() != rank) return std::nullopt;
  std::vector<int> growing, unclear;
  for (int i = 0; i < rank; ++i) {
    const Dim &from = past.shape[i], &to = present.shape[i];
    if (from == to) continue;
    const Dim growth = to - from;
    if (growth.known() && growth.value() < 0) return std::nullopt;
    (growth.NonNegative() ? growing : unclear).push_back(i);
  }
  if (growing.size() > 1) return std::nullopt;
  if (!growing.empty()) return growing[0];
  if (unclear.empty() || kind == Kind::kFixed) return -1;
  if (unclear.size() == 1) return unclear[0];
  // Chooses the axis whose symbol names a sequence, such as past_sequence_length.
  std::vector<int> sequences;
  for (int i : unclear) {
    const std::string dim = past.shape[i].ToString();
    if (dim.find("past") != dim.npos || dim.find("seq") != dim.npos || dim.find("len") != dim.npos)
      sequences.push_back(i);
  }
  return sequences.size() == 1 ? std::optional(sequences[0]) : std::nullopt;
}

int OutputNamed(const Graph& graph, std::string_view name) {
  const auto& outputs = graph.outputs();
  const auto it =
      std::find_if(outputs.begin(), outputs.end(), [&](const Value* v) { return v->name == name; });
  return it == outputs.end() ? -1 : static_cast<int>(it - outputs.begin());
}

std::optional<GraphState> StateOf(const Graph& graph, Value* past) {
  for (const NamePattern& pattern : kPatterns) {
    const size_t at = FindPart(past->name, pattern.past);
    if (at == past->name.npos) continue;
    if (pattern.with_noun && !NamesAState(past->name)) continue;
    std::string name = past->name;
    name.replace(at, std::string_view(pattern.past).size(), pattern.present);
    const int output = OutputNamed(graph, name);
    if (output < 0) continue;
    const Type& present = graph.outputs()[static_cast<size_t>(output)]->type;
    if (const auto axis = GrowingAxis(past->type, present, pattern.kind))
      return GraphState{past, output, *axis};
  }
  return std::nullopt;
}

using Names = std::pair<std::string_view, std::string_view>;

Result<Names> NamesOf(std::string_view pair) {
  const size_t middle = pair.find('=');
  if (middle == pair.npos || middle == 0 || middle + 1 == pair.size())
    return InvalidArgument("states must be auto, none or a list of PAST=PRESENT; got '", pair, "'");
  return Names(pair.substr(0, middle), pair.substr(middle + 1));
}

Result<GraphState> NamedState(const Graph& graph, std::string_view pair) {
  TERN_ASSIGN(const Names names, NamesOf(pair));
  const auto [past, present] = names;
  const auto& inputs = graph.inputs();
  const auto input = std::find_if(inputs.begin(), inputs.end(),
                                  [&name = names.first](const Value* v) { return v->name == name; });
  if (input == inputs.end()) return InvalidArgument("state '", pair, "': no input is named '", past, "'");
  const int output = OutputNamed(graph, present);
  if (output < 0) return InvalidArgument("state '", pair, "': no output is named '", present, "'");
  const Type& type = graph.outputs()[static_cast<size_t>(output)]->type;
  const auto axis = GrowingAxis((*input)->type, type, Kind::kCache);
  if (!axis)
    return InvalidArgument("state '", pair, "': the types may differ only along one axis that grows: ",
                           (*input)->type.ToString(), " and ", type.ToString());
  return GraphState{*input, output, *axis};
}

}  // namespace

std::vector<GraphState> FindStates(const Graph& graph) {
  std::vector<GraphState> states;
  for (Value* past : graph.inputs()) {
    const auto state = StateOf(graph, past);
    const auto same = [&](const GraphState& other) { return other.output == state->output; };
    if (state && std::none_of(states.begin(), states.end(), same)) states.push_back(*state);
  }
  return states;
}

Status CheckStatesText(std::string_view text) {
  if (text == "none" || text == "auto") return {};
  for (const std::string& pair : SplitText(text, ',')) TERN_TRY(NamesOf(pair).status());
  return {};
}

Result<std::vector<GraphState>> StatesFromText(const Graph& graph, std::string_view text) {
  std::vector<GraphState> states;
  if (text == "none") return states;
  if (text == "auto") return FindStates(graph);
  for (const std::string& pair : SplitText(text, ',')) {
    TERN_ASSIGN(const GraphState state, NamedState(graph, pair));
    const auto same = [&](const GraphState& other) {
      return other.output == state.output || other.input == state.input;
    };
    if (std::any_of(states.begin(), states.end(), same))
      return InvalidArgument("state '", pair, "': its input or output is part of another state");
    states.push_back(state);
  }
  return states;
}

}  // namespace tern

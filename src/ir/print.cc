#include <algorithm>
#include <cctype>
#include <map>

#include "base/unique_names.h"
#include "ir/float_text.h"
#include "ir/text.h"

namespace tern {
namespace {

// Returns true if the name of a value needs no quotes. A name with `//` needs them, because `//` starts a
// comment.
bool PlainName(const std::string& name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) ||
      name.find("//") != std::string::npos)
    return false;
  return std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.' || c == '/'; });
}

// Returns true if a name without a sigil ('%' or '#') needs no quotes.
bool PlainWord(const std::string& name) { return PlainName(name) && name[0] != '.' && name[0] != '/'; }

std::string ElementText(const Tensor& t, int64_t i) {
  if (t.dtype() == DType::kString) return QuoteText(t.data<std::string>()[i]);
  if (t.dtype() == DType::kU64) return StrCat(t.data<uint64_t>()[i]);
  if (IsComplex(t.dtype())) {
    const Tensor parts = ComplexParts(t);
    return StrCat(FloatText(parts, 2 * i), ":", FloatText(parts, 2 * i + 1));
  }
  if (IsFloat(t.dtype())) return FloatText(t, i);
  return StrCat(LoadLong(t, i));
}

std::string ElementsText(const Tensor& tensor, int64_t max_elements) {
  const Tensor t = tensor.Contiguous();
  if (t.size() > max_elements) return "(...)";
  std::string out = "(";
  for (int64_t i = 0; i < t.size(); ++i) out += (i ? ", " : "") + ElementText(t, i);
  return out + ")";
}

class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {}

  void Print(const Graph& graph, const std::string& keyword, int indent) {
    out += keyword + " @" + (PlainWord(graph.name) ? graph.name : QuoteText(graph.name)) + "(";
    for (size_t i = 0; i < graph.inputs().size(); ++i) {
      const Value* v = graph.inputs()[i];
      out += StrCat(i ? ", " : "", NameOf(v), ": ", v->type.ToString());
    }
    // Numbers unnamed outputs before the values of the body, because the outputs are printed first.
    out += ") -> (";
    for (size_t i = 0; i < graph.outputs().size(); ++i)
      out += StrCat(i ? ", " : "", NameOf(graph.outputs()[i]));
    out += ") {\n";
    const std::string pad(static_cast<size_t>(indent) + 2, ' ');
    for (const auto& [key, value] : graph.metadata)
      out += StrCat(pad, "meta ", QuoteText(key), " = ", QuoteText(value), "\n");
    for (const GraphState& state : graph.states()) PrintState(graph, state, pad);
    for (const auto& v : graph.values()) {
      if (!v->is_constant()) continue;
      const bool may_feed = std::find(graph.overridable().begin(), graph.overridable().end(), v.get()) !=
                            graph.overridable().end();
      out += StrCat(pad, may_feed ? "overridable " : "", NameOf(v.get()), ": ",
                    Describe(v->constant.dtype(), v->constant.dims()), " = ",
                    ElementsText(v->constant, options_.max_elements), "\n");
    }
    for (const auto& node : graph.nodes()) PrintNode(*node, indent + 2);
    out += std::string(static_cast<size_t>(indent), ' ') + "}";
  }

  std::string out;

 private:
  // Prints a state. Prints the index of the output only if the same value is also an earlier output.
  void PrintState(const Graph& graph, const GraphState& state, const std::string& pad) {
    const auto& outputs = graph.outputs();
    const auto present = outputs.begin() + state.output;
    std::string attrs = state.axis < 0 ? "" : StrCat("axis=", state.axis);
    if (std::find(outputs.begin(), present, *present) != present)
      attrs += StrCat(attrs.empty() ? "" : ", ", "output=", state.output);
    out += StrCat(pad, "state ", NameOf(state.input), " -> ", NameOf(*present),
                  attrs.empty() ? "" : " {" + attrs + "}", "\n");
  }

  void PrintNode(const Node& node, int indent) {
    out += std::string(static_cast<size_t>(indent), ' ');
    for (size_t i = 0; i < node.outputs().size(); ++i) {
      const Value* v = node.outputs()[i];
      out += StrCat(i ? ", " : "", NameOf(v), options_.types ? ": " + v->type.ToString() : "");
    }
    out += StrCat(node.outputs().empty() ? "" : " = ", node.op->name, "(");
    for (size_t i = 0; i < node.inputs().size(); ++i)
      out += StrCat(i ? ", " : "", node.inputs()[i] ? NameOf(node.inputs()[i]) : "_");
    out += ")";
    PrintAttrs(node.attrs);
    if (options_.names && !node.name.empty()) out += " as " + QuoteText(node.name);
    if (options_.names && !node.origin.empty()) out += " from " + QuoteText(node.origin);
    if (!node.subgraphs().empty()) {
      out += " [";
      for (size_t i = 0; i < node.subgraphs().size(); ++i) {
        const auto& roles = node.op->subgraphs;
        if (i) out += " ";
        Print(*node.subgraphs()[i], roles[std::min(i, roles.size() - 1)], indent);
      }
      out += "]";
    }
    out += "\n";
  }

  void PrintAttrs(const Attrs& attrs) {
    std::string text;
    for (const auto& e : attrs.List()) {
      if (e.is_default) continue;
      std::string value = AttrToText(e.value);
      if (auto* t = std::get_if<Tensor>(&e.value)) value += " " + ElementsText(*t, options_.max_elements);
      text += StrCat(text.empty() ? "" : ", ", e.name, "=", value);
    }
    if (!text.empty()) out += " {" + text + "}";
  }

  // Returns %name for a computed value and #name for a constant. An unnamed value gets a number. If another
  // value already has this name, a suffix such as `~1` is appended.
  std::string NameOf(const Value* v) {
    auto it = names_.find(v);
    if (it != names_.end()) return it->second;
    const char sigil = v->is_constant() ? '#' : '%';
    std::string base = v->name.empty() ? StrCat(next_++) : PlainName(v->name) ? v->name : QuoteText(v->name);
    return names_[v] = taken_.Make(sigil + base);
  }

  PrintOptions options_;
  std::map<const Value*, std::string> names_;
  UniqueNames taken_{"~"};
  int next_ = 0;
};

}  // namespace

std::string PrintGraph(const Graph& graph, const PrintOptions& options) {
  Printer printer(options);
  printer.Print(graph, "graph", 0);
  return printer.out + "\n";
}

std::string PrintGraphExactly(const Graph& graph) {
  PrintOptions options;
  options.max_elements = INT64_MAX;
  return PrintGraph(graph, options);
}

}  // namespace tern

#include "import/torch/export/output_keys.h"

#include <optional>

#include "base/strings.h"

namespace tern::torch {
namespace {

using Keys = std::vector<std::string>;

constexpr int kMaxTreeDepth = 100;
constexpr size_t kMaxKeyPath = 1000;  // bytes

// Returns the items of a list of `count` strings or integers, or nothing if it is another list.
Keys KeyList(Json list, size_t count) {
  simdjson::dom::array items;
  if (list.get(items)) return {};
  Keys keys;
  for (const Json item : items) {
    std::string_view text;
    int64_t number = 0;
    if (keys.size() == count) return {};
    if (!item.get(text))
      keys.emplace_back(text);
    else if (!item.get(number))
      keys.push_back(StrCat(number));
    else
      return {};
  }
  return keys.size() == count ? keys : Keys();
}

// Returns the keys in the context of a node of `type`. The context of a dict or of Hugging Face's ModelOutput
// is the list of its keys, that of a defaultdict has this list as a member, and that of a dataclass is the
// list of its fields and then the list of the fields that are None.
Keys KeysInContext(Json context, std::string_view type, size_t count) {
  Keys keys = KeyList(context, count);
  if (!keys.empty()) return keys;
  if (const auto list = Find(context, "dict_context")) return KeyList(*list, count);
  simdjson::dom::array parts;
  const bool standard = StartsWith(type, "builtins.") || StartsWith(type, "collections.");
  if (standard || context.get(parts) || parts.size() != 2) return {};
  return KeyList(*parts.begin(), count);
}

// Reads the tree of torch.utils._pytree, whose nodes are containers and whose leaves are the outputs.
class TreeReader {
 public:
  // `tuples` maps the type names of namedtuples to their fields, if the program has such a map.
  TreeReader(std::optional<Json> tuples, size_t count) : tuples_(tuples), count_(count) {}

  // Appends the names of the leaves of a node. Returns false if the node is not as expected.
  bool Read(Json node, const std::string& name, int depth) {
    const auto list = Find(node, "children_spec");
    simdjson::dom::array children;
    if (depth > kMaxTreeDepth || name.size() > kMaxKeyPath || !list || list->get(children)) return false;
    const auto type = Find(node, "type");
    if (!type) {
      names.push_back(name);
      return names.size() <= count_;
    }
    size_t count = 0;
    for ([[maybe_unused]] const Json child : children) ++count;
    const Keys keys = KeysOf(node, *type, count);
    size_t i = 0;
    for (const Json child : children) {
      std::string part = keys.empty() ? StrCat(i) : keys[i];
      if (!name.empty())
        part = StrCat(name, "_", part);
      else if (keys.empty())
        part.clear();
      if (!Read(child, part, depth + 1)) return false;
      ++i;
    }
    return true;
  }

  std::vector<std::string> names;

 private:
  // Returns the keys of a node's children, or nothing if they have only indices.
  Keys KeysOf(Json node, Json type, size_t count) const {
    const auto context = Find(node, "context");
    std::string_view type_name, text;
    if (!context || type.get(type_name)) return {};
    if (context->get(text)) return KeysInContext(*context, type_name, count);
    if (const auto tuple = tuples_ ? Find(*tuples_, text) : std::nullopt) {
      const auto fields = Find(*tuple, "field_names");
      return fields ? KeyList(*fields, count) : Keys();
    }
    simdjson::dom::parser parser;
    Json parsed;
    if (parser.parse(std::string(text)).get(parsed)) return {};
    return KeysInContext(parsed, type_name, count);
  }

  std::optional<Json> tuples_;
  size_t count_;
};

}  // namespace

std::vector<std::string> OutputKeys(Json module, size_t count) {
  const auto calls = Find(module, "module_call_graph");
  simdjson::dom::array entries;
  if (!calls || calls->get(entries) || entries.size() == 0) return {};
  const auto signature = Find(*entries.begin(), "signature");  // the first entry is that of the root module
  const auto spec = signature ? Find(*signature, "out_spec") : std::nullopt;
  std::string_view text;
  if (!spec || spec->get(text)) return {};
  simdjson::dom::parser parser;
  simdjson::dom::array parts;  // the version of the format, and the tree
  if (parser.parse(std::string(text)).get(parts) || parts.size() != 2) return {};
  TreeReader reader(Find(module, "treespec_namedtuple_fields"), count);
  if (!reader.Read(*++parts.begin(), "", 0) || reader.names.size() != count) return {};
  return reader.names;
}

}  // namespace tern::torch

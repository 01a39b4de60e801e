#include "runtime/model/packs.h"

#include <set>

#include "ir/derived.h"
#include "ir/graph_hash.h"
#include "ir/tern_file.h"

namespace tern {
namespace {

std::string KeyOf(const DerivedName& name) {
  DerivedName key = name;
  for (auto& [source, checksum] : key.made_from) checksum = 0;
  return ToText(key);
}

uint64_t ChecksumOf(const Tensor& t) {
  const Tensor bytes = t.Contiguous();
  return Checksum(bytes.raw(), bytes.bytes());
}

using Constants = std::map<std::string, const Value*>;

// Returns the constants by name. The result is empty if two constants share a name.
Constants NamedConstants(const Graph& graph) {
  Constants named;
  for (const auto& v : graph.values())
    if (v->is_constant() && !v->name.empty() && !named.emplace(v->name, v.get()).second) return {};
  return named;
}

// Returns whether the pack was made from these constants. A constant matches if its checksum matches. It also
// matches if it is in the same buffer as the pack, because then both are from one file. Fills pack.made_from
// and pack.keep_alive.
bool FindSources(const DerivedName& name, const Constants& constants, Pack& pack) {
  for (const auto& [source, checksum] : name.made_from) {
    const auto it = constants.find(source);
    if (it == constants.end()) return false;
    const Tensor& weight = it->second->constant;
    if (!weight.buffer().SharesWith(pack.data.buffer()) && ChecksumOf(weight) != checksum) return false;
    pack.made_from.push_back(weight.raw());
    pack.keep_alive.push_back(weight.buffer());
  }
  return true;
}

}  // namespace

uint64_t HashOf(const Node& node) {
  std::string text;
  for (const auto& entry : node.attrs.List())
    if (!entry.name.starts_with("act")) text += StrCat(entry.name, "=", AttrToText(entry.value), ";");
  for (const auto& sub : node.subgraphs()) text += StrCat(HashOf(*sub), ";");
  return Checksum(text.data(), text.size());
}

std::string PackKey(const std::string& layout, const std::string& isa, const Node& node,
                    const std::vector<int>& inputs) {
  DerivedName name{StrCat("pack ", kPackFormat, " ", layout, " ", isa, " ", HashOf(node)), {}};
  for (int i : inputs) {
    if (node.input(i)->name.empty()) return {};
    name.what += StrCat(" ", i);
    name.made_from.emplace_back(node.input(i)->name, 0);
  }
  return ToText(name);
}

void NameConstants(Graph& graph) {
  std::set<std::string> names;
  for (const auto& v : graph.values())
    if (!v->is_constant()) names.insert(v->name);
  int64_t number = 0;
  for (const auto& v : graph.values()) {
    if (!v->is_constant()) continue;
    while (v->name.empty() || !names.insert(v->name).second) v->name = StrCat("weight_", number++);
  }
}

Packs PacksOf(const Graph& graph) {
  Packs packs;
  const Constants constants = NamedConstants(graph);
  for (const auto& [text, value] : constants) {
    const auto name = ParseDerivedName(text);
    if (!name) continue;
    Pack pack{value->constant, {}, {}};
    if (FindSources(*name, constants, pack)) packs[KeyOf(*name)] = std::move(pack);
  }
  return packs;
}

int SetPacks(Graph& graph, const Packs& packs) {
  graph.RemoveUnusedConstants();
  const Constants constants = NamedConstants(graph);
  int count = 0;
  for (const auto& [key, pack] : packs) {
    DerivedName name = *ParseDerivedName(key);
    bool matches = true;
    for (size_t i = 0; i < name.made_from.size() && matches; ++i) {
      const auto it = constants.find(name.made_from[i].first);
      matches = it != constants.end() && it->second->constant.raw() == pack.made_from[i];
      if (matches) name.made_from[i].second = ChecksumOf(it->second->constant);
    }
    if (!matches) continue;
    graph.AddConstant(pack.data, ToText(name));
    ++count;
  }
  return count;
}

}  // namespace tern

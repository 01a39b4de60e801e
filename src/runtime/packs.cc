#include "runtime/packs.h"

#include <set>

#include "ir/tern_file.h"
#include "kernels/cpu/simd/bf16.h"
#include "kernels/cpu/simd/simd.h"

namespace tern {
namespace {

constexpr const char* kPrefix = "tern.packed:";

bool IsPack(const Value& v) { return v.is_constant() && v.name.rfind(kPrefix, 0) == 0; }

// Two nodes may read one weight with different attributes: strides, factors.
uint64_t HashOf(const Attrs& attrs) {
  std::string text;
  for (const auto& entry : attrs.List()) text += StrCat(entry.name, "=", AttrToText(entry.value), ";");
  return Checksum(text.data(), text.size());
}

}  // namespace

std::string PackName(const std::string& kernel, const Node& node, int input) {
  const int set = 2 * static_cast<int>(cpu::ActiveSimd()) + cpu::ActiveBf16Products();
  return StrCat(kPrefix, kernel, ":", set, ":", HashOf(node.attrs), ":", node.input(input)->name);
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
  std::set<std::string> names;
  for (const auto& v : graph.values()) {
    if (!v->is_constant() || v->name.empty()) continue;
    if (!names.insert(v->name).second) return {};
    if (IsPack(*v)) packs.emplace(v->name, v->constant);
  }
  return packs;
}

void SetPacks(Graph& graph, const Packs& packs) {
  graph.RemoveUnusedConstants();
  for (const auto& [name, tensor] : packs) graph.AddConstant(tensor, name);
}

}  // namespace tern

// Tables of kernels: what each one can do, and which one is chosen for a node.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel_api/kernel.h"
#include "kernel_api/work.h"

namespace tern {

class KernelTable;

// What a kernel offers beyond computing its op. Every member is optional; null means that it does not.
struct KernelAbilities {
  // An operand number that stands for output 0.
  static constexpr int kResult = -1;

  // Estimates, see EstimatedMicroseconds.
  std::function<std::vector<Work>(const KernelQuery&)> work_of;
  std::function<double(const KernelQuery&)> cost_of;  // microseconds
  // For a query that is not legal: the reason, for people. An empty text: no reason is given.
  std::function<std::string(const KernelQuery&)> why_not;
  // Output 0 may overwrite an input of the same type and dims. Honoured for ops with the trait kInPlace only.
  bool in_place = true;
  // The layout of the weights that the kernel packs. Kernels of an op with the same one pack the same bytes
  // for the same attributes, once for all of them. Empty: weights are read as they are.
  std::string pack;
  // Whether an operand (an input's number, or kResult) may be stored as bf16 where the query says f32. Its
  // type in Resize is then bf16. Asked with the graph's types.
  std::function<bool(const KernelQuery&, int operand)> bf16_storage;
  // Whether the kernel can compute the only reader of its result as well, and never store that result. See
  // ResizeContext::with_next.
  std::function<bool(const KernelQuery& own, const KernelQuery& next)> fuses_next;
  // Whether output 0 may have a row stride larger than its rows, as a part of a Concat along the last axis.
  // See ResizeContext::row_stride.
  std::function<bool(const KernelQuery&)> row_stride;
  // Whether the kernel can append to a state in place instead of copying the past: input number `past`,
  // output number `present`. See ResizeContext::state_capacity.
  std::function<bool(const KernelQuery&, int past, int present)> state_in_place;
};

struct KernelEntry {
  std::string op;
  std::string name;                               // "cpu.conv.depthwise.f32": in profiles and reports
  std::function<bool(const KernelQuery&)> legal;  // types, ranks, attributes, which inputs are weights
  std::function<std::unique_ptr<Kernel>()> make;
  double cost = 1;  // relative to moving all operands once, for kernels without work_of and cost_of
  KernelAbilities can;
  const KernelTable* table = nullptr;  // that holds the entry; set by Add
};

// How long a legal kernel is estimated to take, on one thread: by can.work_of and the table's rates; else by
// can.cost_of; else `cost` times what moving all operands once takes. The unit is a microsecond of the
// processor that the rates were measured on, not of this machine.
double EstimatedMicroseconds(const KernelEntry& entry, const KernelQuery& query);

// The abilities that a kernel class declares by static members: WorkOf, CostOf, WhyNot, kInPlace, kPack,
// Bf16Storage, FusesNext, RowStride, StateInPlace.
template <class T> KernelAbilities AbilitiesOf() {
  KernelAbilities can;
  if constexpr (requires(const KernelQuery& q) { T::WorkOf(q); }) can.work_of = T::WorkOf;
  if constexpr (requires(const KernelQuery& q) { T::CostOf(q); }) can.cost_of = T::CostOf;
  if constexpr (requires(const KernelQuery& q) { T::WhyNot(q); }) can.why_not = T::WhyNot;
  if constexpr (requires { T::kInPlace; }) can.in_place = T::kInPlace;
  if constexpr (requires { T::kPack; }) can.pack = T::kPack;
  if constexpr (requires(const KernelQuery& q) { T::Bf16Storage(q, 0); }) can.bf16_storage = T::Bf16Storage;
  if constexpr (requires(const KernelQuery& q) { T::FusesNext(q, q); }) can.fuses_next = T::FusesNext;
  if constexpr (requires(const KernelQuery& q) { T::RowStride(q); }) can.row_stride = T::RowStride;
  if constexpr (requires(const KernelQuery& q) { T::StateInPlace(q, 0, 0); })
    can.state_in_place = T::StateInPlace;
  return can;
}

// The entry of a kernel class.
template <class T>
KernelEntry EntryOf(std::string op, std::string name, std::function<bool(const KernelQuery&)> legal,
                    double cost = 1) {
  KernelEntry entry;
  entry.op = std::move(op);
  entry.name = std::move(name);
  entry.legal = std::move(legal);
  entry.make = [] { return std::make_unique<T>(); };
  entry.cost = cost;
  entry.can = AbilitiesOf<T>();
  return entry;
}

// Kernels of one device. Filled once, then read by any thread. Entries point to their table, so it never
// moves.
class KernelTable {
 public:
  KernelTable();  // with rates that count a nanosecond for each product, byte and element
  explicit KernelTable(const Rates& rates) : rates_(&rates) {}
  KernelTable(KernelTable&& other) noexcept;  // before its entries are handed out
  KernelTable& operator=(const KernelTable&) = delete;

  void Add(KernelEntry entry);
  // table.Add<ReluKernel>("Unary", "cpu.relu.f32", [](const KernelQuery& q) { … });
  template <class T>
  void Add(std::string op, std::string name, std::function<bool(const KernelQuery&)> legal, double cost = 1) {
    Add(EntryOf<T>(std::move(op), std::move(name), std::move(legal), cost));
  }
  // The legal kernel with the least estimate, or null; the first of equal ones. pack: among those with this
  // one only.
  const KernelEntry* Select(const KernelQuery& query, const std::string* pack = nullptr) const;
  // All kernels of an op in the order of their registration.
  std::vector<const KernelEntry*> Of(std::string_view op) const;
  const Rates& rates() const { return *rates_; }

 private:
  const Rates* rates_;
  std::vector<std::unique_ptr<KernelEntry>> entries_;
  std::vector<std::pair<std::string, std::vector<const KernelEntry*>>> by_op_;  // sorted by name
};

}  // namespace tern

// Defines void TernKernels_Name(KernelTable& table); the build finds these lines.
#define TERN_KERNELS(Name) void TernKernels_##Name(KernelTable& table)

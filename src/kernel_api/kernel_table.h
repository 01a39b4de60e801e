// Kernel tables: the abilities of each kernel, and the selection of a kernel for a node.
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

// What a kernel supports beyond computing its op. Every member is optional; null: not supported.
struct KernelAbilities {
  // Operand index of output 0.
  static constexpr int kResult = -1;

  // Estimates, see EstimatedMicroseconds.
  std::function<std::vector<Work>(const KernelQuery&)> work_of;
  std::function<double(const KernelQuery&)> cost_of;  // microseconds
  // The reason why a query is not legal, for reports; may be empty.
  std::function<std::string(const KernelQuery&)> why_not;
  // Output 0 may overwrite an input of the same type and dims. Used only for ops with the trait kInPlace.
  bool in_place = true;
  // Name of the layout that the kernel packs its weights in. Kernels of an op with the same name share packed
  // weights: they must pack the same bytes for the same attributes. Empty: the kernel does not pack.
  std::string pack;
  // Whether an operand (an input's index, or kResult) that is f32 in the query may be stored as bf16. Its
  // type in Resize is then bf16.
  std::function<bool(const KernelQuery&, int operand)> bf16_storage;
  // Whether the kernel can also compute `next`, the only reader of its result, without storing that result.
  // See ResizeContext::with_next.
  std::function<bool(const KernelQuery& own, const KernelQuery& next)> fuses_next;
  // Whether the kernel can write output 0 with a row stride, as an input of a Concat along the last axis. See
  // ResizeContext::row_stride.
  std::function<bool(const KernelQuery&)> row_stride;
  // Whether the kernel can append to a state in place instead of copying the past. past: index of the input,
  // present: index of the output. All such pairs of a node become in-place states, or none: state_capacity.
  std::function<bool(const KernelQuery&, int past, int present)> state_in_place;
};

struct KernelEntry {
  std::string op;
  std::string name;                               // "cpu.conv.depthwise.f32": in profiles and reports
  std::function<bool(const KernelQuery&)> legal;  // types, ranks, attributes, which inputs are weights
  std::function<std::unique_ptr<Kernel>()> make;
  double cost = 1;  // estimate without work_of and cost_of: multiple of the time to move all operands once
  KernelAbilities can;
  const KernelTable* table = nullptr;  // the owner of the entry; set by Add
};

// Returns the estimated time of a legal kernel on one thread. Uses can.work_of and the table's rates if it is
// set, else can.cost_of, else `cost` times the time to move all operands once. The unit is a microsecond on
// the processor that the rates were measured on, not on this machine.
double EstimatedMicroseconds(const KernelEntry& entry, const KernelQuery& query);

// The abilities that a kernel class declares with static members: WorkOf, CostOf, WhyNot, kInPlace, kPack,
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

// Kernels of one device. Fill it on one thread; reading it afterwards is thread-safe. Entries point to their
// table, so a table in use must not move.
class KernelTable {
 public:
  KernelTable();  // with rates of 1 ns per multiply-add, byte and transformed element
  explicit KernelTable(const Rates& rates) : rates_(&rates) {}
  KernelTable(KernelTable&& other) noexcept;  // only while nothing refers to its entries
  KernelTable& operator=(const KernelTable&) = delete;

  void Add(KernelEntry entry);  // CHECKs that the op has no other kernel of this name
  // table.Add<ReluKernel>("Unary", "cpu.relu.f32", [](const KernelQuery& q) { … });
  template <class T>
  void Add(std::string op, std::string name, std::function<bool(const KernelQuery&)> legal, double cost = 1) {
    Add(EntryOf<T>(std::move(op), std::move(name), std::move(legal), cost));
  }
  // Returns the legal kernel with the lowest estimate, or null. The first one wins ties. pack: considers only
  // kernels with this pack layout.
  const KernelEntry* Select(const KernelQuery& query, const std::string* pack = nullptr) const;
  // All kernels of an op in the order of Add.
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

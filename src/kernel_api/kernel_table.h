// Kernel tables. A table lists kernels with their abilities, and selects a kernel for a node.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/selection.h"
#include "kernel_api/kernel.h"
#include "kernel_api/work.h"

namespace tern {

class KernelTable;

// What a kernel supports beyond computing its op. Every member is optional. A null function means that the
// kernel does not have the ability.
struct KernelAbilities {
  // The operand index that stands for output 0.
  static constexpr int kResult = -1;

  // Estimates of the run time, see EstimatedMicroseconds.
  std::function<std::vector<Work>(const KernelQuery&)> work_of;
  std::function<double(const KernelQuery&)> cost_of;  // microseconds
  // Returns the reason why the kernel is not legal for a query, for reports. The text may be empty.
  std::function<std::string(const KernelQuery&)> why_not;
  // Whether output 0 may overwrite an input of the same type and dims. Used only for ops with the trait
  // kInPlace.
  bool in_place = true;
  // Name of the layout that the kernel packs its weights in. Kernels of one op with equal `pack` share packed
  // weights, so they must pack the same bytes for the same attributes. An empty name means that the kernel
  // does not pack.
  std::string pack;
  // Whether the plan may store `operand`, which is f32 in the query, as bf16. `operand` is the index of an
  // input, or kResult. If the plan does so, the operand's type in Resize is bf16.
  std::function<bool(const KernelQuery&, int operand)> bf16_storage;
  // Whether the kernel can also compute the node `next` without storing its own result. `next` is the only
  // reader of this result. See ResizeContext::with_next.
  std::function<bool(const KernelQuery& own, const KernelQuery& next)> fuses_next;
  // Whether the kernel can write output 0 with a row stride. If a Concat along the last axis reads output 0,
  // the plan uses this ability, so that the kernel writes directly into the result of the Concat. See
  // ResizeContext::row_stride.
  std::function<bool(const KernelQuery&)> row_stride;
  // Whether the kernel can append to a state in place instead of copying the past. `past` is the index of the
  // input and `present` the index of the output. Either all such pairs of a node become in-place states or
  // none does. See ResizeContext::state_capacity.
  std::function<bool(const KernelQuery&, int past, int present)> state_in_place;
};

// The name of a kernel, which must be a string literal. The compiler evaluates whether the build contains the
// kernel (base/selection.h), so that a mini build drops the code of the other kernels.
class KernelName {
 public:
  // Suffixes of names that adapters add (runtime/bind/via_f32.h, via_nchw.h).
  static constexpr const char* kViaF32 = ".via_f32";
  static constexpr const char* kViaNchw = ".via_nchw";

  consteval KernelName(const char* text)  // NOLINT: implicit on purpose
      : text_(text),
        selected_(HasKernel(text)),
        via_f32_(HasKernel(text, kViaF32)),
        via_nchw_(HasKernel(text, kViaNchw)),
        both_(HasKernel(text, ".via_nchw.via_f32")) {}
  constexpr const char* text() const { return text_; }
  constexpr bool selected() const { return selected_; }  // whether the build contains the kernel
  constexpr bool via_f32() const { return via_f32_; }    // whether it contains the kernel with ViaF32
  // The same for the kernel with ViaNchw.
  constexpr bool via_nchw() const { return via_nchw_; }
  constexpr bool via_nchw_and_f32() const { return both_; }

 private:
  const char* text_;
  bool selected_, via_f32_, via_nchw_, both_;
};

struct KernelEntry {
  std::string op;
  std::string name;  // for profiles and reports: "cpu.conv.depthwise.f32"
  // Returns whether the kernel computes the node correctly. May test types, dims, attributes and IsWeight.
  std::function<bool(const KernelQuery&)> legal;
  std::function<std::unique_ptr<Kernel>()> make;
  // If work_of and cost_of are null, the estimated time is `cost` times the time to move all operands once.
  double cost = 1;
  KernelAbilities can;
  const KernelTable* table = nullptr;  // the owner of the entry; set by Add
};

// Returns the estimated time of a legal kernel on one thread. If can.work_of is not null, the table's rates
// convert each Work that work_of returns to a time, and the estimate is the sum of these times. Otherwise, if
// can.cost_of is not null, the estimate is its result. Otherwise the estimate is `cost` times the time to
// move all operands once. The unit is a microsecond on the processor that the rates were measured on, not on
// this machine.
double EstimatedMicroseconds(const KernelEntry& entry, const KernelQuery& query);

// Returns the abilities that kernel class T declares with static members: WorkOf, CostOf, WhyNot, kInPlace,
// kPack, Bf16Storage, FusesNext, RowStride, StateInPlace.
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

// Returns an entry for kernel class T, with the abilities that T declares.
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

// A list of kernels for one device. Fill the table on one thread. Afterwards, reading it is thread-safe. Each
// entry points to its table. Moving the table changes these pointers, so a table must not be moved while its
// entries are in use.
class KernelTable {
 public:
  KernelTable();  // the rates are 1 ns per multiply-add, per byte and per transformed element
  explicit KernelTable(const Rates& rates) : rates_(&rates) {}
  KernelTable(KernelTable&& other) noexcept;
  KernelTable& operator=(const KernelTable&) = delete;

  void Add(KernelEntry entry);  // fails a TERN_CHECK if the op has a kernel of this name
  // Adds the kernel if the build contains it. The function is inline in its callers, so that they do not
  // refer to kernels that the build leaves out. Example: table.Add<ReluKernel>("Unary", "cpu.relu.f32",
  // [](const KernelQuery& q) { … });
  template <class T, class Legal>
  [[gnu::always_inline]] void Add(const char* op, KernelName name, const Legal& legal, double cost = 1) {
    if (name.selected()) Add(EntryOf<T>(op, name.text(), legal, cost));
  }
  // Changes each entry, for example to observe when its kernel is made. Call it before the table is used.
  void Change(const std::function<void(KernelEntry&)>& change);
  // Returns the legal kernel with the lowest estimate, or null if no kernel is legal. Among equal estimates,
  // the kernel that was added first wins. If `pack` is not null, considers only kernels with this pack
  // layout.
  const KernelEntry* Select(const KernelQuery& query, const std::string* pack = nullptr) const;
  // Returns all kernels of an op, in the order in which they were added.
  std::vector<const KernelEntry*> Of(std::string_view op) const;
  const Rates& rates() const { return *rates_; }

 private:
  const Rates* rates_;
  std::vector<std::unique_ptr<KernelEntry>> entries_;
  std::vector<std::pair<std::string, std::vector<const KernelEntry*>>> by_op_;  // sorted by name
};

}  // namespace tern

// TERN_KERNELS(Name) { … } defines the function void TernKernels_Name(KernelTable& table). The build searches
// the sources for this macro and generates a call of every such function.
#define TERN_KERNELS(Name) void TernKernels_##Name(KernelTable& table)

#include "kernel_api/kernel_table.h"

#include <algorithm>

namespace tern {
namespace {

template <class List> auto Find(List& list, std::string_view op) {
  return std::lower_bound(list.begin(), list.end(), op,
                          [](const auto& row, std::string_view name) { return row.first < name; });
}

class UnitRates : public Rates {
 public:
  double Microseconds(const Work& w) const override {
    return 1e-3 * (w.products + w.weights + w.moved + w.transformed);
  }
};

double BytesOf(const std::vector<TensorInfo>& tensors) {
  double bytes = 0;
  for (const TensorInfo& t : tensors)
    if (t.dtype != DType::kInvalid)
      bytes += static_cast<double>(BitWidth(t.dtype)) / 8 * static_cast<double>(CountOf(t.dims));
  return bytes;
}

}  // namespace

double EstimatedMicroseconds(const KernelEntry& entry, const KernelQuery& query) {
  const Rates& rates = entry.table->rates();
  if (entry.can.work_of) {
    double sum = 0;
    for (const Work& work : entry.can.work_of(query)) sum += rates.Microseconds(work);
    return sum;
  }
  if (entry.can.cost_of) return entry.can.cost_of(query);
  Work move;
  move.moved = BytesOf(query.inputs) + BytesOf(query.outputs);
  return entry.cost * rates.Microseconds(move);
}

KernelTable::KernelTable(KernelTable&& other) noexcept
    : rates_(other.rates_), entries_(std::move(other.entries_)), by_op_(std::move(other.by_op_)) {
  for (const auto& entry : entries_) entry->table = this;
}

KernelTable::KernelTable() {
  static const UnitRates* rates = new UnitRates();
  rates_ = rates;
}

void KernelTable::Add(KernelEntry entry) {
  for (const KernelEntry* other : Of(entry.op))
    TERN_CHECK(other->name != entry.name, "op ", entry.op, " has two kernels named ", entry.name);
  entries_.push_back(std::make_unique<KernelEntry>(std::move(entry)));
  entries_.back()->table = this;
  const KernelEntry* added = entries_.back().get();
  auto row = Find(by_op_, added->op);
  if (row == by_op_.end() || row->first != added->op) row = by_op_.insert(row, {added->op, {}});
  row->second.push_back(added);
}

void KernelTable::Change(const std::function<void(KernelEntry&)>& change) {
  for (const auto& entry : entries_) change(*entry);
}

const KernelEntry* KernelTable::Select(const KernelQuery& query, const std::string* pack) const {
  const auto row = Find(by_op_, query.op().name);
  if (row == by_op_.end() || row->first != query.op().name) return nullptr;
  const KernelEntry* best = nullptr;
  double best_cost = 0;
  for (const KernelEntry* entry : row->second) {
    if ((pack && entry->can.pack != *pack) || !entry->legal(query)) continue;
    const double cost = EstimatedMicroseconds(*entry, query);
    if (best && cost >= best_cost) continue;
    best = entry;
    best_cost = cost;
  }
  return best;
}

std::vector<const KernelEntry*> KernelTable::Of(std::string_view op) const {
  const auto row = Find(by_op_, op);
  return row == by_op_.end() || row->first != op ? std::vector<const KernelEntry*>() : row->second;
}

}  // namespace tern

#include "ir/batch_items.h"

namespace tern {

bool BatchItems::Items(size_t i) {
  const Dims& dims = InDims(i);
  holds_[i] = !dims.empty() && dims[0] == items_;
  return holds_[i];
}

bool BatchItems::Broadcasts(size_t i) {
  const Dims &dims = InDims(i), &result = OutDims();
  if (dims.size() > result.size()) return false;
  holds_[i] = dims.size() == result.size() && dims[0] == items_ && items_ > 1;
  return holds_[i] || dims.size() < result.size() || dims[0] == 1;
}

bool BatchItems::AllBroadcast() {
  bool any_holds = false;
  for (size_t i = 0; i < holds_.size(); ++i) {
    if (!Has(i)) continue;
    if (!Broadcasts(i)) return false;
    any_holds |= holds_[i];
  }
  return any_holds;
}

bool BatchItems::AlongTrailingAxes() {
  for (size_t i = 1; i < holds_.size(); ++i)
    if (Has(i) && (!Broadcasts(i) || holds_[i])) return false;
  return AlongOtherAxis();
}

bool BatchItems::WithEpilogue() { return Fixed(1) && Fixed(2) && Items(0) && (!Has(3) || Broadcasts(3)); }

}  // namespace tern

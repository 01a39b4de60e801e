// Rules of single ops for OutputItemAxes. Each returns the axis of every output, or says why items would not
// be independent.
#pragma once
#include "passes/batch/items.h"

namespace tern {

using ItemAxes = Result<std::vector<int>>;
using ItemRule = ItemAxes (*)(const ItemQuery&);

// The rule of an op by its name; null if there is none.
ItemRule FindItemRule(std::string_view op);

ItemAxes AllOutputs(const ItemQuery& q, int axis);
ItemAxes WorksAlong(int axis);  // the error
// All inputs broadcast to output 0; inputs that hold items hold them in the same axis of it.
ItemAxes BroadcastItems(const ItemQuery& q);
// Fails unless input i broadcasts to the result and holds items in the same axis of it, or in none.
Status CheckBroadcast(const ItemQuery& q, int i, int axis);

// Products: passes/batch/product_rules.cc.
ItemAxes MatMulItems(const ItemQuery& q);
ItemAxes QMatMulItems(const ItemQuery& q);
ItemAxes EinsumItems(const ItemQuery& q);
ItemAxes AttentionItems(const ItemQuery& q);
ItemAxes RnnItems(const ItemQuery& q);
// Indices: passes/batch/index_rules.cc.
ItemAxes GatherItems(const ItemQuery& q);
ItemAxes SameAxisItems(const ItemQuery& q);
ItemAxes GatherNdItems(const ItemQuery& q);
ItemAxes ScatterNdItems(const ItemQuery& q);
ItemAxes OneHotItems(const ItemQuery& q);
// Sequences and optionals: passes/batch/sequence_rules.cc.
ItemAxes SequenceItems(const ItemQuery& q);
ItemAxes SequenceLengthItems(const ItemQuery& q);
ItemAxes SplitToSequenceItems(const ItemQuery& q);
ItemAxes ConcatFromSequenceItems(const ItemQuery& q);

}  // namespace tern

// For each op, a rule that OutputItemAxes calls. A rule returns, for every output, the axis that contains
// the items. If the items would not be independent, the rule returns an error with the reason.
#pragma once
#include "passes/batch/items.h"

namespace tern {

using ItemAxes = Result<std::vector<int>>;
using ItemRule = ItemAxes (*)(const ItemQuery&);

// Returns the rule of the op with this name, or null if the op has no rule.
ItemRule FindItemRule(std::string_view op);

// Returns `axis` for every output.
ItemAxes AllOutputs(const ItemQuery& q, int axis);
ItemAxes WorksAlong(int axis);  // returns the error "it works along axis …"
// For nodes whose inputs all broadcast to output 0. All inputs that contain items must have them in the same
// axis of output 0.
ItemAxes BroadcastItems(const ItemQuery& q);
// Input i broadcasts to the result, whose items are in `axis`. Fails if the input has items in another axis,
// or has no items but several elements along `axis`.
Status CheckBroadcast(const ItemQuery& q, int i, int axis);

// Defined in passes/batch/product_rules.cc:
ItemAxes MatMulItems(const ItemQuery& q);
ItemAxes QMatMulItems(const ItemQuery& q);
ItemAxes EinsumItems(const ItemQuery& q);
ItemAxes AttentionItems(const ItemQuery& q);
ItemAxes RnnItems(const ItemQuery& q);
// Defined in passes/batch/index_rules.cc:
ItemAxes GatherItems(const ItemQuery& q);
ItemAxes SameAxisItems(const ItemQuery& q);
ItemAxes GatherNdItems(const ItemQuery& q);
ItemAxes ScatterNdItems(const ItemQuery& q);
ItemAxes OneHotItems(const ItemQuery& q);
// Defined in passes/batch/sequence_rules.cc:
ItemAxes SequenceItems(const ItemQuery& q);
ItemAxes SequenceLengthItems(const ItemQuery& q);
ItemAxes SplitToSequenceItems(const ItemQuery& q);
ItemAxes ConcatFromSequenceItems(const ItemQuery& q);

}  // namespace tern

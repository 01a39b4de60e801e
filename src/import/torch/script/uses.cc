// Derives the rank, the element type and a size of an input from an operator that reads the input.
#include <algorithm>
#include <array>

#include "import/torch/script/inputs.h"

namespace tern::torch::script {
namespace {

struct UseRow {
  std::string_view op;
  size_t index;
  DType dtype;
  int rank;
  bool sure;
};

constexpr std::array kRows = {
    UseRow{"aten::embedding", 1, DType::kI64, 2, true},
    UseRow{"aten::embedding_bag", 1, DType::kI64, 1, true},
    UseRow{"aten::embedding_bag", 2, DType::kI64, 1, true},
    UseRow{"aten::one_hot", 0, DType::kI64, 1, true},
    UseRow{"aten::gather", 2, DType::kI64, 2, false},
    UseRow{"aten::index_select", 2, DType::kI64, 1, false},
    UseRow{"aten::masked_fill", 1, DType::kBool, 2, true},
    UseRow{"aten::masked_select", 1, DType::kBool, 2, true},
    UseRow{"aten::where", 0, DType::kBool, 2, false},
    UseRow{"aten::logical_not", 0, DType::kBool, 2, false},
    UseRow{"aten::__and__", 0, DType::kBool, 2, false},
    UseRow{"aten::__or__", 0, DType::kBool, 2, false},
    UseRow{"aten::bitwise_not", 0, DType::kBool, 2, false},
    UseRow{"aten::lstm", 0, DType::kF32, 3, true},
    UseRow{"aten::gru", 0, DType::kF32, 3, true},
    UseRow{"aten::rnn_tanh", 0, DType::kF32, 3, true},
    UseRow{"aten::rnn_relu", 0, DType::kF32, 3, true},
    UseRow{"aten::layer_norm", 0, DType::kF32, 3, false},
    UseRow{"aten::scaled_dot_product_attention", 0, DType::kF32, 4, false},
    UseRow{"aten::bmm", 0, DType::kF32, 3, true},
    UseRow{"aten::dim", 0, DType::kF32, 3, false},
    UseRow{"aten::prelu", 0, DType::kF32, 4, false},
    UseRow{"aten::pixel_shuffle", 0, DType::kF32, 4, true},
    UseRow{"aten::instance_norm", 0, DType::kF32, 4, false},
    UseRow{"aten::group_norm", 0, DType::kF32, 4, false},
    UseRow{"aten::batch_norm", 0, DType::kF32, 4, false},
};

bool Contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

int RankOf(const Item& item) { return item.tensor() ? item.arg.tensor->type().shape.rank() : -1; }

// Returns the least rank for which the axes of the call are valid.
int RankOfAxes(const CallSite& call) {
  int rank = 0;
  if (call.op == "aten::permute" && call.args.size() == 2 && call.args[1].Is(Item::Kind::kList))
    return static_cast<int>(call.args[1].cell->items.size());
  for (size_t i = 1; i < call.args.size(); ++i) {
    if (!call.args[i].known_int()) continue;
    const int64_t axis = call.args[i].arg.integer;
    if (axis > -16 && axis < 16) rank = std::max(rank, static_cast<int>(axis < 0 ? -axis : axis + 1));
  }
  return rank;
}

// Returns the size of an axis of a tensor argument, or -1 if it is not known.
int64_t SizeOf(const Item& item, int axis) {
  if (RankOf(item) <= axis) return -1;
  const Dim& d = item.arg.tensor->type().shape[axis];
  return d.known() ? d.value() : -1;
}

// Adds the number of channels or features of the input, which follows from the weights.
Use WithWeights(const CallSite& call, Use use) {
  const std::string& op = call.op;
  if (Contains(op, "conv") && call.args.size() > 1) {
    const bool transposed =
        Contains(op, "transpose") || (call.args.size() > 6 && call.args[6].number() &&
                                      call.args[6].arg.kind == Arg::Kind::kBool && call.args[6].arg.integer);
    int64_t groups = 1;
    const size_t at = op == "aten::_convolution" || op == "aten::convolution" ? 8 : 6;
    if (call.args.size() > at && call.args[at].known_int()) groups = call.args[at].arg.integer;
    use.axis = 1;
    use.size = transposed ? SizeOf(call.args[1], 0) : SizeOf(call.args[1], 1) * groups;
  } else if ((op == "aten::linear" || op == "aten::matmul" || op == "aten::addmm") && call.args.size() > 1) {
    use.axis = -1;
    use.size = SizeOf(call.args[1], op == "aten::linear" ? 1 : 0);
  } else if ((op == "aten::lstm" || op == "aten::gru" || op == "aten::rnn_tanh" || op == "aten::rnn_relu") &&
             call.args.size() > 2 && call.args[2].Is(Item::Kind::kList) &&
             !call.args[2].cell->items.empty()) {
    use.axis = -1;
    use.size = SizeOf(call.args[2].cell->items[0], 1);
  } else if (op == "aten::batch_norm" && call.args.size() > 3) {
    use.axis = 1;
    use.size = SizeOf(call.args[3], 0);
  } else if (op == "aten::layer_norm" && call.args.size() > 1 && call.args[1].list_or_tuple() &&
             !call.args[1].cell->items.empty()) {
    use.axis = -1;
    const Item& last = call.args[1].cell->items.back();
    if (last.known_int()) use.size = last.arg.integer;
  }
  return use;
}

Use TypeOfUse(const CallSite& call, size_t index) {
  for (const UseRow& row : kRows)
    if (row.op == call.op && row.index == index) return {row.dtype, row.rank, row.sure};
  if (Contains(call.op, "conv") && index == 0 && call.args.size() > 1 && RankOf(call.args[1]) > 2)
    return {DType::kF32, RankOf(call.args[1]), true};
  if (StartsWith(call.op, "aten::adaptive") || Contains(call.op, "pool") || Contains(call.op, "upsample") ||
      Contains(call.op, "pad")) {
    for (const auto& [text, rank] : {std::pair("1d", 3), std::pair("2d", 4), std::pair("3d", 5)})
      if (Contains(call.op, text)) return {DType::kF32, rank};
    return {DType::kF32, 4};
  }
  for (const char* op :
       {"aten::size", "aten::transpose", "aten::permute", "aten::flatten", "aten::select", "aten::slice",
        "aten::unsqueeze", "aten::squeeze", "aten::softmax", "aten::unbind", "aten::chunk", "aten::split"})
    if (call.op == op) {
      const bool adds = call.op == "aten::unsqueeze" || call.op == "aten::slice" ||
                        call.op == "aten::chunk" || call.op == "aten::split";
      const int axes = RankOfAxes(call);
      return {DType::kF32, std::max(adds || call.op == "aten::flatten" ? 2 : axes, 2)};
    }
  // A tensor that is compared with an int probably contains token ids.
  if ((call.op == "aten::eq" || call.op == "aten::ne") && call.args.size() == 2 &&
      call.args[1 - index].known_int())
    return {DType::kI64, 2};
  // Assumes an elementwise operator, whose operands have the same rank.
  if (call.args.size() > 1 && index < 2 && RankOf(call.args[1 - index]) > 0)
    return {DType::kF32, RankOf(call.args[1 - index])};
  return {};
}

}  // namespace

Use UseOf(const CallSite& call, size_t index) {
  const Use use = TypeOfUse(call, index);
  return index == 0 ? WithWeights(call, use) : use;
}

}  // namespace tern::torch::script

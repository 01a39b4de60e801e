#include "ops/quant/quant_map.h"

#include "ir/axis_map.h"
#include "ops/support/operands.h"

namespace tern {

QuantMap::QuantMap(const Dims& x, const Dims& scale, int64_t axis, int64_t block_size) {
  single_ = block_size == 0 && CountOf(scale) == 1;
  if (single_) return;
  const size_t at = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(x.size()) : axis);
  for (size_t i = at + 1; i < x.size(); ++i) inner_ *= x[i];
  length_ = x[at];
  blocked_ = block_size > 0;
  if (!blocked_) return;
  block_ = block_size;
  groups_ = scale[at];
}

size_t QuantMap::operator()(int64_t element) const {
  if (single_) return 0;
  const int64_t place = element / inner_ % length_;
  if (!blocked_) return static_cast<size_t>(place);
  const int64_t outer = element / inner_ / length_;
  return static_cast<size_t>((outer * groups_ + place / block_) * inner_ + element % inner_);
}

namespace {

Status CheckBlocks(const Shape& x, const Shape& scale, int axis, int64_t block_size) {
  if (scale.rank() != x.rank())
    return InvalidModel("blocked scale ", scale.ToString(), " must have the rank of x ", x.ToString());
  for (int i = 0; i < x.rank(); ++i) {
    const Dim wanted = i == axis ? CeilDiv(x[i], block_size) : x[i];
    if (Differ(scale[i], wanted))
      return InvalidModel("scale ", scale.ToString(), " must have size ", wanted.value(), " on axis ", i,
                          " for blocks of ", block_size, " along axis ", axis, " of x ", x.ToString());
  }
  return {};
}

Status CheckScale(const Shape& x, const Shape& scale, int64_t axis, int64_t block_size) {
  if (scale.rank() == 0 || (scale.rank() == 1 && scale[0].Is(1) && block_size == 0)) return {};
  TERN_ASSIGN(const int at, NormalizeAxis(axis, x.rank()));
  if (block_size > 0) return CheckBlocks(x, scale, at, block_size);
  if (scale.rank() != 1)
    return InvalidModel("scale ", scale.ToString(),
                        " must be a scalar or a vector unless block_size is given");
  if (Differ(scale[0], x[at]))
    return InvalidModel("scale has ", scale[0].value(), " elements, but axis ", at, " of x ", x.ToString(),
                        " has ", x[at].value());
  return {};
}

}  // namespace

Status CheckQuantShapes(const InferContext& c, int64_t axis, int64_t block_size) {
  const Shape &x = c.ShapeOf("x"), &scale = c.ShapeOf("scale");
  if (block_size < 0) return InvalidModel("block_size is ", block_size, ", but must not be negative");
  if (block_size > 0 && scale.rank() == 0)
    return InvalidModel("block_size is ", block_size, ", but scale is a scalar");
  if (x.ranked && scale.ranked) {
    TERN_TRY(CheckScale(x, scale, axis, block_size));
  }
  if (!c.Has("zero_point") || !scale.ranked || !c.ShapeOf("zero_point").ranked) return {};
  const Shape& zero = c.ShapeOf("zero_point");
  const auto is_single = [](const Shape& s) { return s.rank() == 0 || (s.rank() == 1 && s[0].Is(1)); };
  if (is_single(zero) && is_single(scale)) return {};
  bool same = zero.rank() == scale.rank();
  for (int i = 0; same && i < zero.rank(); ++i) same = !Differ(zero[i], scale[i]);
  return same ? Status()
              : InvalidModel("zero_point ", zero.ToString(), " must have the shape of scale ",
                             scale.ToString());
}

std::optional<AxisMap> ScaledAxes(const Node& node) {
  if (node.attrs.Int("block_size") != 0) return std::nullopt;
  return FirstOperandAxes(node);
}

void RenameScaledAxis(const Node& node, AxisRenaming& renaming) {
  if (!AllOnes(node.input(1))) renaming.MoveAxisAttr();
}

}  // namespace tern

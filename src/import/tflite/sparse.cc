// Reads sparse tensors. The dims of a tensor are split into blocks and visited in the traversal order. Each
// level of the traversal is dense or compressed. A compressed level lists the indices that occur, as in the
// format CSR.
#include <algorithm>
#include <cstring>

#include "import/tflite/tensor_info.h"

namespace tern::tflite {
namespace {

// The largest ratio of elements to stored elements. Without a limit, a small file could need any amount of
// memory.
constexpr size_t kMaxRatio = 4096;

std::vector<int64_t> IndicesOf(fb::SparseIndexVector type, const void* table) {
  if (!table) return {};
  if (type == fb::SparseIndexVector::Int32Vector)
    return LongsOf(static_cast<const fb::Int32Vector*>(table)->values());
  if (type == fb::SparseIndexVector::Uint16Vector)
    return LongsOf(static_cast<const fb::Uint16Vector*>(table)->values());
  if (type == fb::SparseIndexVector::Uint8Vector)
    return LongsOf(static_cast<const fb::Uint8Vector*>(table)->values());
  return {};
}

class Filler {
 public:
  Filler(const Buffer& stored, size_t width, Tensor& to)
      : stored_(stored), width_(width), count_(static_cast<int64_t>(stored.size() / width)), to_(to) {}

  // Reads the tables. Returns false if they contradict each other.
  bool Prepare(const fb::SparsityParameters& p) {
    const std::vector<int64_t> order = LongsOf(p.traversal_order()), blocks = LongsOf(p.block_map());
    const auto rank = static_cast<size_t>(to_.rank());
    if (blocks.size() > rank || order.size() != rank + blocks.size() || !p.dim_metadata() ||
        p.dim_metadata()->size() != order.size())
      return false;
    std::vector<int64_t> extents = to_.dims(), step(ContiguousStrides(to_.dims()));
    extents.resize(order.size(), 0), step.resize(order.size(), 0);
    if (!SplitBlocks(p, order, blocks, extents, step)) return false;
    std::vector<bool> seen(order.size());
    for (size_t level = 0; level < order.size(); ++level) {
      const int64_t axis = order[level];
      if (axis < 0 || axis >= static_cast<int64_t>(order.size()) || seen[static_cast<size_t>(axis)])
        return false;
      seen[static_cast<size_t>(axis)] = true;
      if (!AddLevel(*p.dim_metadata()->Get(static_cast<uint32_t>(level)), extents[static_cast<size_t>(axis)],
                    step[static_cast<size_t>(axis)]))
        return false;
    }
    return true;
  }

  // Visits the elements below `position`, which is an index of the levels before `level`. `offset` is the
  // place in the result.
  bool Visit(size_t level, int64_t position, int64_t offset) {
    if (level == levels_.size()) {
      if (position >= count_) return false;
      std::memcpy(static_cast<char*>(to_.raw()) + static_cast<size_t>(offset) * width_,
                  reinterpret_cast<const char*>(stored_.data()) + static_cast<size_t>(position) * width_,
                  width_);
      return true;
    }
    const Level& l = levels_[level];
    if (!l.compressed) {
      for (int64_t i = 0; i < l.extent; ++i)
        if (!Visit(level + 1, position * l.extent + i, offset + i * l.step)) return false;
      return true;
    }
    if (position + 1 >= static_cast<int64_t>(l.segments.size())) return false;
    const auto p = static_cast<size_t>(position);
    for (int64_t i = l.segments[p]; i < l.segments[p + 1]; ++i)
      if (!Visit(level + 1, i, offset + l.indices[static_cast<size_t>(i)] * l.step)) return false;
    return true;
  }

 private:
  struct Level {
    bool compressed;
    int64_t extent, step;  // the number of indices, and the distance of two indices in the result
    std::vector<int64_t> segments, indices;
  };

  // A block of axis a has as many elements as the level of the block says. Divides the extent of the axis by
  // it.
  static bool SplitBlocks(const fb::SparsityParameters& p, const std::vector<int64_t>& order,
                          const std::vector<int64_t>& blocks, std::vector<int64_t>& extents,
                          std::vector<int64_t>& step) {
    const size_t rank = order.size() - blocks.size();
    for (size_t i = 0; i < order.size(); ++i) {
      if (!p.dim_metadata()->Get(static_cast<uint32_t>(i))) return false;
      if (order[i] < static_cast<int64_t>(rank) || order[i] >= static_cast<int64_t>(order.size())) continue;
      const int64_t axis = blocks[static_cast<size_t>(order[i]) - rank];
      const int64_t size = p.dim_metadata()->Get(static_cast<uint32_t>(i))->dense_size();
      if (axis < 0 || axis >= static_cast<int64_t>(rank) || size < 1 ||
          extents[static_cast<size_t>(axis)] % size)
        return false;
      extents[static_cast<size_t>(order[i])] = size;
      step[static_cast<size_t>(order[i])] = step[static_cast<size_t>(axis)];
      extents[static_cast<size_t>(axis)] /= size;
      step[static_cast<size_t>(axis)] *= size;
    }
    return true;
  }

  bool AddLevel(const fb::DimensionMetadata& m, int64_t extent, int64_t step) {
    Level l{m.format() == 1, extent, step, {}, {}};
    if (!l.compressed && m.dense_size() != extent) return false;
    l.segments = IndicesOf(m.array_segments_type(), m.array_segments());
    l.indices = IndicesOf(m.array_indices_type(), m.array_indices());
    int64_t last = 0;
    for (int64_t s : l.segments) {
      if (s < last || s > static_cast<int64_t>(l.indices.size())) return false;
      last = s;
    }
    if (std::any_of(l.indices.begin(), l.indices.end(), [&](int64_t i) { return i < 0 || i >= extent; }))
      return false;
    levels_.push_back(std::move(l));
    return true;
  }

  const Buffer& stored_;
  size_t width_;
  int64_t count_;
  Tensor& to_;
  std::vector<Level> levels_;
};

}  // namespace

Result<Tensor> Densify(const fb::SparsityParameters& sparsity, const Buffer& stored, const TensorInfo& info) {
  if (BitWidth(info.dtype) < 8) return Unsupported(info.Describe(), ": sparse elements of less than 8 bits");
  const auto width = static_cast<size_t>(BitWidth(info.dtype)) / 8;
  const auto count = static_cast<size_t>(CountOf(info.dims));
  if (count / kMaxRatio > stored.size() / width + 1)
    return Unsupported(info.Describe(), " has ", count, " elements, of which only ", stored.size() / width,
                       " are stored");
  Tensor to(info.dtype, info.dims);
  Filler filler(stored, width, to);
  if (!filler.Prepare(sparsity) || !filler.Visit(0, 0, 0))
    return InvalidModel(info.Describe(), ": its tables of sparse indices contradict each other");
  return to;
}

}  // namespace tern::tflite

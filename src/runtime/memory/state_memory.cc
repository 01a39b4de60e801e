#include "runtime/memory/state_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/page_heap.h"

namespace tern {
namespace {

constexpr int64_t kFirstCapacity = 64;  // positions; the smallest capacity above 0

int64_t CountBetween(const Dims& dims, size_t first, size_t last) {
  int64_t count = 1;
  for (size_t i = first; i < last; ++i) count *= dims[i];
  return count;
}

}  // namespace

StateMemory::StateMemory(DType dtype, Dims dims, int axis)
    : dtype_(dtype), dims_(std::move(dims)), axis_(axis) {
  if (axis_ >= 0) dims_[static_cast<size_t>(axis_)] = 0;
  Reset();
}

size_t StateMemory::BytesFor(int64_t length) const {
  Dims dims = dims_;
  if (axis_ >= 0) dims[static_cast<size_t>(axis_)] = length;
  return BytesOf(dtype_, static_cast<size_t>(CountOf(dims)));
}

Buffer StateMemory::BufferFor(int64_t length) const {
  return AllocateLongLived(std::max<size_t>(1, BytesFor(length)));
}

int64_t StateMemory::CapacityFor(int64_t length) const {
  int64_t capacity = std::max(capacity_, kFirstCapacity);
  while (capacity < length) capacity *= 2;
  return capacity;
}

void StateMemory::SetPast() {
  if (past_.defined()) {
    if (axis_ >= 0) past_.SetDim(axis_, length_);
    past_.SetBuffer(now_);
  } else {
    past_ = Tensor::View(now_, dtype_, dims_);
  }
}

void StateMemory::Reset() {
  length_ = 0;
  if (axis_ >= 0) dims_[static_cast<size_t>(axis_)] = 0;
  if (!now_.defined()) now_ = BufferFor(0);
  if (axis_ < 0 && now_.size()) std::memset(now_.data(), 0, now_.size());
  SetPast();
}

// Copies row by row. The dims before axis_ index the rows, and each row has length_ positions.
void StateMemory::Move(int64_t capacity, bool strided) {
  const auto at = static_cast<size_t>(axis_);
  const auto rows = static_cast<size_t>(CountBetween(dims_, 0, at));
  const size_t position = BytesOf(dtype_, static_cast<size_t>(CountBetween(dims_, at + 1, dims_.size())));
  const size_t from = position * static_cast<size_t>(strided_ ? capacity_ : length_);
  const size_t to = position * static_cast<size_t>(strided ? capacity : length_);
  Buffer fresh = BufferFor(capacity), next = strided ? Buffer() : BufferFor(capacity);
  for (size_t row = 0; row < rows && length_ > 0; ++row)
    std::memcpy(fresh.data() + row * to, now_.data() + row * from, position * static_cast<size_t>(length_));
  now_ = std::move(fresh);
  next_ = std::move(next);
  capacity_ = capacity;
  strided_ = strided;
}

void StateMemory::Reserve(int64_t length, bool strided) {
  if (axis_ < 0) {
    if (!next_.defined()) next_ = BufferFor(0);
    return;
  }
  if (length <= capacity_ && strided == strided_) return;
  Move(CapacityFor(length), strided);
  SetPast();
}

void StateMemory::Advance(int64_t length) {
  if (!strided_) std::swap(now_, next_);
  length_ = axis_ >= 0 ? length : 0;
  if (axis_ >= 0) dims_[static_cast<size_t>(axis_)] = length;
  SetPast();
}

Status StateMemory::Set(const Tensor& value) {
  const bool fits = value.dtype() == dtype_ && value.dims().size() == dims_.size();
  for (size_t i = 0; fits && i < dims_.size(); ++i)
    if (static_cast<int>(i) != axis_ && value.dims()[i] != dims_[i])
      return InvalidArgument("a state of ", Describe(dtype_, dims_), " cannot be set to ", value.Describe());
  if (!fits)
    return InvalidArgument("a state of ", Describe(dtype_, dims_), " cannot be set to ", value.Describe());
  if (axis_ >= 0 && value.dim(axis_) == 0) {
    Reset();  // keeps the capacity
    return {};
  }
  const Tensor contiguous = value.Contiguous();
  if (axis_ >= 0) {
    const int64_t capacity = CapacityFor(value.dim(axis_));
    if (strided_ || capacity != capacity_) {
      // Both buffers are allocated before a member changes, because an allocation may throw.
      Buffer now = BufferFor(capacity), next = BufferFor(capacity);
      now_ = std::move(now), next_ = std::move(next);
      capacity_ = capacity;
      strided_ = false;
    }
    length_ = value.dim(axis_);
    dims_[static_cast<size_t>(axis_)] = length_;
  }
  if (contiguous.bytes()) std::memmove(now_.data(), contiguous.raw(), contiguous.bytes());
  SetPast();
  return {};
}

void StateMemory::Resize(int axis, int64_t rows, int64_t length) {
  TERN_CHECK(axis >= 0 && axis < axis_, "cannot resize axis ", axis, " of a state that grows along axis ",
             axis_);
  const auto first = static_cast<size_t>(axis), last = static_cast<size_t>(axis_);
  const int64_t old_rows = dims_[first], outer = CountBetween(dims_, 0, first);
  // Unlike other changes, this one also gives memory back.
  int64_t capacity = kFirstCapacity;
  while (capacity < std::max(length, length_)) capacity *= 2;
  if (!strided_ || capacity != capacity_) Move(capacity, true);
  const size_t row = BytesOf(dtype_, static_cast<size_t>(CountBetween(dims_, first + 1, last) * capacity *
                                                         CountBetween(dims_, last + 1, dims_.size())));
  const auto bytes = [&](int64_t count) { return row * static_cast<size_t>(count); };
  if (rows != old_rows && (outer != 1 || now_.size() < bytes(rows))) {
    Buffer fresh = AllocateLongLived(std::max<size_t>(1, bytes(outer * rows)));
    for (int64_t block = 0; block < outer; ++block)
      std::memcpy(fresh.data() + bytes(block * rows), now_.data() + bytes(block * old_rows),
                  bytes(std::min(rows, old_rows)));
    now_ = std::move(fresh);
  }
  dims_[first] = rows;
  dims_[last] = length_ = length;
  past_ = Tensor::View(now_, dtype_, dims_);
}

Tensor StateMemory::Memory() const {
  Dims dims = dims_;
  if (strided_) dims[static_cast<size_t>(axis_)] = capacity_;
  return Tensor::View(now_, dtype_, dims);
}

void StateMemory::PrepareMoveRows(int axis, const std::vector<RowMove>& moves) {
  const auto first = static_cast<size_t>(axis), last = axis_ < 0 ? dims_.size() : static_cast<size_t>(axis_);
  TERN_CHECK(first < last, "cannot move rows along axis ", axis, " of a state that grows along axis ", axis_);
  const auto rows = static_cast<size_t>(dims_[first]);
  if (std::none_of(moves.begin(), moves.end(), [&](const RowMove& move) { return move.to == rows; })) return;
  Dims dims(dims_.begin() + axis + 1, dims_.end());
  if (axis_ > axis && strided_) dims[static_cast<size_t>(axis_ - axis - 1)] = capacity_;
  const size_t bytes = BytesOf(dtype_, static_cast<size_t>(CountOf(dims)));
  if (spare_.size() < bytes) spare_ = Buffer::Allocate(bytes);
}

// A row consists of several runs of contiguous positions. The dims between `axis` and axis_ index the runs of
// a row.
void StateMemory::MoveRows(int axis, const std::vector<RowMove>& moves) {
  PrepareMoveRows(axis, moves);
  const auto first = static_cast<size_t>(axis), last = axis_ < 0 ? dims_.size() : static_cast<size_t>(axis_);
  const auto outer = static_cast<size_t>(CountBetween(dims_, 0, first));
  const auto rows = static_cast<size_t>(dims_[first]);
  auto runs = static_cast<size_t>(CountBetween(dims_, first + 1, last));
  const size_t position =
      BytesOf(dtype_, axis_ < 0 ? 1 : static_cast<size_t>(CountBetween(dims_, last + 1, dims_.size())));
  size_t used = position * static_cast<size_t>(axis_ < 0 ? 1 : length_);
  size_t stride = strided_ ? position * static_cast<size_t>(capacity_) : used;
  if (stride == used) stride = used *= std::exchange(runs, 1);
  const size_t row = runs * stride;
  for (size_t block = 0; block < outer && used; ++block) {
    std::byte* base = now_.data() + block * rows * row;
    const auto at = [&](size_t r) { return r < rows ? base + r * row : spare_.data(); };
    for (const RowMove& move : moves)
      for (size_t run = 0; run < runs; ++run)
        std::memcpy(at(move.to) + run * stride, at(move.from) + run * stride, used);
  }
}

Tensor StateMemory::Value() const {
  if (!strided_) return past_.Clone();
  Tensor out(dtype_, dims_);
  const auto at = static_cast<size_t>(axis_);
  const auto rows = static_cast<size_t>(CountBetween(dims_, 0, at));
  const size_t position = BytesOf(dtype_, static_cast<size_t>(CountBetween(dims_, at + 1, dims_.size())));
  const size_t bytes = position * static_cast<size_t>(length_);
  for (size_t row = 0; row < rows && bytes; ++row)
    std::memcpy(out.data<std::byte>() + row * bytes,
                now_.data() + row * position * static_cast<size_t>(capacity_), bytes);
  return out;
}

}  // namespace tern

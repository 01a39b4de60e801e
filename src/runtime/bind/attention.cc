// Binds Attention and RotaryEmbedding to their CPU kernels.
#include "kernels/cpu/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/cpu/attention/rotary.h"
#include "kernels/cpu/move/copy.h"
#include "kernels/cpu/support/blocking.h"
#include "ops/attention/heads.h"
#include "runtime/bind/support.h"
#include "runtime/bind/via_f32.h"

namespace tern {
namespace {

std::string ListOf(const HeadDims& dims) { return Join(Dims(dims.begin(), dims.end()), ","); }

// The inputs are q, k, v, mask, past_k, past_v and lengths. The outputs are y, present_k, present_v and
// scores.
template <cpu::Operands kOperands> class Attention : public KernelOf<Attention<kOperands>> {
 public:
  static bool Legal(const KernelQuery& q) {
    // If the node has the input `lengths`, rows of k and v beyond the length may contain NaN. bf16
    // instructions process two adjacent keys together, so a valid key could share a pair with a NaN.
    if (kOperands == cpu::Operands::kBf16 && (!q.bf16 || q.Has(6))) return false;
    for (int i : {0, 1, 2, 4, 5})
      if (q.Has(i) && q.InType(i) != DType::kF32) return false;
    if (q.Has(3) && q.InType(3) != DType::kF32 && q.InType(3) != DType::kBool) return false;
    return q.OutType(0) == DType::kF32 && q.OutType(3) == DType::kInvalid && q.Has(4) == q.Has(5);
  }

  // Returns whether input number `past` and output number `present` may share the memory of a state. Then the
  // kernel appends the new keys or values in place.
  static bool StateInPlace(const KernelQuery& q, int past, int present) {
    // Inputs 4 and 5 are the same tensor.
    if (q.attrs().Bool("stacked")) return (past == 4 || past == 5) && present == 1;
    if (q.OutType(2) == DType::kInvalid) return false;  // appending needs present_v
    return (past == 4 && present == 1) || (past == 5 && present == 2);
  }

  Status Resize(ResizeContext& c) override {
    s_ = {};
    if (!std::exchange(attrs_read_, true)) ReadAttrs(c->attrs());
    TERN_TRY(SetShapes(c.query()));
    if (c->Has(4)) s_.past = *(c->InDims(4).rbegin() + 1);
    s_.keys += s_.past;
    capacity_ = c.state_capacity();
    if (capacity_ && s_.keys > capacity_)
      return InvalidArgument(s_.keys, " keys exceed the capacity of the state, ", capacity_);
    s_.scale = scale_ != 0
                   ? scale_
                   : static_cast<float>(1 / std::sqrt(static_cast<double>(std::max<int64_t>(1, s_.size))));
    s_.softcap = softcap_, s_.causal = causal_, s_.guarded = guarded_;
    if (c->Has(3)) TERN_TRY(SetMask(c->InType(3), c->InDims(3)));
    const bool covers_keys = s_.mask[3] <= 1 || s_.mask[3] == s_.keys;
    s_.operands = covers_keys ? kOperands : cpu::Operands::kF32;
    k_out_ = c->OutType(1) != DType::kInvalid, v_out_ = c->OutType(stacked_ ? 1 : 2) != DType::kInvalid;
    if (capacity_ && !(k_out_ && v_out_))
      return InvalidArgument("an in-place state needs both outputs, present_k and present_v");
    SetStrides(c.query());
    const size_t heads = static_cast<size_t>(s_.batch * s_.kv_heads);
    const auto scratch_bytes = [&](bool out, int64_t size) {
      return s_.past && !out ? cpu::Aligned(heads * static_cast<size_t>(s_.keys * size) * sizeof(float)) : 0;
    };
    k_bytes_ = scratch_bytes(k_out_, s_.size), v_bytes_ = scratch_bytes(v_out_, s_.value_size);
    c.SetScratch(k_bytes_ + v_bytes_ + cpu::AttentionScratch(s_, c.threads()));
    return {};
  }

  Status Run(RunContext& c) override {
    auto* scratch = c.scratch<std::byte>();
    cpu::AttentionTensors t;
    t.q = c.In<float>(0), t.y = c.Out<float>(0);
    const float* k = joint_ ? t.q + s_.heads * s_.size : c.In<float>(1);
    const float* v = joint_ ? k + s_.kv_heads * s_.size : c.In<float>(2);
    const int64_t rows = s_.batch * s_.kv_heads;
    const float* past_k = s_.past ? c.In<float>(4) : nullptr;
    const float* past_v = !s_.past ? nullptr : stacked_ ? past_k + rows * s_.past * s_.size : c.In<float>(5);
    float* k_out = k_out_ ? c.Out<float>(1) : nullptr;
    const int64_t capacity = capacity_ ? capacity_ : s_.keys;
    float* v_out = !v_out_ ? nullptr : stacked_ ? k_out + rows * capacity * s_.size : c.Out<float>(2);
    if (capacity_) {
      Append(c, k, k_, s_.size, k_out, s_.k), Append(c, v, v_, s_.value_size, v_out, s_.v);
      t.k = k_out, t.v = v_out;
    } else {
      t.k = Joined(c, k, past_k, k_out, k_, s_.size, s_.k, scratch);
      t.v = Joined(c, v, past_v, v_out, v_, s_.value_size, s_.v, scratch + k_bytes_);
    }
    if (c.Has(3)) t.mask = c.In(3).raw();
    if (c.Has(6)) {
      if (c.In(6).size() != s_.batch)
        return InvalidArgument("lengths has ", c.In(6).size(), " elements for a batch of ", s_.batch);
      if (c.In(6).dtype() == DType::kI64)
        t.lengths = c.In<int64_t>(6);
      else
        t.short_lengths = c.In<int32_t>(6);
    }
    cpu::ComputeAttention(s_, t, scratch + k_bytes_ + v_bytes_, c.workers());
    return {};
  }

 private:
  void ReadAttrs(const Attrs& a) {
    scale_ = a.Float("scale"), softcap_ = a.Float("softcap");
    q_heads_ = a.Int("q_heads"), kv_heads_ = a.Int("kv_heads");
    causal_ = a.Bool("causal"), guarded_ = a.Bool("guarded"), merged_ = a.Bool("merged");
    joint_ = a.Bool("joint"), stacked_ = a.Bool("stacked");
  }

  Status SetShapes(const KernelQuery& query) {
    if (joint_ && query.InRank(0) != 3)
      return InvalidArgument(
          "packed QKV input must be [batch, length, (q_heads + 2 * kv_heads) * head_size], got [",
          Join(query.InDims(0), ","), "]");
    TERN_ASSIGN(HeadDims q, SplitHeads("q", query.InDims(0), joint_ ? q_heads_ + 2 * kv_heads_ : q_heads_));
    HeadDims k = q, v = q;
    if (joint_) {
      q[1] = q_heads_, k[1] = v[1] = kv_heads_;
    } else {
      TERN_ASSIGN(k, SplitHeads("k", query.InDims(1), kv_heads_));
      TERN_ASSIGN(v, SplitHeads("v", query.InDims(2), kv_heads_));
    }
    s_.batch = q[0], s_.heads = q[1], s_.queries = q[2], s_.size = q[3];
    s_.kv_heads = k[1], s_.keys = k[2], s_.value_size = v[3];
    if (s_.heads != s_.kv_heads && (s_.kv_heads < 1 || s_.heads % s_.kv_heads))
      return InvalidArgument(s_.heads, " query heads are not a multiple of ", s_.kv_heads, " key heads");
    if (k[0] != s_.batch || v[0] != s_.batch || v[1] != k[1] || v[2] != k[2] || k[3] != s_.size)
      return InvalidArgument("k [", ListOf(k), "] and v [", ListOf(v),
                             "] do not match each other, or batch size ", s_.batch, " and head size ",
                             s_.size, " of q");
    if (stacked_ && k[3] != v[3])
      return InvalidArgument("keys of size ", k[3], " and values of size ", v[3], " cannot be stacked");
    TERN_TRY(CheckPast(query, 4, k));
    return stacked_ ? Status() : CheckPast(query, 5, v);
  }

  Status CheckPast(const KernelQuery& q, int past, const HeadDims& now) const {
    if (!q.Has(past)) return {};
    const Dims& dims = q.InDims(past);
    const size_t lead = stacked_ ? 1 : 0;
    const auto mismatch = [&] {
      const std::string length = past == 4 ? "past length" : StrCat(q.InDims(4)[2]);
      return InvalidArgument("input '", past == 4 ? "past_k" : "past_v", "' is [", Join(dims, ","),
                             "], but must be [", stacked_ ? "2," : "", now[0], ",", now[1], ",", length, ",",
                             now[3], "]", past == 4 ? "" : ", with the past length of past_k");
    };
    if (dims.size() != 4 + lead || (stacked_ && dims[0] != 2)) return mismatch();
    for (size_t i : {0, 1, 3})
      if (dims[lead + i] != now[i]) return mismatch();
    return stacked_ || dims[2] == q.InDims(4)[2] ? Status() : mismatch();
  }

  // k_ and v_ are the strides of the inputs. s_.k and s_.v are the strides of the keys and values that
  // cpu::ComputeAttention reads. These are either the inputs, or the past joined with the new rows.
  void SetStrides(const KernelQuery& query) {
    const auto strides = [](bool packed, int64_t heads, int64_t length, int64_t size) {
      return packed ? cpu::HeadStrides::Packed(heads, length, size)
                    : cpu::HeadStrides::Split(heads, length, size);
    };
    const int64_t fresh = s_.keys - s_.past;
    k_ = strides(query.InRank(1) == 3, s_.kv_heads, fresh, s_.size);
    v_ = strides(query.InRank(2) == 3, s_.kv_heads, fresh, s_.value_size);
    s_.q = strides(query.InRank(0) == 3, s_.heads, s_.queries, s_.size);
    if (joint_) s_.q = k_ = v_ = strides(true, s_.heads + 2 * s_.kv_heads, s_.queries, s_.size);
    s_.y = strides(merged_, s_.heads, s_.queries, s_.value_size);
    const bool k_joined = s_.past || query.OutType(1) != DType::kInvalid;
    const bool v_joined = s_.past || query.OutType(stacked_ ? 1 : 2) != DType::kInvalid;
    const int64_t capacity = capacity_ ? capacity_ : s_.keys;
    s_.k = k_joined ? cpu::HeadStrides::Split(s_.kv_heads, capacity, s_.size) : k_;
    s_.v = v_joined ? cpu::HeadStrides::Split(s_.kv_heads, capacity, s_.value_size) : v_;
  }

  Status SetMask(DType type, const Dims& mask) {
    if (mask.size() > 4)
      return InvalidArgument("mask has rank ", mask.size(), ", but at most 4 is supported");
    HeadDims m{1, 1, 1, 1};
    std::copy(mask.begin(), mask.end(), m.end() - static_cast<int64_t>(mask.size()));
    const int64_t scores[] = {s_.batch, s_.heads, s_.queries};
    for (size_t i = 0; i < 3; ++i)
      if (m[i] != 1 && m[i] != scores[i])
        return InvalidArgument("mask [", ListOf(m), "] does not broadcast to the scores");
    if (m[3] != 1 && m[3] > s_.keys)
      return InvalidArgument("mask [", ListOf(m), "] is longer than ", s_.keys, " keys");
    s_.mask = m;
    s_.bool_mask = type == DType::kBool;
    return {};
  }

  // Joins past and new rows in `out`, or in `scratch` if `out` is null, and returns the joined rows. Returns
  // x itself if there is neither a past nor `out`.
  const float* Joined(RunContext& c, const float* x, const float* past, float* out,
                      const cpu::HeadStrides& strides, int64_t size, const cpu::HeadStrides& to_strides,
                      std::byte* scratch) const {
    if (!s_.past && !out) return x;
    float* to = out ? out : reinterpret_cast<float*>(scratch);
    if (s_.past) {
      const auto past_strides = cpu::HeadStrides::Split(s_.kv_heads, s_.past, size);
      CopyRows(c, past, past_strides, s_.past, size, to, to_strides);
    }
    Append(c, x, strides, size, to, to_strides);
    return to;
  }

  // Copies the new rows behind the rows of the past.
  void Append(RunContext& c, const float* x, const cpu::HeadStrides& strides, int64_t size, float* to,
              const cpu::HeadStrides& to_strides) const {
    CopyRows(c, x, strides, s_.keys - s_.past, size, to + s_.past * to_strides.row, to_strides);
  }

  void CopyRows(RunContext& c, const float* from, const cpu::HeadStrides& strides, int64_t rows, int64_t size,
                float* to, const cpu::HeadStrides& to_strides) const {
    cpu::StridedCopy plan;
    plan.Add({s_.batch, strides.batch, to_strides.batch});
    plan.Add({s_.kv_heads, strides.head, to_strides.head});
    plan.Add({rows, strides.row, to_strides.row});
    plan.Add({size, 1, 1});
    cpu::Copy(plan, from, to, sizeof(float), c.workers());
  }

  cpu::AttentionShape s_;
  cpu::HeadStrides k_, v_;
  bool attrs_read_ = false;  // whether the attributes, which never change, have been read
  bool joint_ = false, stacked_ = false, causal_ = false, guarded_ = false, merged_ = false;
  float scale_ = 0, softcap_ = 0;
  int64_t q_heads_ = 0, kv_heads_ = 0;
  bool k_out_ = false, v_out_ = false;
  int64_t capacity_ = 0;  // maximum keys of the in-place state; 0 if past and present are separate tensors
  size_t k_bytes_ = 0, v_bytes_ = 0;
};

// The inputs are x, cos, sin and positions.
class Rotary : public KernelOf<Rotary> {
 public:
  static bool Legal(const KernelQuery& q) {
    for (int i : {0, 1, 2})
      if (q.InType(i) != DType::kF32) return false;
    return q.OutType(0) == DType::kF32;
  }
  Status Resize(ResizeContext& c) override {
    TERN_ASSIGN(const HeadDims x, SplitHeads("x", c->InDims(0), c->attrs().Int("heads")));
    s_.batch = x[0], s_.heads = x[1], s_.length = x[2], s_.size = x[3];
    s_.rotated = c->attrs().Int("size") ? c->attrs().Int("size") : s_.size;
    s_.interleaved = c->attrs().Bool("interleaved"), s_.packed = c->InRank(0) == 3;
    if (s_.rotated < 0 || s_.rotated % 2 || s_.rotated > s_.size)
      return InvalidArgument("cannot rotate ", s_.rotated, " of ", s_.size,
                             " features: the number must be even and from 0 to ", s_.size);
    const Dims &angles = c->InDims(1), &by_row = c->Has(3) ? c->InDims(3) : angles;
    const size_t rank = c->Has(3) ? 2 : 3;
    if (c->InDims(2) != angles || angles.size() != rank || angles.back() != s_.rotated / 2 ||
        by_row.size() != rank || (by_row[0] != x[0] && by_row[0] != 1) || by_row[1] != s_.length)
      return InvalidArgument("cos [", Join(angles, ","), "] and sin [", Join(c->InDims(2), ","),
                             "] do not match [", ListOf(x), "]");
    s_.shared = by_row[0] == 1;
    return {};
  }
  Status Run(RunContext& c) override {
    cpu::RotaryTensors t;
    t.x = c.In<float>(0), t.cosines = c.In<float>(1), t.sines = c.In<float>(2), t.y = c.Out<float>(0);
    if (c.Has(3) && c.In(3).dtype() == DType::kI64) {
      t.positions = c.In<int64_t>(3);
      TERN_TRY(CheckPositions(t.positions, c.In(3).size(), c.In(1).dim(0)));
    } else if (c.Has(3)) {
      t.short_positions = c.In<int32_t>(3);
      TERN_TRY(CheckPositions(t.short_positions, c.In(3).size(), c.In(1).dim(0)));
    }
    cpu::RotaryF32(s_, t, c.workers());
    return {};
  }

 private:
  template <class T> static Status CheckPositions(const T* positions, int64_t n, int64_t rows) {
    for (int64_t i = 0; i < n; ++i)
      if (positions[i] < 0 || positions[i] >= rows)
        return InvalidArgument("position ", positions[i], " is outside [0, ", rows,
                               "), the rows of cos and sin");
    return {};
  }

  cpu::RotaryShape s_;
};

}  // namespace

TERN_KERNELS(Attention) {
  using Bf16 = Attention<cpu::Operands::kBf16>;
  table.Add<Bf16>("Attention", "cpu.attention.bf16", Bf16::Legal, 0.5);
  AddWithHalf<Attention<cpu::Operands::kF32>>(table, "Attention", "cpu.attention.f32");
  AddWithHalf<Rotary>(table, "RotaryEmbedding", "cpu.rotary_embedding.f32");
}

}  // namespace tern

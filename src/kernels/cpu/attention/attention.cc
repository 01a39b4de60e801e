#include "kernels/cpu/attention/attention.h"

#include <algorithm>

#include "kernels/cpu/attention/attention_simd.h"
#include "kernels/cpu/gemm/panels.h"
#include "kernels/cpu/gemm/tile.h"
#include "kernels/cpu/simd/amx.h"
#include "kernels/cpu/support/blocking.h"
#include "kernels/cpu/support/job_rounds.h"

namespace tern::cpu {
namespace {

constexpr int64_t kFewQueries = 4;  // if there are fewer queries, neither keys nor values are packed
// Maximum queries per block, so that the scores of a block fit in the L2 cache: several tiles of 14 rows or
// less, or two of 32 rows.
int64_t MaxRows(const TileTable& table) { return table.rows > 28 ? 64 : 56; }
constexpr int64_t kMaxOneBlockKeys = 1024;      // up to this many keys form one block
constexpr int64_t kBlockKeys = 512;             // keys per block if there are more than kMaxOneBlockKeys keys
constexpr int64_t kMinWorkPerThread = 1 << 18;  // in multiply-adds
// The same if there are few queries. A multiply-add then takes longer, because it waits for memory.
constexpr int64_t kMinFewQueriesWork = 1 << 15;
// Size of the header of a thread's scratch memory, in floats. The header stores the index of the head whose
// panels are in this memory.
constexpr int64_t kHeader = 16;
constexpr int64_t kMaxSlots = 16;  // maximum query heads whose scores are in the scratch memory of a thread
constexpr int64_t kPad = 16;       // floats that are added to a row stride if rows would collide in the cache

bool RowsCollide(int64_t row) { return Collide(row, 1024); }

// Describes how the work is split. Only `parts` and `blocks_each` depend on the number of threads.
struct Blocking {
  int64_t group;                               // query heads per key-value head
  int64_t rows, row_blocks;                    // queries per block, number of blocks
  int64_t keys, score_row;                     // keys per block, row stride of scores
  bool few_queries;                            // keys and values are not packed
  int64_t heads_at_once;                       // key-value heads that a thread processes together
  bool copy;                                   // queries are copied, and rounded if the operands are bf16
  int64_t parts, blocks_each;                  // jobs per key-value head, blocks of queries per job
  int64_t slots;                               // query heads whose scores are in the scratch memory
  int64_t k_panels, v_panels, scores, copied;  // scratch buffers of a thread, in floats

  Blocking(const AttentionShape& s, int threads) {
    const TileTable& table = TileFor(s.operands);
    group = s.heads / std::max<int64_t>(1, s.kv_heads);
    few_queries = s.queries < kFewQueries;
    row_blocks = std::max<int64_t>(1, CeilDiv(s.queries, MaxRows(table)));
    rows = CeilDiv(s.queries, row_blocks);
    row_blocks = std::max<int64_t>(1, CeilDiv(s.queries, std::max<int64_t>(1, rows)));
    const int64_t step = table.columns;
    keys = s.keys <= kMaxOneBlockKeys ? s.keys : kBlockKeys / step * step;
    // A decoder has one query and one more key in each run. Its scratch memory has the same size in all runs.
    score_row = LineAligned(few_queries ? kMaxOneBlockKeys : std::max<int64_t>(1, keys));
    if (RowsCollide(score_row)) score_row += kPad;
    copy = !few_queries && (RowsCollide(s.q.row) || table.per_lane > 1);
    const int64_t heads = std::max<int64_t>(1, s.batch * s.kv_heads), blocks = group * row_blocks;
    parts =
        threads == 1 ? 1 : std::clamp<int64_t>(CeilDiv(threads * 4, heads), 1, std::max<int64_t>(1, blocks));
    blocks_each = CeilDiv(blocks, parts);
    parts = std::max<int64_t>(1, CeilDiv(blocks, std::max<int64_t>(1, blocks_each)));
    k_panels = few_queries ? 0 : LineAligned(PanelsSize(s.size, s.keys, s.operands));
    v_panels = few_queries ? 0 : LineAligned(PanelsSize(s.keys, s.value_size, s.operands));
    // If there are few queries, memory bandwidth limits the speed. A thread then reads the keys of several
    // heads, and after that their values, so that it seldom waits for the first bytes of a head.
    const int64_t most_at_once =
        few_queries && parts == 1 ? std::clamp<int64_t>(CeilDiv(heads, threads), 1,
                                                        kMaxSlots / std::clamp<int64_t>(group, 1, kMaxSlots))
                                  : 1;
    heads_at_once = keys == s.keys ? most_at_once : 1;
    slots = most_at_once > 1 ? most_at_once * group : 1;
    scores = slots * rows * score_row;
    copied = copy ? LineAligned(rows * (table.dwords(s.size) + kPad)) : 0;
  }
  size_t BytesPerThread() const {
    return static_cast<size_t>(kHeader + k_panels + v_panels + scores + copied +
                               (2 + slots) * LineAligned(rows)) *
           sizeof(float);
  }
};

// Computes attention of one head at a time, for one thread. Packed keys and values stay in the thread's
// scratch memory, so that the next job of the same head reuses them.
class Head {
 public:
  static void ForgetPanels(void* scratch) { *static_cast<int64_t*>(scratch) = -1; }

  Head(const AttentionShape& s, const AttentionTensors& t, const Blocking& blocking, float* scratch)
      : s_(s), t_(t), blocking_(blocking), tiles_(TileFor(s.operands)), simd_(AttentionSimd()) {
    const auto take = [&](int64_t n) {
      float* start = scratch;
      scratch += n;
      return start;
    };
    packed_ = reinterpret_cast<int64_t*>(take(kHeader));
    k_panels_ = take(blocking.k_panels), v_panels_ = take(blocking.v_panels);
    scores_ = take(blocking.scores), copied_ = take(blocking.copied);
    top_ = take(LineAligned(blocking.rows)), rescale_ = take(LineAligned(blocking.rows));
    sum_ = take(blocking.slots * LineAligned(blocking.rows));
  }

  void Start(int64_t b, int64_t kv_head) {
    b_ = b;
    k_ = t_.k + s_.k.At(b, kv_head, 0), v_ = t_.v + s_.v.At(b, kv_head, 0);
    const int64_t head_index = b * s_.kv_heads + kv_head;
    if (blocking_.few_queries || *packed_ == head_index) return;
    *packed_ = head_index;
    tiles_.pack_nearest(k_, 1, s_.k.row, s_.size, s_.keys, s_.scale, k_panels_);
    tiles_.pack_nearest(v_, s_.v.row, 1, s_.keys, s_.value_size, 1, v_panels_);
  }

  // Computes queries [first, first + count) of head h.
  void Run(int64_t h, int64_t first, int64_t count) {
    Select(h, first, count);
    if (blocking_.copy) CopyQueries();
    const int64_t seen = std::min(s_.keys, Seen(count - 1));
    int64_t from = 0;
    do {
      Block(from, std::clamp<int64_t>(seen - from, 0, blocking_.keys));
      from += blocking_.keys;
    } while (from < seen);
    Normalize();
  }

  // Computes all queries of the heads that share the key-value heads [begin, end) of all batch entries. There
  // are few queries, and their scores fit into the slots.
  void RunTogether(int64_t begin, int64_t end) {
    EachSlot(begin, end, [&](int64_t keys) { Dots(0, keys); });
    EachSlot(begin, end, [&](int64_t keys) { ToProbabilities(0, keys); });
    EachSlot(begin, end, [&](int64_t keys) {
      AddValues(0, keys);
      Normalize();
    });
  }

 private:
  void Select(int64_t h, int64_t first, int64_t count) {
    h_ = h, first_ = first, count_ = count;
    q_ = t_.q + s_.q.At(b_, h, first), q_row_ = s_.q.row;
    y_ = t_.y + s_.y.At(b_, h, first);
  }

  // Calls step(number of keys to process) for each query head, with its own scores and sums.
  template <class F> void EachSlot(int64_t begin, int64_t end, const F& step) {
    float *const scores = scores_, *const sum = sum_;
    for (int64_t head_index = begin; head_index < end; ++head_index) {
      Start(head_index / s_.kv_heads, head_index % s_.kv_heads);
      for (int64_t i = 0; i < blocking_.group; ++i) {
        Select(head_index % s_.kv_heads * blocking_.group + i, 0, s_.queries);
        step(std::clamp<int64_t>(Seen(count_ - 1), 0, s_.keys));
        scores_ += blocking_.rows * blocking_.score_row, sum_ += LineAligned(blocking_.rows);
      }
    }
    scores_ = scores, sum_ = sum;
  }

  void Normalize() {
    for (int64_t i = 0; i < count_; ++i) sum_[i] = 1 / sum_[i];
    simd_.scale(y_, s_.y.row, count_, s_.value_size, sum_, s_.guarded);
  }

  void CopyQueries() {
    const int64_t row = tiles_.dwords(s_.size) + kPad;
    for (int64_t i = 0; i < count_; ++i) tiles_.copy(q_ + i * q_row_, s_.size, copied_ + i * row);
    q_ = copied_, q_row_ = row;
  }

  // Returns the number n such that query i of the block attends only to keys [0, n). The mask may exclude
  // some of these keys.
  int64_t Seen(int64_t i) const {
    int64_t seen = s_.keys;
    if (s_.causal) seen = std::min(seen, first_ + i + s_.past + 1);
    if (t_.lengths) seen = std::min(seen, t_.lengths[b_]);
    if (t_.short_lengths) seen = std::min<int64_t>(seen, t_.short_lengths[b_]);
    if (t_.mask && s_.mask[3] != 1) seen = std::min(seen, s_.mask[3]);
    return std::max<int64_t>(0, seen);
  }

  // Computes c[count_, n] = a[count_, k] · b[k, n]. `panels` is b in packed form. k, a_row and panel_size are
  // in dwords.
  void Multiply(const float* a, int64_t a_row, int64_t k, const float* panels, int64_t panel_size, int64_t n,
                float* c, int64_t c_row, bool accumulate) const {
    Tile t;
    t.a_row = a_row, t.k = k, t.c_row = c_row, t.accumulate = accumulate;
    for (int64_t n0 = 0; n0 < n; n0 += tiles_.columns, panels += panel_size) {
      t.a = a, t.b = panels, t.c = c + n0;
      t.columns = std::min<int64_t>(tiles_.columns, n - n0);
      tiles_.RunRows(t, count_);
    }
  }

  // Processes keys [from, from + n). Computes their scores and probabilities, and adds their weighted values
  // to y.
  void Block(int64_t from, int64_t n) {
    const int64_t width = tiles_.columns, depth = tiles_.dwords(s_.size);
    if (blocking_.few_queries)
      Dots(from, n);
    else
      Multiply(q_, q_row_, depth, k_panels_ + from * depth, width * depth, n, scores_, blocking_.score_row,
               false);
    ToProbabilities(from, n);
    if (blocking_.few_queries)
      AddValues(from, n);
    else
      Combine(from, n);
  }

  // Computes the scores of keys [from, from + n) from keys that are not packed.
  void Dots(int64_t from, int64_t n) const {
    for (int64_t i = 0; i < count_; ++i)
      simd_.dots(q_ + i * q_row_, k_ + from * s_.k.row, s_.k.row, n, s_.size, s_.scale,
                 scores_ + i * blocking_.score_row);
  }

  // Same as Combine, for values that are not packed.
  void AddValues(int64_t from, int64_t n) const {
    for (int64_t i = 0; i < count_; ++i)
      simd_.combine(scores_ + i * blocking_.score_row, v_ + from * s_.v.row, s_.v.row, n, s_.value_size,
                    from > 0, y_ + i * s_.y.row);
  }

  // Adds the values of keys [from, from + n), weighted by their probabilities, to y. `from` must be a
  // multiple of tiles_.per_lane.
  void Combine(int64_t from, int64_t n) {
    const int64_t width = tiles_.columns;
    if (tiles_.per_lane > 1)
      for (int64_t i = 0; i < count_; ++i)
        tiles_.copy(scores_ + i * blocking_.score_row, n, scores_ + i * blocking_.score_row);
    Multiply(scores_, blocking_.score_row, tiles_.dwords(n), v_panels_ + tiles_.dwords(from) * width,
             width * tiles_.dwords(s_.keys), s_.value_size, y_, s_.y.row, from > 0);
  }

  // Replaces scores by exponentials (online softmax). If this block of keys raises the largest score of a
  // row, rescales the row of y accordingly.
  void ToProbabilities(int64_t from, int64_t n) {
    ScoreBlock block;
    block.scores = scores_, block.row = blocking_.score_row, block.rows = count_, block.keys = n;
    block.softcap = s_.softcap;
    block.seen = Seen(0) - from;
    block.top = top_, block.sum = sum_, block.rescale = rescale_;
    block.first = from == 0;
    if (t_.mask) SetMask(from, block);
    if (s_.causal) {
      // Row i of the block attends to i more keys than row 0, but to at most n keys.
      block.seen = first_ + s_.past + 1 - from, block.seen_step = 1;
    }
    simd_.probabilities(block);
    if (!block.first) simd_.scale(y_, s_.y.row, count_, s_.value_size, rescale_, false);
  }

  void SetMask(int64_t from, ScoreBlock& block) const {
    const auto at = [](int64_t index, int64_t dim) { return dim == 1 ? 0 : index; };
    const auto& m = s_.mask;
    const int64_t step = m[3] == 1 ? 0 : 1;
    const int64_t start =
        ((at(b_, m[0]) * m[1] + at(h_, m[1])) * m[2] + at(first_, m[2])) * m[3] + from * step;
    block.mask_row = m[2] == 1 ? 0 : m[3], block.mask_step = step;
    if (s_.bool_mask)
      block.shown = static_cast<const uint8_t*>(t_.mask) + start;
    else
      block.mask = static_cast<const float*>(t_.mask) + start;
  }

  const AttentionShape& s_;
  const AttentionTensors& t_;
  const Blocking& blocking_;
  const TileTable& tiles_;
  const AttentionTable& simd_;
  int64_t* packed_;  // index of the head whose panels are in the scratch memory
  float *k_panels_, *v_panels_, *scores_, *copied_, *top_, *sum_, *rescale_;
  int64_t b_ = 0, h_ = 0, first_ = 0, count_ = 0;
  const float *k_ = nullptr, *v_ = nullptr, *q_ = nullptr;
  int64_t q_row_ = 0;
  float* y_ = nullptr;
};

// Sets y to zero, which is the result if there are no keys.
void NoKeys(const AttentionShape& s, const AttentionTensors& t) {
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t h = 0; h < s.heads; ++h)
      for (int64_t i = 0; i < s.queries; ++i) {
        float* y = t.y + s.y.At(b, h, i);
        std::fill(y, y + s.value_size, 0.f);
      }
}

}  // namespace

size_t AttentionScratch(const AttentionShape& s, int threads) {
  return MostScratch(threads,
                     [&](int n) { return Blocking(s, n).BytesPerThread() * static_cast<size_t>(n); });
}

void ComputeAttention(const AttentionShape& s, const AttentionTensors& t, void* scratch,
                      const Workers& workers) {
  if (s.batch * s.kv_heads * s.queries * s.value_size <= 0) return;
  if (s.keys == 0) return NoKeys(s, t);
  const Blocking blocking(s, workers.threads());
  const size_t per_thread = blocking.BytesPerThread();
  const int64_t work = s.queries * blocking.group * s.keys * (s.size + s.value_size) / blocking.parts;
  const int64_t least = blocking.few_queries ? kMinFewQueriesWork : kMinWorkPerThread;
  const int64_t grain = std::max<int64_t>(1, least / std::max<int64_t>(1, work));
  const auto memory_of = [&](int worker) {
    return static_cast<char*>(scratch) + per_thread * static_cast<size_t>(worker);
  };
  if (blocking.heads_at_once > 1) {
    const int64_t together = std::max(grain, blocking.heads_at_once);
    return workers.ParallelFor(s.batch * s.kv_heads, together, [&](int64_t begin, int64_t end, int worker) {
      Head head(s, t, blocking, reinterpret_cast<float*>(memory_of(worker)));
      for (; begin < end; begin += blocking.heads_at_once)
        head.RunTogether(begin, std::min(begin + blocking.heads_at_once, end));
    });
  }
  for (int i = 0; i < workers.threads(); ++i) Head::ForgetPanels(memory_of(i));
  workers.ParallelFor(
      s.batch * s.kv_heads * blocking.parts, grain, [&](int64_t begin, int64_t end, int worker) {
        const TileScope scope;
        Head head(s, t, blocking, reinterpret_cast<float*>(memory_of(worker)));
        for (int64_t job = begin; job < end; ++job) {
          const int64_t head_index = job / blocking.parts, kv_head = head_index % s.kv_heads,
                        part = job % blocking.parts;
          head.Start(head_index / s.kv_heads, kv_head);
          const int64_t last =
              std::min(blocking.group * blocking.row_blocks, (part + 1) * blocking.blocks_each);
          for (int64_t block = part * blocking.blocks_each; block < last; ++block) {
            const int64_t first = block % blocking.row_blocks * blocking.rows;
            head.Run(kv_head * blocking.group + block / blocking.row_blocks, first,
                     std::min(blocking.rows, s.queries - first));
          }
        }
      });
}

}  // namespace tern::cpu

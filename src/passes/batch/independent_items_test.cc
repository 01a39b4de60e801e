// Each graph runs with a batch of three and with each of the three items alone. If the results differ, the
// graph must be refused. If a graph whose results are equal is refused, the table says so.
#include "passes/batch/independent_items.h"

#include <gtest/gtest.h>

#include <random>

#include "ir/evaluate.h"
#include "ir/text.h"
#include "ops/ops.h"

namespace tern {
namespace {

constexpr int64_t kBatch = 3, kOther = 3;  // sizes of the batch and of dims that the graph leaves open

enum class Items {
  kAlone,    // each item gets the result that it gets alone
  kMixed,    // the results differ
  kRefused,  // the results are equal, but this is not known
};

struct Row {
  Items items;
  const char* inputs;
  const char* body;  // computes %y
};

std::unique_ptr<Graph> Parsed(const std::string& text) {
  InitOps();
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().ToString() << "\n" << text;
  return graph.ok() ? std::move(*graph) : nullptr;
}

std::string TextOf(const Row& row) {
  return StrCat("graph @g(", row.inputs, ") -> (%y) {\n", row.body, "\n}");
}

// Returns random values. Integers are from 0 to 2, so that they are valid indices and lengths.
Tensor RandomInput(const Value& input, std::mt19937& random) {
  Dims dims;
  for (const Dim& d : input.type.shape.dims) dims.push_back(d.known() ? d.value() : kOther);
  dims[0] = kBatch;
  Tensor t(input.type.dtype, dims);
  for (int64_t i = 0; i < t.size(); ++i)
    StoreDouble(t, i,
                IsInt(t.dtype()) ? static_cast<double>(random() % 3)
                                 : std::uniform_real_distribution<double>(-2, 2)(random));
  return t;
}

Tensor ItemOf(const Tensor& all, int64_t item) {
  Dims dims = all.dims();
  dims[0] = 1;
  Tensor one(all.dtype(), dims);
  for (int64_t i = 0; i < one.size(); ++i) StoreDouble(one, i, LoadDouble(all, item * one.size() + i));
  return one;
}

// Returns false if the elements of item `item` differ, or if `all` does not have one row per item.
bool SameItem(const Tensor& all, const Tensor& one, int64_t item) {
  Dims dims = one.dims();
  if (dims.empty() || dims[0] != 1) return false;
  dims[0] = kBatch;
  if (all.dims() != dims) return false;
  for (int64_t i = 0; i < one.size(); ++i) {
    const double a = LoadDouble(all, item * one.size() + i), b = LoadDouble(one, i);
    if (!(std::abs(a - b) <= 1e-5 * (1 + std::abs(b)))) return false;
  }
  return true;
}

// Returns true if a batch has the results of its items. A graph that fails in a batch only, or for an item
// alone, mixes its items.
bool RunsAlone(const Graph& graph) {
  std::mt19937 random(7);
  for (int attempt = 0; attempt < 3; ++attempt) {
    std::vector<Tensor> inputs;
    DatumList batch;
    for (const Value* input : graph.inputs()) {
      inputs.push_back(RandomInput(*input, random));
      batch.emplace_back(inputs.back());
    }
    const auto all = EvaluateGraph(graph, batch);
    for (int64_t item = 0; item < kBatch; ++item) {
      DatumList single;
      for (const Tensor& t : inputs) single.emplace_back(ItemOf(t, item));
      const auto one = EvaluateGraph(graph, single);
      if (!one.ok() || !all.ok() || !SameItem((*all)[0].tensor, (*one)[0].tensor, item)) return false;
    }
  }
  return true;
}

void Check(const Row& row) {
  const std::string text = TextOf(row);
  const auto graph = Parsed(text);
  if (!graph) return;
  const Status status = CheckIndependentItems(*graph);
  EXPECT_EQ(status.ok(), row.items == Items::kAlone) << status.ToString() << "\n" << text;
  EXPECT_EQ(RunsAlone(*graph), row.items != Items::kMixed) << text;
}

constexpr const char* kVector = "%x: f32[N]";
constexpr const char* kRows = "%x: f32[N,4]";
constexpr const char* kMatrices = "%x: f32[N,3,4]";
constexpr const char* kIndexed = "%x: f32[N,4], %i: i64[N,4]";

TEST(IndependentItems, OpsAlongAnAxis) {
  for (const Row& row : std::initializer_list<Row>{
           {Items::kMixed, kMatrices, "%y = Softmax(%x) {axis=0}"},
           {Items::kAlone, kMatrices, "%y = Softmax(%x) {axis=1}"},
           {Items::kAlone, kMatrices, "%y = Softmax(%x) {axis=-1}"},
           {Items::kMixed, kMatrices, "%y = Softmax(%x) {axis=-3}"},
           {Items::kMixed, kVector, "%y = Softmax(%x) {axis=-1}"},
           {Items::kMixed, kMatrices, "#a: i64[] = (0) %y = CumSum(%x, #a)"},
           {Items::kMixed, kMatrices, "#a: i64[] = (-3) %y = CumSum(%x, #a)"},
           {Items::kAlone, kMatrices, "#a: i64[] = (2) %y = CumSum(%x, #a)"},
           {Items::kMixed, kMatrices, "%k = Shape(%x) {start=0, end=1} %y, %i = TopK(%x, %k) {axis=0}"},
           {Items::kMixed, kMatrices, "#k: i64[1] = (1) %y, %i = TopK(%x, #k) {axis=0}"},
           {Items::kAlone, kMatrices, "#k: i64[1] = (2) %y, %i = TopK(%x, #k) {axis=1}"},
           {Items::kMixed, kMatrices, "%a = ArgMax(%x) {axis=0} %y = Cast(%a) {to=f32}"},
           {Items::kAlone, kMatrices, "%y = ArgMax(%x) {axis=2}"},
           {Items::kMixed, kMatrices, "%y = LayerNorm(%x) {axis=0}"},
           {Items::kAlone, kMatrices, "%y = LayerNorm(%x) {axis=1}"},
           {Items::kMixed, kMatrices, "%y = RmsNorm(%x) {axis=0}"},
           {Items::kMixed, kMatrices,
            "#a: i64[1] = (0) %m = ReduceMax(%x, #a) %y = Binary(%x, %m) {kind=\"sub\"}"},
           {Items::kMixed, kMatrices, "%m = ReduceMean(%x) %y = Binary(%x, %m) {kind=\"sub\"}"},
           {Items::kAlone, kMatrices, "#a: i64[2] = (1, 2) %y = ReduceMean(%x, #a) {keep_dims=false}"},
           {Items::kMixed, kMatrices, "#a: i64[2] = (0, 2) %y = ReduceMean(%x, #a)"},
           {Items::kMixed, kRows, "%y = Trilu(%x) {upper=false}"},
           {Items::kAlone, kMatrices, "%y = Trilu(%x) {upper=false}"},
           {Items::kMixed, kMatrices,
            "#l: i64[3] = (2, 3, 1) %y = ReverseSequence(%x, #l) {time_axis=0, batch_axis=1}"},
           {Items::kMixed, kMatrices, "%u = Unique(%x) {flatten=false, axis=0} %y = Identity(%u)"},
           {Items::kMixed, kMatrices, "%n = NonZero(%x) %y = Transpose(%n) {perm=[1,0]}"},
           {Items::kMixed, kRows, "%s, %z = DynamicScale(%x) %y = Binary(%x, %s) {kind=\"div\"}"},
           {Items::kMixed, kRows, "%y = EyeLike(%x)"}})
    Check(row);
}

TEST(IndependentItems, SelectedAndMovedItems) {
  for (
      const Row& row : std::initializer_list<Row>{
          {Items::kMixed, kMatrices, "#i: i64[1] = (0) %g = Gather(%x, #i) {axis=0} %y = %x + %g"},
          {Items::kAlone, kMatrices, "#i: i64[2] = (2, 0) %y = Gather(%x, #i) {axis=1}"},
          {Items::kMixed, "%x: f32[N,4], %i: i64[N]",
           "%n = Shape(%x) {start=0, end=1} %k = Binary(%i, %n) {kind=\"mod\"} %y = Gather(%x, %k) {axis=0}"},
          {Items::kAlone, "%i: i64[N]", "#t: f32[3,2] = (1,2,3,4,5,6) %y = Gather(#t, %i) {axis=0}"},
          {Items::kMixed, kMatrices, "#f: i64[1] = (0) #e: i64[1] = (1) %s = Slice(%x, #f, #e) %y = %x + %s"},
          {Items::kMixed, kMatrices,
           "#f: i64[1] = (-1) #e: i64[1] = (-1000) #a: i64[1] = (0) #s: i64[1] = (-1) %y = Slice(%x, #f, #e, #a, #s)"},
          {Items::kAlone, kMatrices, "#f: i64[1] = (0) #e: i64[1] = (1000000000) %y = Slice(%x, #f, #e)"},
          {Items::kAlone, kMatrices,
           "#f: i64[1] = (-1) #e: i64[1] = (-4) #a: i64[1] = (1) #s: i64[1] = (-1) %y = Slice(%x, #f, #e, #a, #s)"},
          {Items::kMixed, "%x: f32[N,4]",
           "#f: i64[1] = (0) #a: i64[1] = (1) %e = Shape(%x) {start=0, end=1} %s = Slice(%x, #f, %e, #a) %y = ReduceSum(%s, #a)"},
          {Items::kMixed, kMatrices, "%a, %b = Split(%x) {axis=0, num_outputs=2} %y = %x + %a"},
          {Items::kAlone, kMatrices, "%y, %b = Split(%x) {axis=2, num_outputs=2}"},
          {Items::kMixed, kMatrices, "%y = Concat(%x, %x) {axis=0}"},
          {Items::kAlone, kMatrices, "%y = Concat(%x, %x) {axis=1}"},
          {Items::kMixed, kMatrices, "#p: i64[6] = (1, 0, 0, -1, 0, 0) %y = Pad(%x, #p)"},
          {Items::kAlone, kMatrices, "#p: i64[6] = (0, 1, 0, 0, 0, 2) %y = Pad(%x, #p)"},
          {Items::kMixed, kMatrices, "#r: i64[3] = (2, 1, 1) %y = Tile(%x, #r)"},
          {Items::kAlone, kMatrices, "#r: i64[3] = (1, 2, 1) %y = Tile(%x, #r)"},
          {Items::kMixed, kMatrices, "#s: f32[3] = (1.4, 1, 1) %y = Resize(%x, _, #s) {mode=\"linear\"}"},
          {Items::kMixed, kIndexed,
           "%n = Shape(%x) {start=0, end=1} %k = Binary(%i, %n) {kind=\"mod\"} %y = GatherElements(%x, %k) {axis=0}"},
          {Items::kAlone, kIndexed, "%y = GatherElements(%x, %i) {axis=1}"},
          {Items::kMixed, "%x: f32[N,4], %i: i64[N,1]",
           "%n = Shape(%x) {start=0, end=1} %k = Binary(%i, %n) {kind=\"mod\"} %y = GatherND(%x, %k)"},
          {Items::kAlone, "%x: f32[N,4], %i: i64[N,1]", "%y = GatherND(%x, %i) {batch_dims=1}"},
          {Items::kMixed, kRows, "#i: i64[1,1] = (0) #u: f32[1,4] = (9, 8, 7, 6) %y = ScatterND(%x, #i, #u)"},
          {Items::kMixed, kRows,
           "#i: i64[1,4] = (0,0,0,0) #u: f32[1,4] = (9,8,7,6) %y = ScatterElements(%x, #i, #u) {axis=0}"},
          {Items::kAlone, "%i: i64[N]",
           "#d: i64[] = (3) #v: f32[2] = (0, 1) %y = OneHot(%i, #d, #v) {axis=-1}"},
          {Items::kMixed, "%i: i64[N]",
           "#d: i64[] = (3) #v: f32[2] = (0, 1) %y = OneHot(%i, #d, #v) {axis=0}"},
          {Items::kMixed, kMatrices,
           "#c: bool[1] = (1) %s = Compress(%x, #c) {flatten=false, axis=0} %y = %x + %s"}})
    Check(row);
}

TEST(IndependentItems, Layouts) {
  for (
      const Row& row : std::initializer_list<Row>{
          {Items::kAlone, kMatrices,
           "%t = Transpose(%x) {perm=[1,0,2]} %s = Softmax(%t) {axis=0} %y = Transpose(%s) {perm=[1,0,2]}"},
          {Items::kMixed, kMatrices,
           "%t = Transpose(%x) {perm=[1,0,2]} %s = Softmax(%t) {axis=1} %y = Transpose(%s) {perm=[1,0,2]}"},
          {Items::kMixed, kMatrices, "%y = Transpose(%x) {perm=[1,0,2]}"},
          {Items::kMixed, kMatrices,
           "#r: i64[2] = (-1, 4) #b: i64[3] = (-1, 3, 4) %s = Softmax(Reshape(%x, #r)) {axis=0} %y = Reshape(%s, #b)"},
          {Items::kAlone, kMatrices,
           "#r: i64[2] = (-1, 4) #b: i64[3] = (-1, 3, 4) %s = Softmax(Reshape(%x, #r)) {axis=1} %y = Reshape(%s, #b)"},
          {Items::kMixed, kMatrices,
           "#r: i64[3] = (3, -1, 4) %s = Softmax(Reshape(%x, #r)) {axis=0} %n = Shape(%x) %y = Reshape(%s, %n)"},
          {Items::kRefused, kMatrices,
           "#r: i64[3] = (3, -1, 4) %s = Softmax(Reshape(%x, #r)) {axis=2} %n = Shape(%x) %y = Reshape(%s, %n)"},
          {Items::kMixed, kMatrices, "#r: i64[2] = (-1, 4) %y = Reshape(%x, #r)"},
          {Items::kAlone, kMatrices, "%y = Flatten(%x)"},
          // A constant that a batch could have, too.
          {Items::kMixed, "%x: f32[N,61]",
           "#r: i64[2] = (61, -1) %s = Softmax(Reshape(%x, #r)) {axis=1} %n = Shape(%x) %y = Reshape(%s, %n)"},
          {Items::kMixed, "%x: f32[N,3]",
           "#r: i64[2] = (3, -1) %t = Reshape(%x, #r) %y = Transpose(%t) {perm=[1,0]}"},
          {Items::kAlone, kMatrices,
           "%n = Shape(%x) {start=0, end=1} #r: i64[1] = (-1) %s = Concat(%n, #r) {axis=0} %y = Reshape(%x, %s)"}})
    Check(row);
}

TEST(IndependentItems, Products) {
  for (
      const Row& row : std::initializer_list<Row>{
          {Items::kAlone, kRows, "#w: f32[4,2] = (1,2,3,4,5,6,7,8) %y = MatMul(%x, #w)"},
          {Items::kAlone, kMatrices,
           "%p = Softmax(MatMul(%x, %x) {transpose_b=true}) {axis=-1} %y = MatMul(%p, %x)"},
          {Items::kMixed, kRows,
           "%p = Softmax(MatMul(%x, %x) {transpose_b=true}) {axis=-1} %y = MatMul(%p, %x)"},
          {Items::kMixed, kRows, "%g = MatMul(%x, %x) {transpose_a=true} %y = MatMul(%x, %g)"},
          {Items::kMixed, "%x: f32[N,4], %z: f32[?,4]", "%y = MatMul(%x, %z) {transpose_b=true}"},
          {Items::kMixed, "%x: f32[N,4], %z: f32[M,4]", "%y = MatMul(%x, %z) {transpose_b=true}"},
          {Items::kAlone, "%x: f32[?,4], %z: f32[?,4]", "%y = %x + %z"},
          {Items::kAlone, kMatrices, "%y = Einsum(%x, %x) {equation=\"nij,nkj->nik\"}"},
          {Items::kMixed, kMatrices, "%s = Einsum(%x) {equation=\"nij->ij\"} %y = %x + %s"},
          {Items::kMixed, kRows,
           "%s = Einsum(%x, %x) {equation=\"nd,md->nm\"} %y = Einsum(%s, %x) {equation=\"nm,md->nd\"}"},
          {Items::kAlone, "%x: f32[N,2,3,4]", "%y = Attention(%x, %x, %x)"},
          {Items::kMixed, kMatrices,
           "#a: i64[1] = (0) %u = Unsqueeze(%x, #a) %t = Transpose(%u) {perm=[0,2,1,3]} %s = Attention(%t, %t, %t) %v = Transpose(%s) {perm=[0,2,1,3]} %y = Squeeze(%v, #a)"},
          {Items::kAlone, kMatrices, "#w: f32[2,3,1] = (1,2,3,4,5,6) %y = Conv(%x, #w)"},
          {Items::kMixed, kMatrices,
           "#w: f32[3,3,1] = (1,2,3,4,5,6,7,8,9) %t = Transpose(%x) {perm=[1,2,0]} %u = Transpose(%t) {perm=[1,0,2]} #k: f32[4,3,3] = (1,2,3,1,2,3,1,2,3,1,2,3,1,2,3,1,2,3,1,2,3,1,2,3,1,2,3,1,2,3,1,2,3,1,2,3) %c = Conv(%u, #k) {pads=[1,1]} %y = Transpose(%c) {perm=[2,0,1]}"},
          {Items::kAlone, "%x: f32[N,2,3]",
           "#w: f32[1,1,3] = (1,2,3) #r: f32[1,1,1] = (0.5) %t = Transpose(%x) {perm=[1,0,2]} %h = Rnn(%t, #w, #r) {kind=\"rnn\"} %y = Transpose(%h) {perm=[2,0,1,3]}"},
          {Items::kMixed, "%x: f32[N,2,3]",
           "#w: f32[1,1,3] = (1,2,3) #r: f32[1,1,1] = (0.5) %y = Rnn(%x, #w, #r) {kind=\"rnn\"}"},
          {Items::kAlone, "%x: f32[N,3,4]",
           "#s: f32[3] = (1,2,3) #v: f32[3] = (4,5,6) %y = BatchNorm(%x, #s, #s, #s, #v)"},
          // Statistics of the batch, as in training.
          {Items::kMixed, kMatrices,
           "#a: i64[2] = (0, 2) %m = ReduceMean(%x, #a) {keep_dims=true} %y = Binary(%x, %m) {kind=\"sub\"}"},
          {Items::kAlone, kMatrices, "#s: f32[3] = (1,2,3) %y = InstanceNorm(%x, #s, #s)"}})
    Check(row);
}

// The batch size as data, which differs between an item alone and in a batch.
TEST(IndependentItems, BatchSizeAsData) {
  for (
      const Row& row : std::initializer_list<Row>{
          {Items::kMixed, kRows, "%n = Cast(Size(%x)) {to=f32} %y = Binary(%x, %n) {kind=\"div\"}"},
          {Items::kMixed, "%x: f32[?,?]", "%n = Cast(Size(%x)) {to=f32} %y = Binary(%x, %n) {kind=\"div\"}"},
          {Items::kMixed, kRows,
           "%n = Cast(Shape(%x) {start=0, end=1}) {to=f32} #s: i64[2] = (1, 1) %r = Reshape(%n, #s) %y = Binary(%x, %r) {kind=\"div\"}"},
          {Items::kMixed, kRows,
           "%n = Cast(Shape(%x) {start=0, end=1}) {to=f32} #s: i64[2] = (1, 4) %r = Expand(%n, #s) %y = Binary(%x, %r) {kind=\"div\"}"},
          {Items::kMixed, kRows,
           "%n = Shape(%x) {start=0, end=1} #one: i64[1] = (1) #a: i64[1] = (3) #b: i64[1] = (5) %c = Equal(%n, #one) %w = Where(%c, #a, #b) %f = Cast(%w) {to=f32} %y = Binary(%x, %f) {kind=\"mul\"}"},
          {Items::kMixed, kRows,
           "#a: i64[1] = (0) #z: i64[] = (0) #o: i64[] = (1) %n = Squeeze(Shape(%x) {start=0, end=1}, #a) %r = Cast(Range(#z, %n, #o)) {to=f32} #c: i64[1] = (1) %p = Unsqueeze(%r, #c) %y = %x + %p"},
          {Items::kMixed, kRows,
           "%n = Shape(%x) {start=0, end=1} #i: i64[1] = (0) #p: f32[5] = (1,2,3,4,5) %g = Gather(#p, %n) {axis=0} %y = Binary(%x, %g) {kind=\"mul\"}"},
          {Items::kMixed, kRows,
           "#one: i64[1] = (1) #p: f32[8] = (1,2,3,4,5,6,7,8) %n = Shape(%x) {start=0, end=1} #f: i64[1] = (4) %e = %n + #f %s = Slice(#p, %n, %e) %y = %x + %s"},
          {Items::kMixed, kRows,
           "%t = Shape(%x) {start=1, end=2} #big: i64[1] = (3) %c = Squeeze(Binary(%t, #big) {kind=\"greater\"}) %k = If(%c) [then @t() -> (%a) { %a = Shape(%x) {start=0, end=1} } else @e() -> (%b) { %b = Shape(%x) {start=1, end=2} }] %f = Cast(%k) {to=f32} %y = Binary(%x, %f) {kind=\"div\"}"},
          // As dims of a result, the batch size is in order.
          {Items::kAlone, kRows,
           "%n = Shape(%x) {start=0, end=1} #r: i64[1] = (2) %s = Concat(%n, #r) {axis=0} %z = Fill(%s) %y = Concat(%x, %z) {axis=1}"},
          {Items::kAlone, kRows,
           "%n = Shape(%x) {start=0, end=1} #r: i64[1] = (1) #t: f32[1,2] = (5, 6) %s = Concat(%n, #r) {axis=0} %z = Expand(#t, %s) %y = Concat(%x, %z) {axis=1}"},
          {Items::kAlone, kRows,
           "%n = Shape(%x) {start=0, end=1} #r: i64[1] = (1) #t: f32[1,2] = (5, 6) %s = Concat(%n, #r) {axis=0} %z = Tile(#t, %s) %y = Concat(%x, %z) {axis=1}"}})
    Check(row);
}

TEST(IndependentItems, Bodies) {
  for (
      const Row& row : std::initializer_list<Row>{
          {Items::kAlone, kMatrices,
           "#n: i64[] = (2) %y = Loop(#n, _, %x) [body @b(%i: i64[], %c: bool[], %s: f32[N,3,4]) -> (%c, %z) { %z = Softmax(%s + %x) {axis=1} }]"},
          {Items::kMixed, kMatrices,
           "#n: i64[] = (2) %y = Loop(#n, _, %x) [body @b(%i: i64[], %c: bool[], %s: f32[N,3,4]) -> (%c, %z) { %z = Softmax(%s + %x) {axis=0} }]"},
          // The second iteration gets a state of rank 1, so that it reduces the batch.
          {Items::kMixed, kRows,
           "#n: i64[] = (2) #k: i64[1] = (-1) %l = Loop(#n, _, %x) [body @b(%i: i64[], %c: bool[], %s: f32[*]) -> (%c, %z) { %z = ReduceMax(%s, #k) {keep_dims=false} }] #r: i64[2] = (1, -1) %t = Reshape(%l, #r) %y = %x + %t"},
          {Items::kMixed, kRows,
           "%n = Squeeze(Shape(%x) {start=0, end=1}) %y = Loop(%n, _, %x) [body @b(%i: i64[], %c: bool[], %s: f32[N,4]) -> (%c, %z) { %z = %s + %x }]"},
          {Items::kAlone, kMatrices,
           "%y = Scan(%x) {scan_inputs=1, input_axes=[1], output_axes=[1]} [body @b(%r: f32[N,4]) -> (%t) { %t = Tanh(%r) }]"},
          {Items::kRefused, kMatrices,
           "%y = Scan(%x) {scan_inputs=1} [body @b(%r: f32[3,4]) -> (%t) { %t = Tanh(%r) }]"},
          {Items::kMixed, kMatrices,
           "#z: f32[3,4] = (0,0,0,0,0,0,0,0,0,0,0,0) %e, %y = Scan(#z, %x) {scan_inputs=1} [body @b(%s: f32[3,4], %r: f32[3,4]) -> (%t, %u) { %t = %s + %r %u = Identity(%t) }]"},
          {Items::kAlone, kMatrices,
           "%t = Shape(%x) {start=1, end=2} #big: i64[1] = (2) %c = Squeeze(Binary(%t, #big) {kind=\"greater\"}) %y = If(%c) [then @t() -> (%a) { %a = Tanh(%x) } else @e() -> (%b) { %b = Relu(%x) }]"},
          {Items::kMixed, kMatrices,
           "%t = Shape(%x) {start=1, end=2} #big: i64[1] = (2) %c = Squeeze(Binary(%t, #big) {kind=\"greater\"}) %y = If(%c) [then @t() -> (%a) { %a = Softmax(%x) {axis=0} } else @e() -> (%b) { %b = Relu(%x) }]"},
          // The condition is that of an item.
          {Items::kMixed, kVector,
           "#o: f32[1] = (0) %m = ReduceMax(%x) %g = Squeeze(Binary(%m, #o) {kind=\"greater\"}) %y = If(%g) [then @t() -> (%a) { %a = Tanh(%x) } else @e() -> (%b) { %b = Relu(%x) }]"},
          // The rank of %z is not known, so that it does not seem to contain items.
          {Items::kMixed, "%x: f32[N,S]",
           "%t = Shape(%x) {start=1, end=2} #big: i64[1] = (2) #k: i64[1] = (1) %c = Squeeze(Binary(%t, #big) {kind=\"greater\"}) %z = If(%c) [then @t() -> (%a) { %a = Unsqueeze(%x, #k) } else @e() -> (%b) { %b = Identity(%x) }] %s = Softmax(%z) {axis=0} %n = Shape(%x) %y = Reshape(%s, %n)"},
          {Items::kRefused, kMatrices,
           "#s: i64[] = (1) %q = SplitToSequence(%x, #s) {axis=1} %m = SequenceMap(%q) [body @b(%e: f32[N,1,4]) -> (%t) { %t = Tanh(%e) }] %y = ConcatFromSequence(%m) {axis=1}"},
          {Items::kAlone, kMatrices,
           "#s: i64[] = (1) %q = SplitToSequence(%x, #s) {axis=1} %y = ConcatFromSequence(%q) {axis=2}"},
          {Items::kMixed, kMatrices,
           "#s: i64[] = (1) %q = SplitToSequence(%x, #s) {axis=0} #p: i64[] = (0) %f = SequenceAt(%q, #p) %y = %x + %f"},
          {Items::kAlone, kRows, "%y = Fused(%x) [body @f(%u: f32[N,4]) -> (%r) { %r = Relu(%u) }]"}})
    Check(row);
}

TEST(IndependentItems, OutputsHaveOneRowPerItem) {
  for (const Row& row :
       std::initializer_list<Row>{{Items::kMixed, kRows, "#c: f32[5] = (1,2,3,4,5) %y = Relu(#c)"},
                                  {Items::kMixed, kMatrices, "#a: i64[1] = (0) %y = Unsqueeze(%x, #a)"},
                                  {Items::kMixed, "%x: f32[2*N,4]", "%y = Relu(%x)"}}) {
    const auto graph = Parsed(TextOf(row));
    ASSERT_TRUE(graph);
    EXPECT_FALSE(CheckIndependentItems(*graph).ok()) << TextOf(row);
  }
  for (const char* text :
       {"graph @g(%x: f32[*]) -> (%y) { %y = Relu(%x) }", "graph @g(%x: f32[]) -> (%y) { %y = Relu(%x) }",
        "graph @g(%x: f32[2,4]) -> (%y) { %y = Relu(%x) }",
        "graph @g(%x: f32[N,N]) -> (%y) { %y = Relu(%x) }"})
    EXPECT_FALSE(CheckIndependentItems(*Parsed(text)).ok()) << text;
}

std::string ErrorOf(const char* text) { return CheckIndependentItems(*Parsed(text)).message(); }

TEST(IndependentItems, NamesTheNode) {
  EXPECT_EQ(
      ErrorOf("graph @g(%x: f32[N,4]) -> (%y) { %y = Softmax(%x) {axis=0} as \"mix\" }"),
      "node 'mix' (Softmax) may mix the items of a batch: its result for f32[N,4] is f32[N,4]; it works along "
      "axis 0, which contains the items");
}

// Each request gets random numbers of its own. Numbers with a seed depend on their positions.
TEST(IndependentItems, RandomNumbers) {
  const auto graph = [](const char* shape, const char* attrs) {
    return StrCat("graph @g(%x: f32[N,4]) -> (%y) { %n = Shape(%x) #s: i64[2] = (1, 4) %r = Random(", shape,
                  ") {", attrs, "} %y = %x + %r }");
  };
  EXPECT_EQ(ErrorOf(graph("%n", "").c_str()), "");
  EXPECT_NE(ErrorOf(graph("#s", "").c_str()).find("the same random numbers"), std::string::npos);
  EXPECT_EQ(ErrorOf(graph("#s", "seeded=true").c_str()), "");
  EXPECT_NE(ErrorOf(graph("%n", "seeded=true").c_str()).find("depend on the position"), std::string::npos);
}

// States do not come from clients. They may be the first input, and their first dim need not be the batch.
TEST(IndependentItems, States) {
  EXPECT_EQ(ErrorOf(R"(graph @g(%h: f32[1,4], %x: f32[N,4]) -> (%next, %y) {
    state %h -> %next
    %next = Tanh(%h)
    %y = %x + %h
  })"),
            "");
  EXPECT_NE(ErrorOf(R"(graph @g(%h: f32[1,4], %x: f32[N,4]) -> (%next, %y) {
    state %h -> %next
    %next = Tanh(%h)
    %y = Softmax(%x + %h) {axis=0}
  })"),
            "");
  EXPECT_EQ(ErrorOf(R"(graph @step(%past: f32[B,2,P,4], %new: f32[B,2,S,4]) -> (%present, %y) {
    state %past -> %present {axis=2}
    %present = Concat(%past, %new) {axis=2}
    %y = Attention(%new, %present, %present)
  })"),
            "");
}

}  // namespace
}  // namespace tern

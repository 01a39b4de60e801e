// Tests that Kernel::Resize does not allocate heap memory. A decoder calls it for every token.
#include "runtime/bind/cpu_kernels.h"
#include "runtime/bind/node_query.h"
#include "runtime/memory/allocation_counter.h"

namespace tern {
namespace {

// A node of a decoder, in text form. The letter N stands for a length n that changes, and the letter M for n
// + 1.
struct Layer {
  const char *inputs, *node;
  const char* constants = "";
  int outputs = 1;
};
const Layer kLayers[] = {
    {"%x: f32[1,N,48], %w: f32[48,96]", "MatMul(%x, %w)"},
    {"%x: f32[1,N,48], %w: f32[48,96], %b: f32[96]", "MatMul(%x, %w, %b) {activation=\"gelu\"}"},
    {"%x: f32[1,N,48], %w: f32[48,96], %b: f32[96], %r: f32[1,N,96]", "MatMul(%x, %w, %b, %r)"},
    {"%x: f32[1,N,48], %w: f32[96,48]", "MatMul(%x, %w) {transpose_b=true}"},
    {"%x: f32[1,4,1,16], %y: f32[1,4,16,N]", "MatMul(%x, %y) {alpha=0.5}"},
    {"%x: f32[1,4,N,16], %y: f32[4,16,N], %b: f32[N]", "MatMul(%x, %y, %b)"},
    {"%x: f32[1,N,48], %s: f32[48], %b: f32[48]", "LayerNorm(%x, %s, %b) {axis=-1}"},
    {"%x: f32[1,N,48], %s: f32[48]", "RmsNorm(%x, %s) {axis=-1}"},
    {"%x: f32[1,N,48], %b: f32[48]", "Binary(%x, %b) {kind=\"add\"}"},
    {"%x: i64[N,1], %b: i64[1,N]", "Binary(%x, %b) {kind=\"less_equal\"}"},
    {"%x: f32[1,N,48]", "Unary(%x) {kind=\"tanh\"}"},
    {"%x: f32[1,N,48]", "Gelu(%x) {approximate=\"tanh\"}"},
    {"%x: f32[1,N,48]", "Activation(%x) {kind=\"swish\", alpha=1}"},
    {"%x: f32[1,N,48], %y: f32[1,N,48], %z: f32[48]", "Eltwise(%x, %y, %z) {coefficients=[1,2,0.5]}"},
    {"%x: f32[50,48], %i: i64[1,N]", "Gather(%x, %i) {axis=0}"},
    {"%x: f32[1,4,N,N]", "Softmax(%x) {axis=-1}"},
    {"%c: bool[1,1,N,N], %x: f32[1,4,N,N], %z: f32[]", "Where(%c, %x, %z)"},
    {"%x: f32[1,N]", "Cast(%x) {to=i64}"},
    {"%x: f32[1,4,N,16], %y: f32[1,4,1,16]", "Concat(%x, %y) {axis=2}"},
    {"%x: f32[1,N,48]", "Slice(%x, #s, #e)", "#s: i64[1] = (0)  #e: i64[1] = (1)"},
    {"%x: f32[1,1,N,16]", "Expand(%x, #s)", "#s: i64[4] = (1,4,N,16)"},
    {"%x: f32[1,1,1,N]", "Tile(%x, #s)", "#s: i64[4] = (1,4,2,1)"},
    {"%x: f32[1,N,4,16]", "Transpose(%x) {perm=[0,2,1,3]}"},
    {"", "Range(#a, #b, #c)", "#a: i64[] = (0)  #b: i64[] = (N)  #c: i64[] = (1)"},
    {"%x: f32[1,N,48]", "Reduce(%x, #a) {kind=\"mean\"}", "#a: i64[1] = (-1)"},
    {"%x: f32[1,N,48]", "ArgReduce(%x) {kind=\"max\", axis=-1}"},
    {"%x: f32[1,N,48]", "Split(%x) {axis=2}", "", 2},
    {"%x: f32[1,N,48], %lo: f32[]", "Clip(%x, %lo)"},
    {"%x: f32[1,N]", "Trilu(%x)"},
    {"%q: f32[1,4,1,16], %k: f32[1,4,1,16], %v: f32[1,4,1,16], %m: f32[1,1,1,M], "
     "%p: f32[1,4,N,16], %r: f32[1,4,N,16]",
     "Attention(%q, %k, %v, %m, %p, %r)", "", 3},
    {"%q: f32[1,N,64], %k: f32[1,N,64], %v: f32[1,N,64]",
     "Attention(%q, %k, %v) {q_heads=4, kv_heads=4, merged=true, causal=true}"},
    {"%x: f32[1,4,N,16], %c: f32[1,N,8], %s: f32[1,N,8]", "RotaryEmbedding(%x, %c, %s)"},
};

// Replaces N by n and M by n + 1 if they are single letters between delimiters.
std::string WithLength(const std::string& text, int64_t n) {
  const auto edge = [](char c) { return c == '[' || c == ']' || c == ',' || c == '(' || c == ')'; };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool length = (text[i] == 'N' || text[i] == 'M') && edge(text[i - 1]) && edge(text[i + 1]);
    out += length ? std::to_string(text[i] == 'N' ? n : n + 1) : std::string(1, text[i]);
  }
  return out;
}

std::unique_ptr<Graph> GraphOf(const Layer& layer, int64_t n) {
  const std::string outputs = layer.outputs == 3 ? "%o, %p1, %p2" : layer.outputs == 2 ? "%o, %p1" : "%o";
  return ParseNode(WithLength(StrCat("graph @g(", layer.inputs, ") -> (", outputs, ") {\n  ", layer.constants,
                                     "\n  ", outputs, " = ", layer.node, "\n}"),
                              n));
}

// Calls Resize for each query and returns the number of heap allocations.
int AllocationsOf(Kernel& kernel, const std::vector<KernelQuery>& queries) {
  bool ok = true;
  int count = 0;
  for (const KernelQuery& query : queries) {
    ResizeContext context(query, 2);
    const AllocationCounter counter;
    ok &= kernel.Resize(context).ok();
    count += counter.count();
  }
  EXPECT_TRUE(ok);
  return count;
}

TEST(Resize, ForOtherLengthsDoesNotAllocate) {
  const Workers workers(2);
  for (const Layer& layer : kLayers) {
    SCOPED_TRACE(layer.node);
    std::vector<std::unique_ptr<Graph>> graphs;
    std::vector<KernelQuery> queries;
    for (int64_t n : {9, 3, 8, 1, 4}) {
      graphs.push_back(GraphOf(layer, n));
      ASSERT_TRUE(graphs.back());
      queries.push_back(QueryOf(*graphs.back()));
    }
    int kernels = 0;
    for (const KernelEntry* entry : CpuKernels().Of(queries[0].op().name)) {
      if (!entry->legal(queries[0])) continue;
      auto kernel = entry->make();
      size_t packed = 0;
      PrepareContext prepare(queries[0], workers, packed);
      ASSERT_TRUE(kernel->Prepare(prepare).ok());
      ResizeContext first(queries[0], 2);
      ASSERT_TRUE(kernel->Resize(first).ok()) << entry->name;
      EXPECT_EQ(AllocationsOf(*kernel, queries), 0) << entry->name;
      ++kernels;
    }
    EXPECT_GT(kernels, 0);
  }
}

}  // namespace
}  // namespace tern

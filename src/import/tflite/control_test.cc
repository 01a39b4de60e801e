// Tests models with several subgraphs, and variables.
#include <gtest/gtest.h>

#include "import/testing.h"
#include "import/tflite/test_model.h"
#include "ir/verify.h"

namespace tern::tflite {
namespace {

constexpr int kAdd = 0, kSvdf = 27, kCall = 31, kWhile = 119;
constexpr int kWhere = 109, kCallOnce = 129, kVarHandle = 142, kRead = 143, kAssign = 144;
constexpr int8_t kF32 = 0, kI64 = 4, kBool = 6, kResource = 13;

// An operator. `first` and `second` are the subgraphs that it calls.
struct Op {
  int code;
  std::vector<int32_t> inputs, outputs;
  int first = 0, second = 0;
};

struct TensorSpec {
  std::string name;
  int8_t type;
  std::vector<int32_t> dims = {};
  bool variable = false, constant = false;
  bool open = false;  // whether all dims are dynamic
};

struct Subgraph {
  std::vector<TensorSpec> tensors;
  std::vector<int32_t> inputs, outputs;
  std::vector<Op> ops;
};

using Buffers = flatbuffers::FlatBufferBuilder;

std::pair<fb::BuiltinOptions, flatbuffers::Offset<void>> OptionsOf(Buffers& b, const Op& op) {
  switch (op.code) {
    case kCall:
      return {fb::BuiltinOptions::CallOptions,
              fb::CreateCallOptions(b, static_cast<uint32_t>(op.first)).Union()};
    case kWhile:
      return {fb::BuiltinOptions::WhileOptions, fb::CreateWhileOptions(b, op.first, op.second).Union()};
    case kVarHandle:
      return {fb::BuiltinOptions::VarHandleOptions, fb::CreateVarHandleOptionsDirect(b, "", "sum").Union()};
    case kCallOnce:
      return {fb::BuiltinOptions::CallOnceOptions, fb::CreateCallOnceOptions(b, op.first).Union()};
    case kSvdf:
      return {fb::BuiltinOptions::SVDFOptions, fb::CreateSVDFOptions(b, 1).Union()};
    default:
      return {fb::BuiltinOptions::NONE, 0};
  }
}

// A constant tensor has 4 bytes of zeros per element.
std::string BytesOf(const std::vector<Subgraph>& subgraphs) {
  Buffers b;
  std::vector<flatbuffers::Offset<fb::SubGraph>> graphs;
  std::vector<flatbuffers::Offset<fb::OperatorCode>> codes;
  std::vector<flatbuffers::Offset<fb::Buffer>> buffers = {fb::CreateBuffer(b)};
  for (const Subgraph& subgraph : subgraphs) {
    std::vector<flatbuffers::Offset<fb::Tensor>> tensors;
    for (const TensorSpec& t : subgraph.tensors) {
      uint32_t buffer = 0;
      if (t.constant) {
        size_t size = 4;
        for (const int32_t d : t.dims) size *= static_cast<size_t>(d);
        const std::vector<uint8_t> zeros(size);
        buffer = static_cast<uint32_t>(buffers.size());
        buffers.push_back(fb::CreateBufferDirect(b, &zeros));
      }
      const std::vector<int32_t> open(t.dims.size(), -1);
      tensors.push_back(fb::CreateTensorDirect(b, &t.dims, t.type, buffer, t.name.c_str(), 0, t.variable, 0,
                                               t.open ? &open : nullptr));
    }
    std::vector<flatbuffers::Offset<fb::Operator>> ops;
    for (const Op& op : subgraph.ops) {
      const auto [type, options] = OptionsOf(b, op);
      codes.push_back(
          fb::CreateOperatorCodeDirect(b, static_cast<int8_t>(std::min(op.code, 127)), nullptr, 1, op.code));
      ops.push_back(fb::CreateOperatorDirect(b, static_cast<uint32_t>(codes.size() - 1), &op.inputs,
                                             &op.outputs, type, options));
    }
    graphs.push_back(fb::CreateSubGraphDirect(b, &tensors, &subgraph.inputs, &subgraph.outputs, &ops));
  }
  b.Finish(fb::CreateModelDirect(b, 3, &codes, &graphs, nullptr, &buffers), "TFL3");
  return {reinterpret_cast<const char*>(b.GetBufferPointer()), b.GetSize()};
}

void ExpectError(const std::vector<Subgraph>& subgraphs, const std::string& message) {
  const auto graph = load::ReadForTest(BytesOf(subgraphs));
  ASSERT_FALSE(graph.ok()) << message;
  EXPECT_NE(graph.status().ToString().find(message), std::string::npos) << graph.status().ToString();
}

// Each of `count` subgraphs calls the next one by operator `code`, once or twice.
std::vector<Subgraph> Chain(int count, int code, bool twice) {
  std::vector<Subgraph> subgraphs;
  for (int i = 1; i < count; ++i) {
    Subgraph s{{{"a", kBool}, {"b", kBool}}, {0}, {1}, {{code, {0}, {1}, i, i}}};
    if (twice) {
      s.tensors.push_back({"c", kBool});
      s.ops.push_back({code, {1}, {2}, i, i});
      s.outputs = {2};
    }
    subgraphs.push_back(s);
  }
  subgraphs.push_back({{{"a", kBool}}, {0}, {0}, {}});
  return subgraphs;
}

TEST(TensorFlowLiteControl, ReadsSubgraphsThatSeveralOperatorsCall) {
  for (const int code : {kCall, kWhile}) {
    const auto graph = load::ReadForTest(BytesOf(Chain(5, code, true)));
    ASSERT_TRUE(graph.ok()) << graph.status().ToString();
    EXPECT_TRUE(VerifyGraph(**graph).ok());
  }
}

// These would take 2^30 and 3^19 calls.
TEST(TensorFlowLiteControl, RefusesModelsThatAreLargeOnceSubgraphsAreInlined) {
  ExpectError(Chain(31, kCall, true), "operators and tensors once its subgraphs are inlined");
  ExpectError(Chain(20, kWhile, false), "operators and tensors once its subgraphs are inlined");
}

TEST(TensorFlowLiteControl, RefusesSubgraphsThatNestDeeplyOrCallThemselves) {
  const std::string message = "subgraphs are nested deeper than 32, or call themselves";
  ExpectError(Chain(34, kCall, false), message);
  ExpectError(Chain(34, kWhile, false), message);
  std::vector<Subgraph> loop = Chain(2, kWhile, false);
  loop[0].ops[0].first = loop[0].ops[0].second = 0;
  ExpectError(loop, message);
  // Only the stack limits this depth.
  ExpectError(Chain(200'000, kCall, false), message);
}

// Reads a variable, adds x, and assigns the sum.
Subgraph Sum(const std::vector<int32_t>& variable, const std::vector<int32_t>& x) {
  return {{{"x", kF32, x}, {"handle", kResource}, {"before", kF32, variable}, {"after", kF32, x}},
          {0},
          {3},
          {{kVarHandle, {}, {1}}, {kRead, {1}, {2}}, {kAdd, {2, 0}, {3}}, {kAssign, {1, 3}, {}}}};
}

// A layer with two filters and a memory of one step. Its state is a variable tensor.
Subgraph Svdf(int rows, const std::vector<int32_t>& state) {
  return {{{"x", kF32, {rows, 3}},
           {"features", kF32, {2, 3}, false, true},
           {"time", kF32, {2, 1}, false, true},
           {"state", kF32, state, true},
           {"y", kF32, {rows, 2}}},
          {0},
          {4},
          {{kSvdf, {0, 1, 2, -1, 3}, {4}}}};
}

TEST(TensorFlowLiteControl, MakesVariablesStates) {
  for (const Subgraph& subgraph : {Sum({2}, {2}), Svdf(2, {2, 2})}) {
    const auto graph = load::ReadForTest(BytesOf({subgraph}));
    ASSERT_TRUE(graph.ok()) << graph.status().ToString();
    EXPECT_TRUE(VerifyGraph(**graph).ok());
    EXPECT_EQ((*graph)->states().size(), 1u);
  }
}

// No operator states the dims of the variable. Its first value in the initialization does.
TEST(TensorFlowLiteControl, FindsTheDimsOfVariablesInTheInitialization) {
  Subgraph sum = Sum({1}, {2});
  sum.tensors[2].open = sum.tensors[3].open = true;
  sum.ops.insert(sum.ops.begin(), {kCallOnce, {}, {}, 1});
  const Subgraph start = {{{"handle", kResource}, {"zeros", kF32, {2}, false, true}},
                          {},
                          {},
                          {{kVarHandle, {}, {0}}, {kAssign, {0, 1}, {}}}};
  const auto graph = load::ReadForTest(BytesOf({sum, start}));
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_TRUE(VerifyGraph(**graph).ok());
  ASSERT_EQ((*graph)->states().size(), 2u);  // the variable, and whether it has its first value
  EXPECT_EQ((*graph)->states()[0].input->type.ToString(), "f32[2]");
}

TEST(TensorFlowLiteControl, RefusesVariablesWhoseDimsAreNotKnown) {
  const Subgraph keep = {
      {{"handle", kResource}, {"value", kI64, {1, 1}, false, false, true}},
      {},
      {1},
      {{kCallOnce, {}, {}, 1}, {kVarHandle, {}, {0}}, {kRead, {0}, {1}}, {kAssign, {0, 1}, {}}}};
  const Subgraph start = {{{"handle", kResource},
                           {"zeros", kF32, {2}, false, true},
                           {"places", kI64, {1, 1}, false, false, true}},
                          {},
                          {},
                          {{kVarHandle, {}, {0}}, {kWhere, {1}, {2}}, {kAssign, {0, 2}, {}}}};
  ExpectError({keep, start},
              "unsupported: 'variable sum' keeps its value between runs, but its dims are not known");
}

TEST(TensorFlowLiteControl, RefusesVariablesWhoseTypeChanges) {
  ExpectError({Sum({}, {2})}, "unsupported: 'variable sum' is f32[] before a run, but f32[2] after it");
  ExpectError({Svdf(2, {1, 4})}, "unsupported: 'state' is f32[1,4] before a run, but f32[2,2] after it");
}

}  // namespace
}  // namespace tern::tflite

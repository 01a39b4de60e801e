// Tests that ops check indices that come from data, so that no op reads or writes out of bounds.
#include "ops/test_graph.h"

namespace tern {
namespace {

void ExpectError(const char* op, const std::vector<Tensor>& inputs, const AttrList& attrs, const char* text) {
  const auto result = EvaluateOp(op, inputs, attrs);
  ASSERT_FALSE(result.ok()) << op;
  EXPECT_NE(result.status().message().find(text), std::string::npos)
      << op << ": " << result.status().ToString();
}

const Tensor kX = Tensor::Of(DType::kF32, {2, 3}, {0, 1, 2, 3, 4, 5});

TEST(Index, OutOfRangeNamesIndexAxisAndSize) {
  ExpectError("Gather", {kX, Tensor::Ints({3})}, {{"axis", int64_t{1}}},
              "index 3 is outside [-3, 3) along axis 1 of size 3");
  ExpectError("Gather", {kX, Tensor::Ints({-3})}, {}, "index -3 is outside [-2, 2) along axis 0");
  ExpectError("GatherElements", {kX, Tensor::Of(DType::kI64, {1, 1}, {2})}, {}, "index 2 is outside");
  ExpectError("GatherND", {kX, Tensor::Of(DType::kI64, {1, 2}, {1, -4})}, {},
              "index -4 is outside [-3, 3) along axis 1");
  ExpectError("ScatterND", {kX, Tensor::Of(DType::kI64, {1, 1}, {5}), Tensor(DType::kF32, {1, 3})}, {},
              "index 5 is outside");
  ExpectError("ScatterElements", {kX, Tensor::Of(DType::kI64, {1, 1}, {7}), Tensor(DType::kF32, {1, 1})}, {},
              "index 7 is outside");
  ExpectError("Compress", {kX, Tensor::Of(DType::kBool, {3}, {0, 0, 1})}, {{"flatten", false}},
              "condition[2] is true, but axis 0 has size 2");
  ExpectError("TensorScatter", {kX, Tensor(DType::kF32, {2, 2}), Tensor::Ints({0, 2})},
              {{"axis", int64_t{1}}}, "write_indices[1]=2");
  ExpectError("ReverseSequence", {kX, Tensor::Ints({1, 3, 1})}, {}, "lengths[1]=3 is outside [0, 2]");
  ExpectError("RoiAlign", {Tensor(DType::kF32, {1, 1, 4, 4}), Tensor(DType::kF32, {1, 4}), Tensor::Ints({1})},
              {}, "index 1 is outside");
}

TEST(Index, BadShapesAreErrors) {
  ExpectError("Expand", {kX, Tensor::Ints({-1, 3})}, {}, "shape[0] is -1");
  ExpectError("Fill", {Tensor::Ints({2, -5})}, {}, "shape[1] is -5");
  ExpectError("Tile", {kX, Tensor::Ints({2, -1})}, {}, "repeats[1] is -1");
  ExpectError("Tile", {kX, Tensor::Ints({INT64_MAX, 1})}, {}, "repeats[0]");
  ExpectError("Pad", {kX, Tensor::Ints({0, -2, 0, -2})}, {}, "pads -2 and -2 along axis 1 of size 3");
  ExpectError("Pad", {kX, Tensor::Ints({INT64_MAX, 0, INT64_MAX, 0})}, {}, "along axis 0");
  ExpectError("Split", {kX, Tensor::Ints({1})}, {{"axis", int64_t{1}}},
              "sizes add up to 1, but the split dimension is 3");
  ExpectError("Slice", {kX, Tensor::Ints({0}), Tensor::Ints({1}), Tensor::Ints({0}), Tensor::Ints({0})}, {},
              "step is 0");
  ExpectError("Squeeze", {kX, Tensor::Ints({1})}, {}, "cannot squeeze axis 1 of size 3");
  ExpectError("Fill", {Tensor::Ints({INT64_MAX, INT64_MAX})}, {}, "out of memory");
  ExpectError("Resize", {kX, Tensor(), Tensor::Of(DType::kF32, {2}, {-1, 1})}, {}, "scale is -1");
}

TEST(Index, RepeatedScatterAddsInOrder) {
  const Tensor y = OutputOf("ScatterElements",
                            {Tensor::Of(DType::kI32, {3}, {1, 2, 3}), Tensor::Ints({1, 1, -1}),
                             Tensor::Of(DType::kI32, {3}, {10, 20, 30})},
                            {{"reduction", std::string("add")}});
  EXPECT_EQ(ToLongs(y), (std::vector<int64_t>{1, 32, 33}));
}

}  // namespace
}  // namespace tern

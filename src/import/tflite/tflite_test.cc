#include <gtest/gtest.h>

#include "import/testing.h"
#include "import/tflite/test_model.h"

namespace tern::tflite {
namespace {

std::string ErrorOf(const std::string& bytes) {
  const auto graph = load::ReadForTest(bytes);
  return graph.ok() ? "" : graph.status().message();
}

std::string ErrorOf(const TestModel& model) { return ErrorOf(model.Bytes()); }

void ExpectError(const TestModel& model, const std::string& part) {
  const std::string message = ErrorOf(model);
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

// Returns the elements of the first constant of rank 1 or more.
std::vector<double> ConstantOf(const Graph& graph) {
  for (const auto& v : graph.values())
    if (v->is_constant() && v->constant.rank() > 0) return ToDoubles(v->constant);
  return {};
}

TEST(TensorFlowLite, ReadsAModel) {
  const auto graph = load::ReadForTest(AddModel().Bytes());
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  ASSERT_EQ((*graph)->inputs().size(), 1u);
  EXPECT_EQ((*graph)->inputs()[0]->name, "x");
  EXPECT_EQ((*graph)->outputs()[0]->name, "y");
  EXPECT_EQ((*graph)->outputs()[0]->type.ToString(), "f32[2]");
  EXPECT_EQ(ConstantOf(**graph), (std::vector<double>{1, 2}));
}

TEST(TensorFlowLite, RefusesOtherFiles) {
  EXPECT_EQ(ErrorOf(std::string("\x1c\0\0\0TFLX", 8)),
            "not a TensorFlow Lite model: bytes 4 to 7 are not 'TFL3'");
  TestModel m = AddModel();
  m.version = 4;
  ExpectError(m, "version 4 of the format");
}

TEST(TensorFlowLite, RefusesTruncatedFiles) {
  const std::string bytes = AddModel().Bytes();
  int read = 0;
  for (size_t n = 0; n < bytes.size(); ++n) read += ErrorOf(bytes.substr(0, n)).empty();
  EXPECT_LE(read, 8);  // the last bytes may be padding
}

TEST(TensorFlowLite, ReadsOrRefusesChangedBytes) {
  const std::string bytes = AddModel().Bytes();
  for (size_t i = 0; i < bytes.size(); ++i)
    for (const char value : {'\x00', '\x01', '\x7f', '\xff'}) {
      std::string changed = bytes;
      changed[i] = value;
      ErrorOf(changed);
    }
}

TEST(TensorFlowLite, RefusesIndicesOutOfRange) {
  TestModel m = AddModel();
  m.op_inputs = {0, 3};
  ExpectError(m, "subgraph 0, operator 0: input 1 is tensor 3, but the subgraph has 3 tensors");
  m = AddModel();
  m.outputs = {-1};
  ExpectError(m, "subgraph 0: output 0 is tensor -1");
  m = AddModel();
  m.tensors[1].buffer = 2;
  ExpectError(m, "tensor 1 'c' has buffer 2, but the model has 2 buffers");
}

TEST(TensorFlowLite, RefusesTensorsThatDoNotMatchTheirData) {
  TestModel m = AddModel();
  m.tensors[1].dims = {3};
  ExpectError(m, "tensor 'c' f32[3] needs 12 bytes, but its buffer has 8");
  m.tensors[1].dims = {INT32_MAX, INT32_MAX, INT32_MAX};
  ExpectError(m, "its size is out of range");
  m = AddModel();
  m.tensors[1].type = 99;
  ExpectError(m, "element type #99 is not known");
  m = AddModel();
  m.tensors[1].buffer = 0;
  ExpectError(m, "tensor 'c' f32[2] is neither constant nor computed before it is used");
  m = AddModel();
  m.op_outputs = {0};
  ExpectError(m, "which already has a value");
}

TEST(TensorFlowLite, TheLargerOperatorCodeCounts) {
  TestModel m = AddModel();
  m.deprecated_code = 41;  // SUB
  EXPECT_EQ(ErrorOf(m), "");
  m.code = 18;  // MUL
  const auto graph = load::ReadForTest(m.Bytes());
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ((*graph)->nodes().front()->attrs.Text("kind"), "sub");
  m.code = 300;
  ExpectError(m, "operator #300 x1 at operator #0");
}

TEST(TensorFlowLite, ListsUnsupportedOperators) {
  TestModel m = AddModel();
  m.deprecated_code = m.code = 32;
  m.custom = "Mine";
  ExpectError(m, "CUSTOM:Mine x1 at operator #0");
}

TEST(TensorFlowLite, ReadsBuffersBehindTheFlatbuffer) {
  TestModel m = AddModel();
  const std::string data = m.buffers[1];
  m.buffers[1] = "";
  m.offset = 2, m.size = 8;
  const size_t end = m.Bytes().size();
  m.offset = end;
  ExpectError(m, StrCat("8 bytes at ", end, " are beyond the end of the file"));
  const auto graph = load::ReadForTest(m.Bytes() + data);
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(ConstantOf(**graph), (std::vector<double>{1, 2}));
}

// The matrix (0 7; 0 0; 5 0), whose rows are dense and whose columns are compressed.
flatbuffers::Offset<fb::SparsityParameters> SparseRows(flatbuffers::FlatBufferBuilder& b) {
  const std::vector<int32_t> order = {0, 1}, segments = {0, 1, 1, 2}, indices = {1, 0};
  const auto dense = fb::CreateDimensionMetadata(b, 0, 3);
  const auto compressed = fb::CreateDimensionMetadata(
      b, 1, 0, fb::SparseIndexVector::Int32Vector, fb::CreateInt32VectorDirect(b, &segments).Union(),
      fb::SparseIndexVector::Int32Vector, fb::CreateInt32VectorDirect(b, &indices).Union());
  const std::vector<flatbuffers::Offset<fb::DimensionMetadata>> levels = {dense, compressed};
  return fb::CreateSparsityParametersDirect(b, &order, nullptr, &levels);
}

TEST(TensorFlowLite, ReadsSparseTensors) {
  TestModel m = AddModel();
  const float values[] = {7, 5};
  m.buffers[1] = std::string(reinterpret_cast<const char*>(values), sizeof values);
  m.tensors[0].dims = m.tensors[1].dims = m.tensors[2].dims = {3, 2};
  m.sparsity = SparseRows;
  const auto graph = load::ReadForTest(m.Bytes());
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(ConstantOf(**graph), (std::vector<double>{0, 7, 0, 0, 5, 0}));
  m.buffers[1].resize(4);
  ExpectError(m, "its tables of sparse indices contradict each other");
  m.tensors[1].dims = {4, 2};
  ExpectError(m, "its tables of sparse indices contradict each other");
}

}  // namespace
}  // namespace tern::tflite

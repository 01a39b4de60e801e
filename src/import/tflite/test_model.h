// Builds small models for unit tests.
#pragma once
#include <string>
#include <vector>

#include "tflite_generated.h"

namespace tern::tflite {

struct TestTensor {
  std::vector<int32_t> dims;
  int8_t type = 0;  // 0: f32, 2: i32, 9: i8
  uint32_t buffer = 0;
  std::string name;
};

// A model with one subgraph. Change the members, then call Bytes.
struct TestModel {
  uint32_t version = 3;
  std::vector<TestTensor> tensors;
  std::vector<std::string> buffers = {""};
  std::vector<int32_t> inputs, outputs, op_inputs, op_outputs;
  int deprecated_code = 0, code = 0;
  std::string custom;
  flatbuffers::Offset<fb::SparsityParameters> (*sparsity)(flatbuffers::FlatBufferBuilder&) =
      nullptr;                    // of tensor 1
  uint64_t offset = 0, size = 0;  // of buffer 1

  std::string Bytes() const {
    flatbuffers::FlatBufferBuilder b;
    std::vector<flatbuffers::Offset<fb::Tensor>> made;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const TestTensor& t = tensors[i];
      const auto dims = b.CreateVector(t.dims);
      const auto name = b.CreateString(t.name);
      const auto sparse = sparsity && i == 1 ? sparsity(b) : flatbuffers::Offset<fb::SparsityParameters>();
      fb::TensorBuilder tensor(b);
      tensor.add_shape(dims), tensor.add_type(t.type), tensor.add_buffer(t.buffer), tensor.add_name(name);
      if (!sparse.IsNull()) tensor.add_sparsity(sparse);
      made.push_back(tensor.Finish());
    }
    std::vector<flatbuffers::Offset<fb::Buffer>> data;
    for (size_t i = 0; i < buffers.size(); ++i) {
      const auto bytes =
          b.CreateVector(reinterpret_cast<const uint8_t*>(buffers[i].data()), buffers[i].size());
      fb::BufferBuilder buffer(b);
      buffer.add_data(bytes);
      if (i == 1) buffer.add_offset(offset), buffer.add_size(size);
      data.push_back(buffer.Finish());
    }
    const auto op = fb::CreateOperatorDirect(b, 0, &op_inputs, &op_outputs);
    const std::vector<flatbuffers::Offset<fb::Operator>> ops = {op};
    const std::vector<flatbuffers::Offset<fb::SubGraph>> graphs = {
        fb::CreateSubGraphDirect(b, &made, &inputs, &outputs, &ops, "main")};
    const std::vector<flatbuffers::Offset<fb::OperatorCode>> codes = {fb::CreateOperatorCodeDirect(
        b, static_cast<int8_t>(deprecated_code), custom.empty() ? nullptr : custom.c_str(), 1, code)};
    b.Finish(fb::CreateModelDirect(b, version, &codes, &graphs, "a test", &data), "TFL3");
    return {reinterpret_cast<const char*>(b.GetBufferPointer()), b.GetSize()};
  }
};

// y = x + c, where c is the constant (1, 2).
inline TestModel AddModel() {
  TestModel m;
  const float values[] = {1, 2};
  m.tensors = {{{2}, 0, 0, "x"}, {{2}, 0, 1, "c"}, {{2}, 0, 0, "y"}};
  m.buffers = {"", std::string(reinterpret_cast<const char*>(values), sizeof values)};
  m.inputs = {0}, m.outputs = {2}, m.op_inputs = {0, 1}, m.op_outputs = {2};
  return m;
}

}  // namespace tern::tflite

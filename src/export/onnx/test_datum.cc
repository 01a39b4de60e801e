#include "export/onnx/test_datum.h"

#include "import/onnx/proto_tensor.h"

namespace tern::onnx {
namespace {

constexpr size_t kMaxMessage = size_t{1} << 31;
constexpr int kTensorItems = 1, kSequenceItems = 3;  // values of SequenceProto.DataType

Status FillSequence(const DatumList& items, pb::SequenceProto& proto) {
  for (const Datum& item : items) {
    if (item.is_tensor()) {
      proto.set_elem_type(kTensorItems);
      TensorToOnnx(item.tensor, *proto.add_tensor_values());
    } else if (item.is_sequence()) {
      proto.set_elem_type(kSequenceItems);
      TERN_TRY(FillSequence(*item.sequence, *proto.add_sequence_values()));
    } else {
      return Unsupported("a .pb file cannot contain a sequence of ", item.Describe(), "; write .json");
    }
  }
  return {};
}

}  // namespace

Result<std::string> TestDatumBytes(const Datum& datum) {
  if (datum.is_tensor()) {
    if (datum.tensor.bytes() >= kMaxMessage)
      return Unsupported(datum.Describe(), " is too large for a .pb file; write .npy");
    pb::TensorProto proto;
    TensorToOnnx(datum.tensor, proto);
    return proto.SerializeAsString();
  }
  if (datum.is_sequence()) {
    pb::SequenceProto proto;
    TERN_TRY(FillSequence(*datum.sequence, proto));
    return proto.SerializeAsString();
  }
  if (datum.is_none()) return pb::OptionalProto().SerializeAsString();
  return Unsupported("a .pb file cannot contain ", datum.Describe(), "; write .json");
}

}  // namespace tern::onnx

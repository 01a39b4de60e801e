#include "server/dialects/tfs/grpc_response.h"

#include <cstring>

#include "server/dialects/tfs/tensor_proto.h"
#include "server/grpc/infer_response.h"
#include "server/grpc/proto_wire.h"

namespace tern::server::tfs {
namespace {

void AppendFloat(std::string& out, uint32_t field, float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  if (bits == 0) return;  // the default
  AppendVarint(out, (uint64_t{field} << 3) | static_cast<uint64_t>(ProtoKind::kFixed32));
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// tensorflow.serving.ModelSpec. The version is a number in a message.
std::string SerializeSpec(const AnsweredBy& model) {
  std::string out, version;
  AppendBytesField(out, 1, model.model);
  uint64_t number = 0;
  for (const char c : model.version) number = number * 10 + static_cast<uint64_t>(c - '0');
  AppendVarintField(version, 1, number);
  AppendBytesField(out, 2, version);
  if (!model.signature.empty()) AppendBytesField(out, 3, model.signature);
  return out;
}

}  // namespace

std::string SerializeClasses(const std::vector<std::vector<ClassScore>>& results) {
  std::string out;
  for (const auto& item : results) {
    std::string classes;
    for (const ClassScore& result : item) {
      std::string one;
      if (!result.label.empty()) AppendBytesField(one, 1, result.label);
      AppendFloat(one, 2, result.score);
      AppendBytesField(classes, 1, one);
    }
    AppendBytesField(out, 1, classes);
  }
  return out;
}

std::string SerializeRegressions(const std::vector<float>& results) {
  std::string out;
  for (const float value : results) {
    std::string one;
    AppendFloat(one, 1, value);
    AppendBytesField(out, 1, one);
  }
  return out;
}

Result<OutMessage> EncodePrediction(const AnsweredBy& model, const std::vector<WireTensor>& outputs) {
  OutMessage out;
  out.head.reserve(192);
  for (const WireTensor& output : outputs) TERN_TRY(AppendTensorEntry(out, 1, output));
  AppendBytesField(out.head, 2, SerializeSpec(model));
  return FinishMessage(std::move(out));
}

Result<OutMessage> EncodeResult(const AnsweredBy& model, const std::string& result) {
  OutMessage out;
  AppendBytesField(out.head, 1, result);
  AppendBytesField(out.head, 2, SerializeSpec(model));
  return FinishMessage(std::move(out));
}

Result<OutMessage> EncodeTasks(const std::vector<TaskResult>& tasks) {
  OutMessage out;
  for (const TaskResult& task : tasks) {
    std::string one;
    AppendBytesField(one, 1, SerializeSpec(task.model));
    AppendBytesField(one, task.classified ? 2 : 3, task.result);
    AppendBytesField(out.head, 1, one);
  }
  return FinishMessage(std::move(out));
}

}  // namespace tern::server::tfs

#include "server/grpc/infer_response.h"

#include <bit>

#include "server/core/model_config.h"
#include "server/grpc/proto_wire.h"

namespace tern::server {
namespace {

void AppendText(std::string& out, uint32_t field, std::string_view text) {
  if (!text.empty()) AppendBytesField(out, field, text);
}

std::string EncodeValue(const ParameterValue& value) {
  std::string out;
  if (const bool* flag = std::get_if<bool>(&value)) AppendVarintField(out, 1, *flag);
  if (const int64_t* number = std::get_if<int64_t>(&value))
    AppendVarintField(out, 2, static_cast<uint64_t>(*number));
  if (const std::string* text = std::get_if<std::string>(&value)) AppendBytesField(out, 3, *text);
  if (const double* number = std::get_if<double>(&value)) {
    const uint64_t bits = std::bit_cast<uint64_t>(*number);
    out.push_back(static_cast<char>(4 << 3 | static_cast<int>(ProtoKind::kFixed64)));
    out.append(reinterpret_cast<const char*>(&bits), sizeof bits);
  }
  return out;
}

void AppendParameter(std::string& out, std::string_view name, const ParameterValue& value) {
  std::string entry;
  AppendBytesField(entry, 1, name);
  AppendBytesField(entry, 2, EncodeValue(value));
  AppendBytesField(out, 4, entry);
}

size_t FieldSize(size_t bytes) { return 1 + VarintSize(bytes) + bytes; }

void AppendOutput(std::string& out, const WireTensor& tensor) {
  const std::string_view datatype = WireName(tensor.dtype);
  size_t dims = 0;
  for (int64_t dim : tensor.dims) dims += VarintSize(static_cast<uint64_t>(dim));
  const size_t size =
      FieldSize(tensor.name.size()) + FieldSize(datatype.size()) + (dims ? FieldSize(dims) : 0);
  AppendBytesHeader(out, 5, size);
  AppendBytesField(out, 1, tensor.name);
  AppendBytesField(out, 2, datatype);
  if (!dims) return;
  AppendBytesHeader(out, 3, dims);
  for (int64_t dim : tensor.dims) AppendVarint(out, static_cast<uint64_t>(dim));
}

void AppendHead(std::string& out, const ResponseNames& names, const Response& response) {
  AppendText(out, 1, names.model);
  AppendText(out, 2, names.version);
  AppendText(out, 3, names.id);
  for (const auto& [name, value] : response.parameters) AppendParameter(out, name, value);
}

void AppendOutputs(OutMessage& out, const Response& response) {
  for (const WireTensor& tensor : response.outputs) AppendOutput(out.head, tensor);
  for (const WireTensor& tensor : response.outputs) {
    AppendBytesHeader(out.head, 6, tensor.bytes.size());
    out.Add(tensor.bytes);
  }
}

}  // namespace

Result<OutMessage> FinishMessage(OutMessage out) {
  const size_t size = out.size();
  if (size > INT32_MAX)
    return ResourceExhausted("the response has ", size, " bytes; gRPC clients read at most ", INT32_MAX);
  const char prefix[5] = {0, static_cast<char>(size >> 24), static_cast<char>(size >> 16),
                          static_cast<char>(size >> 8), static_cast<char>(size)};
  out.Prepend({prefix, sizeof prefix});
  return out;
}

Result<OutMessage> EncodeInferResponse(const ResponseNames& names, const Response& response) {
  OutMessage out;
  out.head.reserve(192);
  AppendHead(out.head, names, response);
  AppendOutputs(out, response);
  return FinishMessage(std::move(out));
}

Result<OutMessage> EncodeStreamResponse(const ResponseNames& names, const Response& response) {
  OutMessage out;
  AppendHead(out.head, names, response);
  AppendParameter(out.head, "triton_final_response", response.final);
  if (response.status.ok()) AppendOutputs(out, response);
  if (out.size() > INT32_MAX) return FinishMessage(std::move(out));
  char header[11] = {static_cast<char>(2 << 3 | static_cast<int>(ProtoKind::kBytes))};
  const char* end = WriteVarint(header + 1, out.size());
  out.Prepend({header, static_cast<size_t>(end - header)});
  if (!response.status.ok()) AppendText(out.head, 1, response.status.message());
  return FinishMessage(std::move(out));
}

}  // namespace tern::server

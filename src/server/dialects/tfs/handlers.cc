#include "server/dialects/tfs/handlers.h"

#include "server/dialects/tfs/metadata.h"
#include "server/dialects/tfs/status.h"
#include "server/grpc/handlers.h"
#include "tensorflow_serving.pb.h"

namespace tern::server::tfs {
namespace {

namespace pb = tensorflow::serving;

ModelSpec SpecOf(const pb::ModelSpec& message) {
  ModelSpec spec;
  spec.model = message.name();
  spec.signature = message.signature_name();
  spec.label = message.version_label();
  if (message.has_version()) spec.version = std::to_string(message.version().value());
  return spec;
}

void FillTensors(const std::vector<SignatureTensor>& tensors,
                 google::protobuf::Map<std::string, tensorflow::TensorInfo>& out) {
  for (const SignatureTensor& tensor : tensors) {
    tensorflow::TensorInfo& info = out[tensor.name];
    info.set_name(tensor.tensor);
    info.set_dtype(static_cast<tensorflow::DataType>(tensor.type));
    info.mutable_tensor_shape()->set_unknown_rank(!tensor.ranked);
    for (const int64_t dim : tensor.dims) info.mutable_tensor_shape()->add_dim()->set_size(dim);
  }
}

constexpr int kUnknownError = 2;  // google.rpc.Code

}  // namespace

Result<std::string> HandleGetModelMetadata(ServerContext& context, std::string_view request) {
  pb::GetModelMetadataRequest message;
  TERN_TRY(ParseMessage(request, message));
  if (!message.has_model_spec()) return InvalidArgument("Missing ModelSpec");
  if (message.metadata_field_size() == 0)
    return InvalidArgument("GetModelMetadataRequest must specify at least one metadata_field");
  for (const std::string& field : message.metadata_field())
    if (field != "signature_def") return InvalidArgument("Metadata field ", field, " is not supported");
  const ModelSpec spec = SpecOf(message.model_spec());
  TERN_ASSIGN(const auto version, FindVersion(*context.models, spec));
  pb::SignatureDefMap map;
  for (const Signature& signature : DescribeSignatures(*version)) {
    tensorflow::SignatureDef& out = (*map.mutable_signature_def())[signature.name];
    FillTensors(signature.inputs, *out.mutable_inputs());
    FillTensors(signature.outputs, *out.mutable_outputs());
    out.set_method_name(signature.method);
  }
  pb::GetModelMetadataResponse response;
  response.mutable_model_spec()->set_name(spec.model);
  response.mutable_model_spec()->mutable_version()->set_value(
      std::strtoll(version->version().c_str(), nullptr, 10));
  (*response.mutable_metadata())["signature_def"].PackFrom(map);
  return response.SerializeAsString();
}

Result<std::string> HandleGetModelStatus(ServerContext& context, std::string_view request) {
  pb::GetModelStatusRequest message;
  TERN_TRY(ParseMessage(request, message));
  if (!message.has_model_spec()) return InvalidArgument("Missing ModelSpec");
  TERN_ASSIGN(const auto versions, ListStatus(context, SpecOf(message.model_spec())));
  pb::GetModelStatusResponse response;
  for (const VersionStatus& version : versions) {
    pb::ModelVersionStatus& out = *response.add_model_version_status();
    out.set_version(std::strtoll(version.version.c_str(), nullptr, 10));
    out.set_state(static_cast<pb::ModelVersionStatus::State>(version.state));
    out.mutable_status()->set_error_code(version.error.empty() ? 0 : kUnknownError);
    out.mutable_status()->set_error_message(version.error);
  }
  return response.SerializeAsString();
}

Result<std::string> HandleReloadConfig(ServerContext&, std::string_view) {
  return Unsupported(
      "HandleReloadConfigRequest is not supported: the model repository decides which models are served; change its "
      "files (--model-control poll), or load and unload models with RepositoryModelLoad and RepositoryModelUnload "
      "(--model-control explicit)");
}

}  // namespace tern::server::tfs

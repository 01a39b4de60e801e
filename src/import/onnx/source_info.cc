#include "import/onnx/source_info.h"

#include "base/strings.h"
#include "import/onnx/proto_tensor.h"

namespace tern::onnx {

Metadata MetadataOf(const pb::ModelProto& model) {
  Metadata out;
  const auto add = [&](const std::string& key, const std::string& value) {
    if (!value.empty()) out.emplace_back(StrCat(kSourceKey, key), value);
  };
  for (const auto& m : model.metadata_props()) out.emplace_back(m.key(), m.value());
  if (model.has_ir_version()) add("ir_version", StrCat(model.ir_version()));
  for (const auto& o : model.opset_import())
    add(StrCat("opset ", o.domain().empty() ? "ai.onnx" : o.domain()), StrCat(o.version()));
  add("producer_name", model.producer_name());
  add("producer_version", model.producer_version());
  add("domain", model.domain());
  if (model.model_version()) add("model_version", StrCat(model.model_version()));
  add("doc_string", model.doc_string());
  return out;
}

void SetMetadata(const Metadata& metadata, pb::ModelProto& model) {
  for (const auto& [key, value] : metadata) {
    if (!StartsWith(key, kSourceKey)) {
      auto* m = model.add_metadata_props();
      m->set_key(key);
      m->set_value(value);
      continue;
    }
    const std::string field = key.substr(kSourceKey.size());
    int64_t version = 0;
    if (field == "domain") model.set_domain(value);
    if (field == "doc_string") model.set_doc_string(value);
    if (field == "model_version" && ParseInt(value, version)) model.set_model_version(version);
  }
}

}  // namespace tern::onnx

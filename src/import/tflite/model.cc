#include "import/tflite/model.h"

#include <algorithm>
#include <filesystem>

namespace tern::tflite {
namespace {

namespace fs = std::filesystem;

// Offsets in a flatbuffer have 31 bits. Buffers that lie behind the flatbuffer may be beyond this limit.
constexpr size_t kMaxFlatbuffer = FLATBUFFERS_MAX_BUFFER_SIZE - 1;
constexpr int kMaxNesting = 64;
constexpr int kMaxTables = 8000000;
constexpr uint32_t kVersion = 3;

struct Row {
  int number;
  const char* name;
};
constexpr Row kOperators[] = {
#define TERN_TFLITE_OPERATOR(number, name) {number, #name},
#include "import/tflite/operators.inc"
#undef TERN_TFLITE_OPERATOR
};

template <class T> bool AnyNull(const flatbuffers::Vector<flatbuffers::Offset<T>>* values) {
  return values && std::any_of(values->begin(), values->end(), [](const T* v) { return !v; });
}

// Fails if an index is outside [least, count).
Status CheckIndices(const flatbuffers::Vector<int32_t>* indices, int64_t least, uint32_t count,
                    const std::string& what) {
  for (uint32_t i = 0; indices && i < indices->size(); ++i)
    if (indices->Get(i) < least || indices->Get(i) >= static_cast<int64_t>(count))
      return InvalidModel(what, " ", i, " is tensor ", indices->Get(i), ", but the subgraph has ", count,
                          " tensors");
  return {};
}

template <class T> uint32_t SizeOf(const flatbuffers::Vector<T>* values) {
  return values ? values->size() : 0;
}

}  // namespace

std::string TextOf(const flatbuffers::String* text) { return text ? text->str() : std::string(); }

Result<Model> Model::Open(const load::Source& source) {
  Model model;
  model.source_ = &source;
  const auto* bytes = reinterpret_cast<const uint8_t*>(source.bytes.data());
  const size_t size = std::min(source.bytes.size(), kMaxFlatbuffer);
  if (size < 8 || !fb::ModelBufferHasIdentifier(bytes))
    return InvalidModel("not a TensorFlow Lite model: bytes 4 to 7 are not 'TFL3'");
  flatbuffers::Verifier verifier(bytes, size, kMaxNesting, kMaxTables);
  if (!fb::VerifyModelBuffer(verifier))
    return InvalidModel("the flatbuffer of ", source.bytes.size(), " bytes is broken or cut short");
  model.root_ = fb::GetModel(bytes);
  TERN_TRY(model.Check());
  return model;
}

Status Model::Check() const {
  if (root_->version() != kVersion)
    return Unsupported("version ", root_->version(), " of the format; Tern reads version ", kVersion);
  if (!SizeOf(root_->subgraphs())) return InvalidModel("the model has no subgraph");
  if (AnyNull(root_->subgraphs()) || AnyNull(root_->operator_codes()) || AnyNull(root_->buffers()) ||
      AnyNull(root_->signature_defs()))
    return InvalidModel("the flatbuffer is broken: an element of a list is missing");
  for (int i = 0; i < subgraph_count(); ++i) TERN_TRY(CheckSubgraph(i));
  for (uint32_t i = 0; i < SizeOf(root_->signature_defs()); ++i) {
    const fb::SignatureDef& def = *root_->signature_defs()->Get(i);
    if (def.subgraph_index() >= static_cast<uint32_t>(subgraph_count()))
      return InvalidModel("signature '", TextOf(def.signature_key()), "' is of subgraph ",
                          def.subgraph_index(), ", but the model has ", subgraph_count());
    if (AnyNull(def.inputs()) || AnyNull(def.outputs()))
      return InvalidModel("signature '", TextOf(def.signature_key()), "' is broken");
  }
  return {};
}

Status Model::CheckSubgraph(int index) const {
  const fb::SubGraph& graph = subgraph(index);
  if (AnyNull(graph.tensors()) || AnyNull(graph.operators()))
    return InvalidModel("subgraph ", index, " is broken: an element of a list is missing");
  const uint32_t tensors = SizeOf(graph.tensors()), codes = SizeOf(root_->operator_codes());
  TERN_TRY(CheckIndices(graph.inputs(), 0, tensors, StrCat("subgraph ", index, ": input")));
  TERN_TRY(CheckIndices(graph.outputs(), 0, tensors, StrCat("subgraph ", index, ": output")));
  for (uint32_t i = 0; i < SizeOf(graph.operators()); ++i) {
    const fb::Operator& op = *graph.operators()->Get(i);
    const std::string place = StrCat("subgraph ", index, ", operator ", i, ": ");
    if (op.opcode_index() >= codes)
      return InvalidModel(place, "operator code ", op.opcode_index(), " does not exist; the model has ",
                          codes);
    TERN_TRY(CheckIndices(op.inputs(), -1, tensors, place + "input"));
    TERN_TRY(CheckIndices(op.outputs(), -1, tensors, place + "output"));
    TERN_TRY(CheckIndices(op.intermediates(), -1, tensors, place + "intermediate"));
  }
  for (uint32_t i = 0; i < tensors; ++i)
    if (graph.tensors()->Get(i)->buffer() >= std::max<uint32_t>(1, SizeOf(root_->buffers())))
      return InvalidModel("subgraph ", index, ": tensor ", i, " '", TextOf(graph.tensors()->Get(i)->name()),
                          "' has buffer ", graph.tensors()->Get(i)->buffer(), ", but the model has ",
                          SizeOf(root_->buffers()), " buffers");
  return {};
}

Result<int> Model::Find(const std::string& signature) const {
  if (signature.empty()) return 0;
  std::vector<std::string> known;
  for (uint32_t i = 0; i < SizeOf(root_->signature_defs()); ++i) {
    const fb::SignatureDef& def = *root_->signature_defs()->Get(i);
    known.push_back(TextOf(def.signature_key()));
    if (known.back() == signature) return static_cast<int>(def.subgraph_index());
  }
  if (known.empty()) return NotFound("the model has no signatures, so there is no '", signature, "'");
  return NotFound("the model has no signature '", signature, "'; it has: ", Join(known, ", "));
}

std::string Model::SignatureName(int subgraph, int tensor, bool output) const {
  for (uint32_t i = 0; i < SizeOf(root_->signature_defs()); ++i) {
    const fb::SignatureDef& def = *root_->signature_defs()->Get(i);
    if (def.subgraph_index() != static_cast<uint32_t>(subgraph)) continue;
    const auto* maps = output ? def.outputs() : def.inputs();
    for (uint32_t k = 0; k < SizeOf(maps); ++k)
      if (maps->Get(k)->tensor_index() == static_cast<uint32_t>(tensor)) return TextOf(maps->Get(k)->name());
  }
  return {};
}

// Old files have only the deprecated field, which has 8 bits. New files have both, and the deprecated one is
// at most 127.
std::string Model::OperatorName(const fb::Operator& op) const {
  const fb::OperatorCode& code = *root_->operator_codes()->Get(op.opcode_index());
  const int number = std::max<int>(code.deprecated_builtin_code(), code.builtin_code());
  if (number == kCustom) return "CUSTOM:" + TextOf(code.custom_code());
  for (const Row& row : kOperators)
    if (row.number == number) return row.name;
  return StrCat("operator #", number);
}

Result<Buffer> Model::Range(uint64_t offset, uint64_t size, const std::string& what) const {
  const uint64_t all = source_->bytes.size();
  if (offset > all || size > all - offset)
    return InvalidModel(what, ": ", size, " bytes at ", offset, " are beyond the end of the file, which has ",
                        all, " bytes");
  return source_->bytes.Slice(offset, size);
}

// In a file of more than 2 GB, the bytes of a buffer may follow the flatbuffer, at `offset`. The offsets 0
// and 1 mean that they do not.
Result<Buffer> Model::DataOf(const fb::Tensor& tensor) const {
  if (tensor.external_buffer() != 0) return ExternalData(tensor);
  if (!SizeOf(root_->buffers())) return Buffer();
  const fb::Buffer& buffer = *root_->buffers()->Get(tensor.buffer());
  if (buffer.offset() > 1)
    return Range(buffer.offset(), buffer.size(),
                 StrCat("buffer ", tensor.buffer(), " of tensor '", TextOf(tensor.name()), "'"));
  if (!SizeOf(buffer.data())) return Buffer();
  const auto at =
      static_cast<uint64_t>(buffer.data()->data() - reinterpret_cast<const uint8_t*>(source_->bytes.data()));
  return Range(at, buffer.data()->size(), "a buffer");
}

Result<Buffer> Model::CustomOptions(const fb::Operator& op) const {
  if (op.large_custom_options_offset() > 1)
    return Range(op.large_custom_options_offset(), op.large_custom_options_size(),
                 "options of a custom operator");
  if (!SizeOf(op.custom_options())) return Buffer();
  const auto at = static_cast<uint64_t>(op.custom_options()->data() -
                                        reinterpret_cast<const uint8_t*>(source_->bytes.data()));
  return Range(at, op.custom_options()->size(), "options of a custom operator");
}

Result<Buffer> Model::ExternalData(const fb::Tensor& tensor) const {
  const std::string what = StrCat("tensor '", TextOf(tensor.name()), "'");
  for (uint32_t i = 0; i < SizeOf(root_->external_buffers()); ++i) {
    const fb::ExternalBuffer* data = root_->external_buffers()->Get(i);
    if (!data || data->id() != tensor.external_buffer()) continue;
    if (data->group() >= SizeOf(root_->external_buffer_groups()) ||
        !root_->external_buffer_groups()->Get(data->group()))
      return InvalidModel(what, ": the group ", data->group(), " of its external buffer does not exist");
    if (const std::string packing = TextOf(data->packing()); !packing.empty() && packing != "unpacked")
      return Unsupported(what, ": its external buffer has the packing '", packing, "'");
    const std::string name = TextOf(root_->external_buffer_groups()->Get(data->group())->name());
    auto file = ExternalFile(name);
    if (!file.ok()) return file.TakeStatus().While(StrCat("reading ", what));
    if (data->offset() > file->size() || data->length() > file->size() - data->offset())
      return InvalidModel(what, " needs ", data->length(), " bytes at ", data->offset(), " of '", name,
                          "', which has ", file->size());
    return file->Slice(data->offset(), data->length());
  }
  return InvalidModel(what, ": external buffer ", tensor.external_buffer(), " does not exist");
}

// The file must be in the folder of the model or below it.
Result<Buffer> Model::ExternalFile(const std::string& name) const {
  if (source_->path.empty())
    return InvalidModel("the weights are in the file '", name,
                        "', but a model in memory cannot have such files");
  const fs::path relative(name);
  if (name.empty() || relative.is_absolute() ||
      std::find(relative.begin(), relative.end(), "..") != relative.end())
    return InvalidModel("the external file '", name, "' must be a path inside the model's folder");
  if (const auto found = files_.find(name); found != files_.end()) return found->second;
  std::error_code error;
  const fs::path parent = fs::path(source_->path).parent_path();
  const fs::path root = fs::canonical(parent.empty() ? "." : parent, error);
  const fs::path real = error ? fs::path() : fs::canonical(root / relative, error);
  if (error) return IoError("cannot open the external file '", name, "': ", error.message());
  if (std::mismatch(root.begin(), root.end(), real.begin(), real.end()).first != root.end())
    return InvalidModel("the external file '", name, "' leaves the model's folder");
  if (!fs::is_regular_file(real, error))
    return IoError("the external file '", name, "' is not a regular file");
  TERN_ASSIGN(Buffer mapped, Buffer::MapFile(real.string()));
  files_[name] = mapped;
  return mapped;
}

}  // namespace tern::tflite

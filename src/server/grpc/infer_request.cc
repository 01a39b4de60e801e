#include "server/grpc/infer_request.h"

#include <algorithm>

#include "server/grpc/infer_parameters.h"
#include "server/grpc/proto_wire.h"
#include "server/grpc/typed_contents.h"

namespace tern::server {
namespace {

// Where the data of an input is, if it is not in raw_input_contents.
struct InputSource {
  SharedMemoryUse shared;
  std::string_view contents;
  bool has_contents = false;
};

class Parser {
 public:
  Parser(const Buffer& message, const InferParseOptions& options, InferMessage& out)
      : message_(message), options_(options), out_(out), request_(out.request) {}

  Status Parse() {
    ProtoReader reader({reinterpret_cast<const char*>(message_.data()), message_.size()});
    while (reader.Next())
      if (reader.kind() == ProtoKind::kBytes) TERN_TRY(ReadField(reader.field(), reader.bytes()));
    if (!reader.ok()) return NoMessage();
    TERN_TRY(CheckNames());
    return ConnectInputs();
  }

 private:
  static Status NoMessage() { return InvalidArgument("the request is not a ModelInferRequest message"); }

  Status ReadField(uint32_t field, std::string_view bytes) {
    switch (field) {
      case 1:
        return ReadText(bytes, out_.model);
      case 2:
        return ReadText(bytes, out_.version);
      case 3:
        return ReadText(bytes, request_.id);
      case 4:
        return ReadRequestParameter(bytes, request_);
      case 5:
        return ReadInput(bytes);
      case 6:
        return ReadOutput(bytes);
      case 7:
        return AddRaw(bytes);
      default:
        return {};
    }
  }

  template <class Text> static Status ReadText(std::string_view bytes, Text& out) {
    if (!IsUtf8(bytes)) return InvalidArgument("a string of the request is not UTF-8");
    out = bytes;
    return {};
  }

  Status TooMany(const char* what) const {
    return InvalidArgument("the request has more than ", options_.tensors, " ", what);
  }

  Status AddRaw(std::string_view bytes) {
    if (raw_.size() >= options_.tensors) return TooMany("raw_input_contents");
    raw_.push_back(bytes);
    return {};
  }

  Status ReadInput(std::string_view bytes) {
    if (request_.inputs.size() >= options_.tensors) return TooMany("inputs");
    WireTensor& tensor = request_.inputs.emplace_back();
    InputSource& source = sources_.emplace_back();
    ProtoReader reader(bytes);
    while (reader.Next()) TERN_TRY(ReadInputField(reader, tensor, source));
    return reader.ok() ? Status() : NoMessage();
  }

  Status ReadInputField(const ProtoReader& reader, WireTensor& tensor, InputSource& source) {
    if (reader.Is(3, ProtoKind::kVarint)) return AddDim(reader.value(), tensor);
    if (reader.kind() != ProtoKind::kBytes) return {};
    switch (reader.field()) {
      case 1:
        return ReadText(reader.bytes(), tensor.name);
      case 2:
        tensor.dtype = WireType(reader.bytes());
        if (tensor.dtype == DType::kInvalid)
          return InvalidArgument("input '", tensor.name, "': unknown datatype ",
                                 QuoteText(reader.bytes().substr(0, 32)));
        return {};
      case 3:
        return ReadDims(reader.bytes(), tensor);
      case 4:
        return ReadInputParameter(reader.bytes(), source.shared);
      case 5:
        source.contents = reader.bytes();
        source.has_contents = true;
        return {};
      default:
        return {};
    }
  }

  static Status AddDim(uint64_t dim, WireTensor& tensor) {
    constexpr size_t kMaxRank = 64;
    if (static_cast<int64_t>(dim) < 0)
      return InvalidArgument("input '", tensor.name, "': dim ", tensor.dims.size(), " is ",
                             static_cast<int64_t>(dim));
    if (tensor.dims.size() >= kMaxRank)
      return InvalidArgument("input '", tensor.name, "' has more than ", kMaxRank, " dims");
    tensor.dims.push_back(static_cast<int64_t>(dim));
    return {};
  }

  static Status ReadDims(std::string_view packed, WireTensor& tensor) {
    const char* at = packed.data();
    const char* end = at + packed.size();
    uint64_t dim = 0;
    while (at < end) {
      if (!ReadVarint(at, end, dim)) return NoMessage();
      TERN_TRY(AddDim(dim, tensor));
    }
    return {};
  }

  Status ReadOutput(std::string_view bytes) {
    if (request_.outputs.size() >= options_.tensors) return TooMany("outputs");
    RequestedOutput& output = request_.outputs.emplace_back();
    SharedMemoryUse shared;
    ProtoReader reader(bytes);
    while (reader.Next()) {
      if (reader.Is(1, ProtoKind::kBytes)) TERN_TRY(ReadText(reader.bytes(), output.name));
      if (reader.Is(2, ProtoKind::kBytes))
        TERN_TRY(ReadOutputParameter(reader.bytes(), shared, output.classification));
    }
    if (!reader.ok()) return NoMessage();
    if (shared.region.empty()) return {};
    TERN_ASSIGN(auto range, FindShared(output.name, shared));
    out_.shared.outputs.push_back({output.name, std::move(range)});
    return {};
  }

  Result<std::shared_ptr<const SharedMemoryRange>> FindShared(const std::string& tensor,
                                                              const SharedMemoryUse& use) const {
    if (!options_.shared_memory) return Unsupported(kSharedMemoryOff);
    if (!use.has_bytes)
      return InvalidArgument("'shared_memory_byte_size' must be specified along with 'shared_memory_region'",
                             " parameter for tensor '", tensor, "'");
    return options_.shared_memory->Find(std::string(use.region), use.offset, use.bytes);
  }

  // Sets the bytes of every input.
  Status ConnectInputs() {
    size_t raw = 0;
    for (size_t i = 0; i < request_.inputs.size(); ++i) TERN_TRY(ConnectInput(i, raw));
    if (raw == raw_.size()) return {};
    return InvalidArgument("unexpected additional input data for model '", out_.model, "': the request has ",
                           raw_.size(), " raw_input_contents for ", raw, " inputs");
  }

  Status ConnectInput(size_t i, size_t& raw) {
    WireTensor& tensor = request_.inputs[i];
    const InputSource& source = sources_[i];
    if (tensor.dtype == DType::kInvalid) return InvalidArgument("input '", tensor.name, "' has no datatype");
    const auto count = CheckedCount(tensor.dims, tensor.dtype);
    if (!count) return InvalidArgument("input '", tensor.name, "': the shape has too many elements");
    if (source.has_contents && (!raw_.empty() || !source.shared.region.empty()))
      return InvalidArgument(
          "contents field must not be specified when using raw_input_contents or shared memory for '",
          tensor.name, "' for model '", out_.model, "'");
    if (!source.shared.region.empty()) {
      TERN_ASSIGN(auto range, FindShared(tensor.name, source.shared));
      if (__builtin_add_overflow(out_.converted, range->size(), &out_.converted))
        return InvalidArgument("the inputs in shared memory have too many bytes");
      out_.shared.inputs.push_back({i, std::move(range)});
      return {};
    }
    if (!raw_.empty()) return TakeRaw(tensor, raw);
    return Convert(tensor, source, *count);
  }

  Status TakeRaw(WireTensor& tensor, size_t& raw) {
    if (raw == raw_.size())
      return InvalidArgument("input '", tensor.name, "': the request has only ", raw, " raw_input_contents");
    const std::string_view bytes = raw_[raw++];
    const auto offset = bytes.data() - reinterpret_cast<const char*>(message_.data());
    tensor.bytes = message_.Slice(static_cast<size_t>(offset), bytes.size());
    return {};
  }

  Status Convert(WireTensor& tensor, const InputSource& source, int64_t count) {
    auto bytes = ConvertContents(source.contents, tensor.dtype, count, options_.bytes);
    if (!bytes.ok())
      return InvalidArgument("input '", tensor.name, "' for model '", out_.model,
                             "': ", bytes.status().message());
    out_.converted += bytes->size();
    tensor.bytes = std::move(*bytes);
    return {};
  }

  Status CheckNames() const {
    std::vector<std::string_view> names;
    for (const WireTensor& tensor : request_.inputs) names.push_back(tensor.name);
    TERN_TRY(CheckUnique(names, "input"));
    names.clear();
    for (const RequestedOutput& output : request_.outputs) names.push_back(output.name);
    return CheckUnique(names, "output");
  }

  static Status CheckUnique(std::vector<std::string_view>& names, const char* what) {
    if (names.size() < 2) return {};
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice == names.end()) return {};
    return InvalidArgument(what, " '", *twice, "' already exists in request");
  }

  const Buffer& message_;
  const InferParseOptions& options_;
  InferMessage& out_;
  Request& request_;
  std::vector<InputSource> sources_;
  std::vector<std::string_view> raw_;
};

}  // namespace

RequestNames PeekNames(const Buffer& message) {
  RequestNames names;
  std::string_view* const texts[] = {&names.model, &names.version, &names.id};
  ProtoReader reader({reinterpret_cast<const char*>(message.data()), message.size()});
  // protobuf writes fields in the order of their numbers.
  for (uint32_t last = 0; reader.Next() && reader.kind() == ProtoKind::kBytes; last = reader.field()) {
    if (reader.field() <= last || reader.field() > std::size(texts)) break;
    if (!IsUtf8(reader.bytes())) return {};
    *texts[reader.field() - 1] = reader.bytes();
  }
  return reader.ok() ? names : RequestNames();
}

bool TakesLongToParse(const Buffer& message) {
  constexpr size_t kMaxBytes = size_t{256} << 10;
  constexpr int kMaxFields = 4096;  // a client could send millions of them
  size_t bytes = message.size();
  ProtoReader reader({reinterpret_cast<const char*>(message.data()), message.size()});
  for (int i = 0; bytes > kMaxBytes && i < kMaxFields && reader.Next(); ++i)
    if (reader.Is(7, ProtoKind::kBytes)) bytes -= reader.bytes().size();  // raw_input_contents
  return bytes > kMaxBytes;
}

Status ParseInferRequest(const Buffer& message, const InferParseOptions& options, InferMessage& out) {
  return Guard([&] { return Parser(message, options, out).Parse(); });
}

}  // namespace tern::server

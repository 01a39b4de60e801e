// The bytes of an entry in Redis: a magic number with a version, the outputs, the text, and the parameters.
// Numbers are little-endian. Each text and each tensor is preceded by its length.
#include <cstring>

#include "server/cache/cached_response.h"
#include "server/core/model_config.h"
#include "server/scheduler/wire_tensor.h"

namespace tern::server {
namespace {

constexpr std::string_view kMagic = "TERNRC01";
// Limits on the numbers that are read, so that a damaged entry does not take much memory.
constexpr uint64_t kMaxItems = 4096, kMaxRank = 64;

void PutNumber(uint64_t value, std::string& out) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof bytes);
}

void PutText(std::string_view text, std::string& out) {
  PutNumber(text.size(), out);
  out += text;
}

void PutValue(const ParameterValue& value, std::string& out) {
  PutNumber(value.index(), out);
  if (const auto* text = std::get_if<std::string>(&value)) return PutText(*text, out);
  uint64_t bits = 0;
  if (const auto* flag = std::get_if<bool>(&value)) bits = *flag ? 1 : 0;
  if (const auto* integer = std::get_if<int64_t>(&value)) std::memcpy(&bits, integer, sizeof bits);
  if (const auto* real = std::get_if<double>(&value)) std::memcpy(&bits, real, sizeof bits);
  PutNumber(bits, out);
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  Result<uint64_t> Number(uint64_t limit = UINT64_MAX) {
    uint64_t value = 0;
    if (rest_.size() < sizeof value) return IoError("the cache entry is cut off");
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    if (value > limit) return IoError("the cache entry has the number ", value, ", at most ", limit);
    return value;
  }
  Result<std::string_view> Text() {
    TERN_ASSIGN(const uint64_t size, Number());
    if (size > rest_.size())
      return IoError("the cache entry has a text of ", size, " bytes, but ", rest_.size(), " are left");
    const std::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return text;
  }
  bool done() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

Status ReadOutput(Reader& reader, WireTensor& output) {
  TERN_ASSIGN(const std::string_view name, reader.Text());
  output.name = name;
  TERN_ASSIGN(const std::string_view type, reader.Text());
  output.dtype = WireType(type);
  TERN_ASSIGN(const uint64_t rank, reader.Number(kMaxRank));
  for (uint64_t i = 0; i < rank; ++i) {
    TERN_ASSIGN(const uint64_t dim, reader.Number(INT64_MAX));
    output.dims.push_back(static_cast<int64_t>(dim));
  }
  TERN_ASSIGN(const std::string_view bytes, reader.Text());
  const auto elements = ElementCount(output.dims);
  if (output.dtype == DType::kInvalid || !elements)
    return IoError("the cache entry has an output of type '", type, "' and shape ", DimsText(output.dims));
  output.bytes = Buffer::Allocate(bytes.size());
  if (!bytes.empty()) std::memcpy(output.bytes.data(), bytes.data(), bytes.size());
  bool fits = false;
  if (output.dtype == DType::kString) {
    const StringWalk walk = SkipStrings(output.bytes, 0, *elements);
    fits = walk.elements == *elements && walk.offset == bytes.size();
  } else {
    fits = FixedBytes(output.dtype, output.dims) == bytes.size();
  }
  return fits ? Status()
              : IoError("the cache entry has ", bytes.size(), " bytes for an output of shape ",
                        DimsText(output.dims));
}

Status ReadValue(Reader& reader, ParameterValue& value) {
  TERN_ASSIGN(const uint64_t kind, reader.Number(3));
  if (kind == 3) {
    TERN_ASSIGN(const std::string_view text, reader.Text());
    value = std::string(text);
    return {};
  }
  TERN_ASSIGN(const uint64_t bits, reader.Number());
  if (kind == 0) value = bits != 0;
  if (kind == 1) value = static_cast<int64_t>(bits);
  double real = 0;
  std::memcpy(&real, &bits, sizeof real);
  if (kind == 2) value = real;
  return {};
}

}  // namespace

std::string Encode(const CachedResponse& response) {
  std::string out(kMagic);
  out.reserve(response.bytes() + 256);
  PutNumber(response.outputs.size(), out);
  for (const WireTensor& output : response.outputs) {
    PutText(output.name, out);
    PutText(WireName(output.dtype), out);
    PutNumber(output.dims.size(), out);
    for (const int64_t dim : output.dims) PutNumber(static_cast<uint64_t>(dim), out);
    PutText({reinterpret_cast<const char*>(output.bytes.data()), output.bytes.size()}, out);
  }
  PutText(response.text, out);
  PutNumber(response.parameters.size(), out);
  for (const auto& [name, value] : response.parameters) {
    PutText(name, out);
    PutValue(value, out);
  }
  return out;
}

Result<std::shared_ptr<const CachedResponse>> Decode(std::string_view bytes) {
  if (bytes.substr(0, kMagic.size()) != kMagic) return IoError("the cache entry has another format");
  Reader reader(bytes.substr(kMagic.size()));
  auto response = std::make_shared<CachedResponse>();
  TERN_ASSIGN(const uint64_t outputs, reader.Number(kMaxItems));
  for (uint64_t i = 0; i < outputs; ++i) TERN_TRY(ReadOutput(reader, response->outputs.emplace_back()));
  TERN_ASSIGN(const std::string_view text, reader.Text());
  response->text = text;
  TERN_ASSIGN(const uint64_t parameters, reader.Number(kMaxItems));
  for (uint64_t i = 0; i < parameters; ++i) {
    auto& [name, value] = response->parameters.emplace_back();
    TERN_ASSIGN(const std::string_view key, reader.Text());
    name = key;
    TERN_TRY(ReadValue(reader, value));
  }
  if (!reader.done()) return IoError("the cache entry has bytes after its end");
  return std::shared_ptr<const CachedResponse>(std::move(response));
}

}  // namespace tern::server

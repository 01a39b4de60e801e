#include "data/npy.h"

#include <algorithm>
#include <cstring>

#include "data/file.h"
#include "data/npy_header.h"
#include "data/utf8.h"

namespace tern::data {
namespace {

struct NumpyType {
  DType dtype;
  char kind;
  int bytes;
};
constexpr NumpyType kTypes[] = {{DType::kF32, 'f', 4}, {DType::kF64, 'f', 8},   {DType::kF16, 'f', 2},
                                {DType::kI8, 'i', 1},  {DType::kI16, 'i', 2},   {DType::kI32, 'i', 4},
                                {DType::kI64, 'i', 8}, {DType::kU8, 'u', 1},    {DType::kU16, 'u', 2},
                                {DType::kU32, 'u', 4}, {DType::kU64, 'u', 8},   {DType::kBool, 'b', 1},
                                {DType::kC64, 'c', 8}, {DType::kC128, 'c', 16}, {DType::kU8, 'V', 1},
                                {DType::kU16, 'V', 2}};  // ml_dtypes stores bfloat16 and fp8 as void

Result<DType> NumberType(const NpyHeader& h) {
  for (const NumpyType& t : kTypes)
    if (t.kind == h.kind && t.bytes == h.item_bytes) return t.dtype;
  return Unsupported("numpy type '", h.kind, h.item_bytes, "' is not supported");
}

void SwapBytes(char* data, size_t bytes, size_t width) {
  if (width > 1)
    for (size_t i = 0; i + width <= bytes; i += width) std::reverse(data + i, data + i + width);
}

Result<std::string> DecodeText(std::string_view item, const NpyHeader& h) {
  std::string out;
  if (h.kind == 'S') {
    out = item;
    out.erase(out.find_last_not_of('\0') + 1);
    return out;
  }
  size_t zeros = 0;  // zeros since the last other character; zeros at the end are padding
  for (size_t i = 0; i < item.size(); i += 4) {
    uint8_t b[4];
    std::memcpy(b, item.data() + i, 4);
    if (h.big_endian) std::reverse(b, b + 4);
    const uint32_t c = b[0] | uint32_t{b[1]} << 8 | uint32_t{b[2]} << 16 | uint32_t{b[3]} << 24;
    if (c == 0) {
      ++zeros;
      continue;
    }
    out.append(zeros, '\0');
    zeros = 0;
    if (!AppendUtf8(c, out)) return InvalidArgument("a text contains the impossible code point ", c);
  }
  return out;
}

Result<Tensor> ReadStrings(std::string_view data, const NpyHeader& h, const Dims& dims, int64_t count) {
  // Empty strings take 0 bytes, so the file's size does not limit their number.
  constexpr int64_t kMaxEmpty = 1 << 20;
  if (h.item_bytes == 0 && count > kMaxEmpty)
    return InvalidArgument("the .npy header claims ", count, " empty strings");
  Tensor t(DType::kString, dims);
  const auto width = static_cast<size_t>(h.item_bytes);
  for (int64_t i = 0; i < count; ++i) {
    TERN_ASSIGN(t.data<std::string>()[i], DecodeText(data.substr(static_cast<size_t>(i) * width, width), h));
  }
  return t;
}

Result<Tensor> ReadNumbers(std::string_view data, const NpyHeader& h, const Dims& dims) {
  TERN_ASSIGN(const DType dtype, NumberType(h));
  Tensor t(dtype, dims);
  if (t.bytes()) std::memcpy(t.raw(), data.data(), t.bytes());
  const auto width = static_cast<size_t>(h.item_bytes);
  if (h.big_endian) SwapBytes(t.data<char>(), t.bytes(), IsComplex(dtype) ? width / 2 : width);
  if (dtype == DType::kBool)
    for (int64_t i = 0; i < t.size(); ++i) t.data<uint8_t>()[i] = t.data<uint8_t>()[i] != 0;
  return t;
}

// Converts column-major data to row-major. `t` has the column-major data, but with reversed dims, so it looks
// row-major.
Tensor FromFortran(const Tensor& t) {
  Dims dims(t.dims().rbegin(), t.dims().rend()), strides(t.strides().rbegin(), t.strides().rend());
  return Tensor::View(t.buffer(), t.dtype(), std::move(dims), std::move(strides)).Contiguous();
}

uint32_t UnpackBits(const Tensor& t, int64_t i, int bits) {
  const int64_t bit = i * bits;
  return t.data<uint8_t>()[bit >> 3] >> (bit & 7) & ((1u << bits) - 1);
}

std::string Descr(DType dtype) {
  for (const NumpyType& t : kTypes)
    if (t.dtype == dtype) return StrCat(t.bytes == 1 ? "|" : "<", t.kind, t.bytes);
  return {};
}

constexpr size_t kMaxText = size_t{1} << 31;

Status TooMuchText(size_t count, size_t width) {
  return ResourceExhausted("numpy's fixed-width text would take more than 2 GiB for ", count,
                           " strings of up to ", width, " characters; write .json or .pb");
}

Result<std::string> FormatStrings(const Tensor& t) {
  const std::vector<std::string> strings = ToStrings(t);
  std::vector<std::vector<uint32_t>> decoded;
  size_t width = 0, bytes_width = 0;
  bool text = true;
  for (const std::string& s : strings) {
    bytes_width = std::max(bytes_width, s.size());
    auto code_points = text ? DecodeUtf8(s) : std::nullopt;
    text = code_points.has_value();
    if (!text) continue;
    width = std::max(width, code_points->size());
    decoded.push_back(std::move(*code_points));
  }
  const size_t item = std::max<size_t>(1, text ? width * 4 : bytes_width);
  if (strings.size() > kMaxText / item) return TooMuchText(strings.size(), text ? width : bytes_width);
  std::string out =
      FormatNpyHeader(text ? StrCat("<U", std::max<size_t>(1, width)) : StrCat("|S", item), t.dims());
  for (size_t i = 0; i < strings.size(); ++i) {
    const size_t end = out.size() + (text ? std::max<size_t>(1, width) * 4 : item);
    if (text)
      out.append(reinterpret_cast<const char*>(decoded[i].data()), decoded[i].size() * 4);
    else
      out += strings[i];
    out.resize(end, '\0');
  }
  return out;
}

Tensor PackBits(const Tensor& t, DType wanted) {
  Tensor out(wanted, t.dims());
  const int bits = BitWidth(wanted);
  for (int64_t i = 0; i < t.size(); ++i) {
    const uint32_t v = t.data<uint8_t>()[i] & ((1u << bits) - 1);
    const int64_t bit = i * bits;
    out.data<uint8_t>()[bit >> 3] |= static_cast<uint8_t>(v << (bit & 7));
  }
  return out;
}

Status CheckRange(const Tensor& t, DType wanted) {
  const int bits = BitWidth(wanted);
  const int64_t low = IsSignedInt(wanted) ? -(1 << (bits - 1)) : 0, high = low + (1 << bits) - 1;
  for (int64_t i = 0; i < t.size(); ++i) {
    const int64_t v = LoadLong(t, i);
    if (v < low || v > high)
      return InvalidArgument("element [", i, "] is ", v, ", outside ", DTypeName(wanted), "'s range ", low,
                             " to ", high);
  }
  return {};
}

}  // namespace

Result<Tensor> ParseNpy(std::string_view bytes) {
  return Guard([&]() -> Result<Tensor> {
    TERN_ASSIGN(NpyHeader h, ParseNpyHeader(bytes));
    const auto count = CheckedCount(h.shape, DType::kI8);
    int64_t needed = 0;
    if (!count || __builtin_mul_overflow(*count, h.item_bytes, &needed))
      return InvalidArgument("the .npy header claims the impossible shape [", Join(h.shape, ","), "]");
    const std::string_view data = bytes.substr(h.data_offset);
    if (static_cast<uint64_t>(needed) > data.size())
      return InvalidArgument("shape [", Join(h.shape, ","), "] needs ", needed, " bytes, but the file holds ",
                             data.size());
    const bool text = h.kind == 'U' || h.kind == 'S';
    Dims dims = h.shape;
    if (h.fortran_order) std::reverse(dims.begin(), dims.end());
    TERN_ASSIGN(Tensor t, text ? ReadStrings(data, h, dims, *count) : ReadNumbers(data, h, dims));
    return h.fortran_order ? FromFortran(t) : t;
  });
}

Result<Tensor> ReadNpy(const std::string& path) {
  TERN_ASSIGN(Buffer file, Buffer::MapFile(path));
  auto t = ParseNpy({reinterpret_cast<const char*>(file.data()), file.size()});
  if (!t.ok()) return t.TakeStatus().While(StrCat("reading '", path, "'"));
  return t;
}

Result<std::string> FormatNpy(const Tensor& tensor) {
  const Tensor t = ToStorage(tensor);
  if (t.dtype() == DType::kString) return FormatStrings(t);
  std::string out = FormatNpyHeader(Descr(t.dtype()), t.dims());
  out.append(t.data<char>(), t.bytes());
  return out;
}

Status WriteNpy(const std::string& path, const Tensor& tensor) {
  TERN_ASSIGN(const std::string bytes, FormatNpy(tensor));
  return WriteFile(path, bytes);
}

DType StorageType(DType dtype) {
  if (dtype == DType::kBF16) return DType::kU16;
  if (IsFloat(dtype) && BitWidth(dtype) <= 8) return DType::kU8;
  if (BitWidth(dtype) < 8 && IsSignedInt(dtype)) return DType::kI8;
  if (BitWidth(dtype) < 8 && IsUnsignedInt(dtype)) return DType::kU8;
  return dtype;
}

Tensor ToStorage(const Tensor& tensor) {
  const Tensor t = tensor.Contiguous();
  const DType storage = StorageType(t.dtype());
  if (storage == t.dtype()) return t;
  const int bits = BitWidth(t.dtype());
  if (bits >= 8) return Tensor::View(t.buffer(), storage, t.dims());
  Tensor out(storage, t.dims());
  for (int64_t i = 0; i < t.size(); ++i) {
    const auto v = static_cast<uint8_t>(UnpackBits(t, i, bits));
    const bool negative = storage == DType::kI8 && v >> (bits - 1);
    out.data<uint8_t>()[i] = negative ? static_cast<uint8_t>(v | 0xffu << bits) : v;
  }
  return out;
}

Result<Tensor> AdoptStorage(Tensor stored, DType wanted) {
  if (stored.dtype() == wanted) return stored;
  if (StorageType(wanted) != stored.dtype() || wanted == DType::kInvalid)
    return InvalidArgument("holds ", stored.Describe(), ", but the expected type is ", DTypeName(wanted));
  stored = stored.Contiguous();
  if (BitWidth(wanted) >= 8) return Tensor::View(stored.buffer(), wanted, stored.dims());
  TERN_TRY(CheckRange(stored, wanted));
  return PackBits(stored, wanted);
}

}  // namespace tern::data

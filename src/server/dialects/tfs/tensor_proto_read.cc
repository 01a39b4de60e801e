#include <algorithm>
#include <cstring>

#include "server/dialects/tfs/data_types.h"
#include "server/dialects/tfs/tensor_proto.h"
#include "server/grpc/proto_wire.h"

namespace tern::server::tfs {
namespace {

// The list of a type: its field in TensorProto, and the wire kind of one value.
struct List {
  uint32_t field = 0;
  ProtoKind kind = ProtoKind::kVarint;
};

List ListOf(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return {5, ProtoKind::kFixed32};
    case DType::kF64:
      return {6, ProtoKind::kFixed64};
    case DType::kI32:
    case DType::kI16:
    case DType::kI8:
    case DType::kU16:
    case DType::kU8:
      return {7, ProtoKind::kVarint};
    case DType::kString:
      return {8, ProtoKind::kBytes};
    case DType::kI64:
      return {10, ProtoKind::kVarint};
    case DType::kBool:
      return {11, ProtoKind::kVarint};
    case DType::kF16:
    case DType::kBF16:
      return {13, ProtoKind::kVarint};
    case DType::kU32:
      return {16, ProtoKind::kVarint};
    case DType::kU64:
      return {17, ProtoKind::kVarint};
    default:
      return {};
  }
}

// Returns whether a value of an int_val or half_val fits into the type.
bool Fits(DType dtype, uint64_t value) {
  const auto number = static_cast<int64_t>(value);
  switch (dtype) {
    case DType::kI8:
      return number >= INT8_MIN && number <= INT8_MAX;
    case DType::kI16:
      return number >= INT16_MIN && number <= INT16_MAX;
    case DType::kI32:
      return number >= INT32_MIN && number <= INT32_MAX;
    case DType::kU8:
      return value <= UINT8_MAX;
    case DType::kU16:
    case DType::kF16:
    case DType::kBF16:
      return value <= UINT16_MAX;
    case DType::kU32:
      return value <= UINT32_MAX;
    default:
      return true;
  }
}

class TensorReader {
 public:
  TensorReader(const Buffer& message, std::string_view bytes, uint64_t limit, WireTensor& tensor)
      : message_(message), bytes_(bytes), limit_(limit), tensor_(tensor) {}

  Status Read(uint64_t& converted) {
    TERN_TRY(ReadHead());
    const auto count = CheckedCount(tensor_.dims, tensor_.dtype);
    if (!count) return Wrong("the shape has too many elements");
    count_ = static_cast<size_t>(*count);
    if (content_.data() && !content_.empty()) return ReadContent(converted);
    list_ = ListOf(tensor_.dtype);
    const size_t width = BytesOf(tensor_.dtype, 1);
    if (list_.kind == ProtoKind::kFixed32 || list_.kind == ProtoKind::kFixed64)
      if (const std::string_view packed = OnlyPacked(); packed.size() == count_ * width && count_ > 0) {
        tensor_.bytes = Slice(packed);
        return {};
      }
    return tensor_.dtype == DType::kString ? ReadTexts(converted) : ReadNumbers(width, converted);
  }

 private:
  template <class... A> Status Wrong(const A&... what) const {
    return InvalidArgument("input '", tensor_.name, "': ", what...);
  }
  Status Damaged() const { return Wrong("the tensor is not a tensorflow.TensorProto message"); }

  Buffer Slice(std::string_view part) const {
    const auto offset = part.data() - reinterpret_cast<const char*>(message_.data());
    return message_.Slice(static_cast<size_t>(offset), part.size());
  }

  Status ReadHead() {
    int type = 0;
    ProtoReader reader(bytes_);
    while (reader.Next()) {
      if (reader.Is(1, ProtoKind::kVarint)) type = static_cast<int>(reader.value() & 0xFFFF);
      if (reader.Is(2, ProtoKind::kBytes)) TERN_TRY(ReadShape(reader.bytes()));
      if (reader.Is(4, ProtoKind::kBytes)) content_ = reader.bytes();
    }
    if (!reader.ok()) return Damaged();
    tensor_.dtype = TypeOfNumber(type);
    if (tensor_.dtype == DType::kInvalid)
      return Wrong("tensors of type ", NumberName(type), " are not supported");
    return {};
  }

  Status ReadShape(std::string_view shape) {
    constexpr size_t kMostDims = 64;
    tensor_.dims.clear();
    ProtoReader reader(shape);
    while (reader.Next()) {
      if (reader.Is(3, ProtoKind::kVarint) && reader.value())
        return Wrong("the tensor has no shape (unknown_rank)");
      if (!reader.Is(2, ProtoKind::kBytes)) continue;
      int64_t size = 0;
      ProtoReader dim(reader.bytes());
      while (dim.Next())
        if (dim.Is(1, ProtoKind::kVarint)) size = static_cast<int64_t>(dim.value());
      if (!dim.ok()) return Damaged();
      if (size < 0) return Wrong("dim ", tensor_.dims.size(), " is ", size);
      if (tensor_.dims.size() == kMostDims) return Wrong("the tensor has more than ", kMostDims, " dims");
      tensor_.dims.push_back(size);
    }
    return reader.ok() ? Status() : Damaged();
  }

  Status CheckSize(uint64_t bytes) const {
    return bytes <= limit_ ? Status() : Wrong("the tensor takes ", bytes, " bytes; the limit is ", limit_);
  }

  // tensor_content of texts has all lengths, then all bytes.
  Status ReadContent(uint64_t& converted) {
    if (tensor_.dtype != DType::kString) {
      const size_t expected = BytesOf(tensor_.dtype, count_);
      if (content_.size() != expected)
        return Wrong("tensor_content has ", content_.size(), " bytes, the shape [", Join(tensor_.dims, ","),
                     "] needs ", expected);
      tensor_.bytes = Slice(content_);
      return {};
    }
    if (count_ > content_.size())
      return Wrong("tensor_content is shorter than the lengths of ", count_, " texts");
    std::vector<uint64_t> lengths(count_);
    const char* at = content_.data();
    const char* const end = at + content_.size();
    for (uint64_t& length : lengths)
      if (!ReadVarint(at, end, length)) return Wrong("tensor_content ends inside the lengths of its texts");
    std::string out;
    for (const uint64_t length : lengths) {
      if (length > static_cast<uint64_t>(end - at)) return Wrong("tensor_content ends inside a text");
      AppendText(out, {at, static_cast<size_t>(length)});
      at += length;
    }
    if (at != end) return Wrong("tensor_content has ", end - at, " bytes more than its texts");
    return Keep(std::move(out), converted);
  }

  static void AppendText(std::string& out, std::string_view text) {
    const auto length = static_cast<uint32_t>(text.size());
    out.append(reinterpret_cast<const char*>(&length), sizeof length);
    out.append(text);
  }

  Status Keep(std::string bytes, uint64_t& converted) {
    TERN_TRY(CheckSize(bytes.size()));
    const auto owner = std::make_shared<std::string>(std::move(bytes));
    tensor_.bytes = Buffer::Borrow(owner->data(), owner->size(), owner);
    converted += owner->size();
    return {};
  }

  // Returns the list if it is one packed field, else an empty text.
  std::string_view OnlyPacked() const {
    std::string_view found;
    int fields = 0;
    ProtoReader reader(bytes_);
    while (reader.Next()) {
      if (reader.field() != list_.field) continue;
      ++fields;
      if (reader.kind() == ProtoKind::kBytes) found = reader.bytes();
    }
    return fields == 1 ? found : std::string_view();
  }

  Status TooMany() const { return Wrong("the tensor has more values than its ", count_, " elements"); }

  Status ReadTexts(uint64_t& converted) {
    std::string out;
    std::string_view last;
    size_t used = 0;
    uint64_t bytes = 0;
    ProtoReader reader(bytes_);
    while (reader.Next()) {
      if (!reader.Is(list_.field, ProtoKind::kBytes)) continue;
      if (used++ == count_) return TooMany();
      last = reader.bytes();
      AppendText(out, last);
    }
    if (__builtin_mul_overflow(last.size() + sizeof(uint32_t), count_ - used, &bytes)) bytes = UINT64_MAX / 2;
    TERN_TRY(CheckSize(out.size() + bytes));
    for (; used < count_; ++used) AppendText(out, last);
    return Keep(std::move(out), converted);
  }

  Status ReadNumbers(size_t width, uint64_t& converted) {
    const size_t bytes = BytesOf(tensor_.dtype, count_);
    TERN_TRY(CheckSize(bytes));
    tensor_.bytes = Buffer::Allocate(bytes);
    converted += bytes;
    width_ = width;
    ProtoReader reader(bytes_);
    while (reader.Next()) {
      if (reader.field() != list_.field) continue;
      if (reader.kind() == ProtoKind::kBytes)
        TERN_TRY(AddPacked(reader.bytes()));
      else if (reader.kind() == list_.kind)
        TERN_TRY(AddNumber(reader.value()));
    }
    std::byte* const data = tensor_.bytes.data();
    if (used_ == 0 && bytes) std::memset(data, 0, bytes);
    for (size_t i = used_; used_ > 0 && i < count_; ++i)
      std::memcpy(data + i * width, data + (used_ - 1) * width, width);
    return {};
  }

  Status AddPacked(std::string_view packed) {
    if (list_.kind != ProtoKind::kVarint) {
      if (packed.size() % width_ != 0) return Damaged();
      const size_t values = packed.size() / width_;
      if (values > count_ - used_) return TooMany();
      if (values) std::memcpy(tensor_.bytes.data() + used_ * width_, packed.data(), packed.size());
      used_ += values;
      return {};
    }
    const char* at = packed.data();
    const char* const end = at + packed.size();
    uint64_t value = 0;
    while (at < end) {
      if (!ReadVarint(at, end, value)) return Damaged();
      TERN_TRY(AddNumber(value));
    }
    return {};
  }

  Status AddNumber(uint64_t value) {
    if (used_ == count_) return TooMany();
    if (tensor_.dtype == DType::kBool) value = value != 0;
    if (!Fits(tensor_.dtype, value))
      return Wrong("the value ", static_cast<int64_t>(value), " does not fit into ", TypeName(tensor_.dtype));
    std::memcpy(tensor_.bytes.data() + used_++ * width_, &value, width_);
    return {};
  }

  const Buffer& message_;
  const std::string_view bytes_;
  const uint64_t limit_;
  WireTensor& tensor_;
  std::string_view content_;
  List list_;
  size_t count_ = 0;  // elements
  size_t used_ = 0;   // values that were read
  size_t width_ = 0;  // bytes of an element
};

}  // namespace

Status ReadTensorProto(const Buffer& message, std::string_view bytes, uint64_t limit, WireTensor& tensor,
                       uint64_t& converted) {
  return TensorReader(message, bytes, limit, tensor).Read(converted);
}

}  // namespace tern::server::tfs

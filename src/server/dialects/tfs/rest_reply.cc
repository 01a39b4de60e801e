#include "server/dialects/tfs/rest_reply.h"

#include <cstring>

#include "server/grpc/proto_wire.h"
#include "server/http/base64.h"
#include "server/http/json_writer.h"

namespace tern::server::tfs {
namespace {

void AppendText(std::string& out, std::string_view text, bool bytes) {
  if (!bytes && IsUtf8(text)) return AppendJson(out, text);
  out += "{\"b64\":\"";
  out += EncodeBase64(text);
  out += "\"}";
}

// Writes a tensor as nested lists, one item after the other.
class TensorWriter {
 public:
  TensorWriter(const WireTensor& tensor, std::string& out)
      : tensor_(tensor), out_(out), bytes_(tensor.name.ends_with("_bytes")) {}

  // Checks that the bytes match the dims.
  Status Check() const {
    const auto count = CheckedCount(tensor_.dims, tensor_.dtype);
    bool good = count.has_value();
    if (good && tensor_.dtype != DType::kString)
      good = BytesOf(tensor_.dtype, static_cast<size_t>(*count)) == tensor_.bytes.size();
    if (good) return {};
    return Status(Code::kInternal,
                  StrCat("output '", tensor_.name, "' has ", tensor_.bytes.size(),
                         " bytes, which do not match its shape [", Join(tensor_.dims, ","), "]"));
  }

  // Writes the values below one index of each axis before `axis`.
  Status Write(size_t axis) {
    if (axis == tensor_.dims.size()) return WriteRow(1);
    out_ += '[';
    if (axis + 1 == tensor_.dims.size()) {
      TERN_TRY(WriteRow(tensor_.dims[axis]));
    } else {
      for (int64_t i = 0; i < tensor_.dims[axis]; ++i) {
        if (i) out_ += ',';
        TERN_TRY(Write(axis + 1));
      }
    }
    out_ += ']';
    return {};
  }

 private:
  // Writes the next `count` values, separated by commas.
  Status WriteRow(int64_t count) {
    if (tensor_.dtype == DType::kString) return WriteTexts(count);
    const size_t size = BytesOf(tensor_.dtype, static_cast<size_t>(count));
    row_.dtype = tensor_.dtype;
    row_.dims.assign(1, count);
    row_.bytes = tensor_.bytes.Slice(at_, size);
    at_ += size;
    return AppendJsonElements(out_, row_);
  }

  Status WriteTexts(int64_t count) {
    const std::string_view all(reinterpret_cast<const char*>(tensor_.bytes.data()), tensor_.bytes.size());
    for (int64_t i = 0; i < count; ++i) {
      uint32_t length = 0;
      if (all.size() - at_ < sizeof length)
        return Status(Code::kInternal, StrCat("output '", tensor_.name, "' has too few texts"));
      std::memcpy(&length, all.data() + at_, sizeof length);
      at_ += sizeof length;
      if (all.size() - at_ < length)
        return Status(Code::kInternal, StrCat("output '", tensor_.name, "' is damaged"));
      if (i) out_ += ',';
      AppendText(out_, all.substr(at_, length), bytes_);
      at_ += length;
    }
    return {};
  }

  const WireTensor& tensor_;
  std::string& out_;
  const bool bytes_;
  WireTensor row_;
  size_t at_ = 0;  // bytes that are written
};

Status CheckRows(const std::vector<WireTensor>& outputs) {
  for (const WireTensor& output : outputs) {
    if (output.dims.empty())
      return InvalidArgument("Tensor name: ", output.name, " has no shape information ");
    if (output.dims[0] != outputs[0].dims[0])
      return InvalidArgument("Tensor name: ", output.name, " has inconsistent batch size: ", output.dims[0],
                             " expecting: ", outputs[0].dims[0]);
  }
  return {};
}

// One object per item.
Status AppendRows(std::string& out, const std::vector<WireTensor>& outputs) {
  std::vector<TensorWriter> writers;
  writers.reserve(outputs.size());
  for (const WireTensor& output : outputs) TERN_TRY(writers.emplace_back(output, out).Check());
  out += '[';
  for (int64_t item = 0; item < outputs[0].dims[0]; ++item) {
    out += item ? ",{" : "{";
    for (size_t i = 0; i < outputs.size(); ++i) {
      AppendJsonKey(out, outputs[i].name);
      TERN_TRY(writers[i].Write(1));
    }
    out += '}';
  }
  out += ']';
  return {};
}

Status AppendWhole(std::string& out, const WireTensor& output) {
  TensorWriter writer(output, out);
  TERN_TRY(writer.Check());
  return writer.Write(0);
}

}  // namespace

Status AppendPrediction(std::string& out, const std::vector<WireTensor>& outputs, Layout layout) {
  if (outputs.empty()) return InvalidArgument("Cannot convert empty tensor map to JSON");
  const bool rows = layout == Layout::kRow;
  if (rows) TERN_TRY(CheckRows(outputs));
  out += rows ? "{\"predictions\":" : "{\"outputs\":";
  if (outputs.size() == 1) {
    TERN_TRY(AppendWhole(out, outputs[0]));
  } else if (rows) {
    TERN_TRY(AppendRows(out, outputs));
  } else {
    out += '{';
    for (const WireTensor& output : outputs) {
      AppendJsonKey(out, output.name);
      TERN_TRY(AppendWhole(out, output));
    }
    out += '}';
  }
  out += '}';
  return {};
}

void AppendClasses(std::string& out, const std::vector<std::vector<ClassScore>>& results) {
  out += "{\"results\":[";
  for (const auto& item : results) {
    out += out.back() == '[' ? "[" : ",[";
    for (const ClassScore& result : item) {
      out += &result == &item.front() ? "[" : ",[";
      AppendText(out, result.label, false);
      out += ',';
      AppendJsonNumber(out, result.score);
      out += ']';
    }
    out += ']';
  }
  out += "]}";
}

void AppendRegressions(std::string& out, const std::vector<float>& results) {
  out += "{\"results\":[";
  for (size_t i = 0; i < results.size(); ++i) {
    if (i) out += ',';
    AppendJsonNumber(out, results[i]);
  }
  out += "]}";
}

}  // namespace tern::server::tfs

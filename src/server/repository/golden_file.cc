#include "server/repository/golden_file.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "server/http/infer_request.h"
#include "server/http/json_tensor.h"

namespace tern::server {
namespace {

using Kind = JsonReader::Kind;

// Reads one golden request.
class Parser {
 public:
  Parser(std::string_view text, const ModelConfig& config)
      : text_(text), config_(config), json_(text, limits_.json_depth) {}

  Result<GoldenRequest> Run() {
    TERN_TRY(json_.Object([this](std::string_view key) { return Member(std::string(key)); }));
    TERN_TRY(json_.End());
    if (!has_request_) return InvalidArgument("'request' is missing");
    if (out_.outputs.empty()) return InvalidArgument("'response' has no outputs to compare with");
    for (auto& [name, tolerance] : out_.of_output)
      if (!Expects(name))
        return InvalidArgument("'tolerance' names the output '", name, "', which 'response' lacks");
    return std::move(out_);
  }

 private:
  Status Member(const std::string& key) {
    if (key == "request" && !has_request_) return ReadRequest();
    if (key == "response" && out_.outputs.empty()) return ReadResponse();
    if (key == "tolerance") return ReadTolerance(out_.tolerance, true);
    if (key == "description") return json_.Skip();
    return InvalidArgument("unknown or repeated key '", key,
                           "'; the keys are request, response, tolerance and description");
  }

  Status ReadRequest() {
    has_request_ = true;
    const size_t begin = json_.position();
    TERN_TRY(json_.Skip());
    const std::string_view part = text_.substr(begin, json_.position() - begin);
    Buffer body = Buffer::Allocate(part.size());
    std::memcpy(body.data(), part.data(), part.size());
    const InferSource source{&config_, &limits_, nullptr};
    InferFormat format;
    return ParseInferRequest(body, std::nullopt, source, out_.request, format);
  }

  Status ReadResponse() {
    return json_.Object([this](std::string_view key) -> Status {
      if (key != "outputs") return json_.Skip();
      return json_.Array([this] { return ReadOutput(); });
    });
  }

  Status ReadOutput() {
    WireTensor tensor;
    std::optional<size_t> data;
    TERN_TRY(json_.Object([&](std::string_view key) -> Status {
      if (key == "name") return json_.String(tensor.name);
      if (key == "shape") return ReadShape(tensor.dims);
      if (key == "datatype") return ReadType(tensor.dtype);
      if (key == "data") data = json_.position();
      return json_.Skip();
    }));
    if (tensor.name.empty() || tensor.dtype == DType::kInvalid || !data)
      return InvalidArgument("output ", out_.outputs.size(),
                             " of 'response' needs name, datatype, shape and data");
    if (Expects(tensor.name)) return InvalidArgument("'response' has the output '", tensor.name, "' twice");
    if (out_.outputs.size() >= limits_.tensors)
      return InvalidArgument("'response' has more than ", limits_.tensors, " outputs");
    const size_t end = json_.position();
    json_.Seek(*data);
    TERN_TRY(ReadJsonTensor(json_, tensor));
    json_.Seek(end);
    out_.outputs.push_back(std::move(tensor));
    return {};
  }

  Status ReadShape(Dims& dims) {
    constexpr int64_t kMostElements = int64_t{1} << 40;
    int64_t extent = 1;
    dims.clear();
    return json_.Array([&]() -> Status {
      JsonNumber number;
      int64_t dim = 0;
      TERN_TRY(json_.Number(number));
      TERN_TRY(ToInt64(number, dim));
      // Also the strides of a tensor without elements must be numbers of 64 bits.
      if (dim < 0 || __builtin_mul_overflow(extent, std::max<int64_t>(1, dim), &extent) ||
          extent > kMostElements)
        return InvalidArgument("the dim ", dim, " of a shape is negative or too large");
      dims.push_back(dim);
      return {};
    });
  }

  Status ReadType(DType& dtype) {
    std::string name;
    TERN_TRY(json_.String(name));
    dtype = WireType(name);
    return dtype == DType::kInvalid ? InvalidArgument("unknown datatype '", name, "'") : Status();
  }

  Status ReadTolerance(Tolerance& tolerance, bool outputs) {
    return json_.Object([&, this](std::string_view key) -> Status {
      if (key == "absolute") return ReadBound(key, tolerance.absolute);
      if (key == "relative") return ReadBound(key, tolerance.relative);
      if (key != "outputs" || !outputs) return InvalidArgument("'tolerance' has the unknown key '", key, "'");
      return json_.Object([this](std::string_view name) {
        Tolerance& one = out_.of_output[std::string(name)];
        one = {0, 0, true};
        return ReadTolerance(one, false);
      });
    });
  }

  Status ReadBound(std::string_view key, double& bound) {
    const std::string name(key);
    JsonNumber number;
    TERN_TRY(json_.Number(number));
    TERN_TRY(ToDouble(number, bound));
    if (std::isfinite(bound) && bound >= 0) return {};
    return InvalidArgument("'", name, "' of 'tolerance' must be a number from 0 on, got ", number.text);
  }

  bool Expects(const std::string& output) const {
    for (const WireTensor& tensor : out_.outputs)
      if (tensor.name == output) return true;
    return false;
  }

  const std::string_view text_;
  const ModelConfig& config_;
  const Limits limits_;
  JsonReader json_;
  GoldenRequest out_;
  bool has_request_ = false;
};

}  // namespace

Result<GoldenRequest> ParseGolden(std::string_view text, const ModelConfig& config) {
  return Parser(text, config).Run();
}

}  // namespace tern::server

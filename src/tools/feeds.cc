#include "tools/feeds.h"

#include <algorithm>
#include <filesystem>

#include "data/file.h"
#include "data/json_tensor.h"
#include "data/npy.h"
#include "data/npz.h"
#include "data/random.h"
#include "data/text.h"
#include "import/onnx/importer.h"
#include "tools/shapes.h"

namespace tern::tools {
namespace {

std::string Extension(const std::string& path) {
  std::string text = std::filesystem::path(path).extension().string();
  for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return text;
}

bool IsPicture(const std::string& path) {
  const std::string kind = Extension(path);
  return kind == ".png" || kind == ".jpg" || kind == ".jpeg";
}

// The type of the tensors that go into this value.
DType ElementType(const Type& type) {
  return type.element && type.kind != Type::Kind::kMap ? ElementType(*type.element) : type.dtype;
}

Result<Tensor> Adopt(Tensor stored, const Value& input, const std::string& path) {
  auto t = data::AdoptStorage(std::move(stored), ElementType(input.type));
  if (!t.ok())
    return InvalidArgument("input '", input.name, "' is ", input.type.ToString(), ": '", path, "' ",
                           t.status().message());
  return t;
}

// An archive for one input: the array of that name, the only array, or all of them as a sequence.
Result<Datum> FromArchive(const std::string& path, const Value& input) {
  TERN_ASSIGN(data::NamedTensors arrays, data::ReadNpz(path));
  if (input.type.kind == Type::Kind::kSequence) {
    DatumList items;
    for (auto& [name, tensor] : arrays) {
      TERN_ASSIGN(Tensor t, Adopt(std::move(tensor), input, path));
      items.emplace_back(std::move(t));
    }
    return Datum::SequenceOf(std::move(items));
  }
  for (auto& [name, tensor] : arrays)
    if (name == input.name || arrays.size() == 1) {
      TERN_ASSIGN(Tensor t, Adopt(std::move(tensor), input, path));
      return Datum(std::move(t));
    }
  return NotFound("'", path, "' holds ", arrays.size(), " arrays, none called '", input.name, "'");
}

// Numbers without structure take the input's dims, of which one may be open.
Tensor FitShape(const Tensor& t, const Shape& shape) {
  if (t.rank() != 1 || !shape.ranked || shape.rank() == 1) return t;
  Dims dims;
  int64_t known = 1, open = -1;
  for (size_t i = 0; i < shape.dims.size(); ++i) {
    dims.push_back(shape.dims[i].known() ? shape.dims[i].value() : 1);
    if (!shape.dims[i].known() && open >= 0) return t;
    if (!shape.dims[i].known())
      open = static_cast<int64_t>(i);
    else if (__builtin_mul_overflow(known, dims.back(), &known))
      return t;
  }
  if (open >= 0 && known > 0) dims[static_cast<size_t>(open)] = t.size() / known;
  const auto count = CheckedCount(dims, t.dtype());
  return count && *count == t.size() ? t.Reshaped(dims) : t;
}

Result<Tensor> FromPicture(const std::string& path, const Value& input, const data::ImageOptions& options) {
  TERN_ASSIGN(const data::Image image, data::ReadImage(path));
  Dims dims;
  for (const Dim& d : input.type.shape.dims) dims.push_back(d.known() ? d.value() : -1);
  if (!input.type.shape.ranked)
    return InvalidArgument("input '", input.name, "' has no known rank; give --shape ", input.name, "=…");
  auto t = data::ImageToTensor(image, input.type.dtype, dims, options);
  if (!t.ok())
    return t.TakeStatus().While(
        StrCat("making input '", input.name, "' ", input.type.ToString(), " from '", path, "'"));
  return t;
}

Result<Tensor> FromWords(const std::string& path, const Value& input, bool json) {
  TERN_ASSIGN(const std::string text, data::ReadFile(path));
  auto t = json ? data::ParseJsonTensor(text, input.type.dtype) : data::ParseText(text, input.type.dtype);
  if (!t.ok()) return t.TakeStatus().While(StrCat("reading input '", input.name, "' from '", path, "'"));
  return FitShape(*t, input.type.shape);
}

Status PutFeed(const std::string& name, Datum datum, Feeds& feeds) {
  if (!feeds.emplace(name, std::move(datum)).second)
    return InvalidArgument("input '", name, "' is given twice");
  return {};
}

Status AddNamedFromNpz(const Graph& graph, const std::string& path, Feeds& feeds) {
  TERN_ASSIGN(data::NamedTensors arrays, data::ReadNpz(path));
  for (auto& [name, tensor] : arrays) {
    TERN_ASSIGN(Value * input, FindInput(graph, name));
    TERN_ASSIGN(Tensor t, Adopt(std::move(tensor), *input, path));
    TERN_TRY(PutFeed(name, Datum(std::move(t)), feeds));
  }
  return {};
}

Status AddNamedFromJson(const Graph& graph, const std::string& path, const std::string& text, Feeds& feeds) {
  const auto type_of = [&](const std::string& name) {
    auto input = FindInput(graph, name);
    return input.ok() ? (*input)->type.dtype : DType::kInvalid;
  };
  auto tensors = data::ParseJsonTensors(text, type_of);
  if (!tensors.ok()) return tensors.TakeStatus().While(StrCat("reading '", path, "'"));
  for (auto& [name, tensor] : *tensors) {
    TERN_ASSIGN(Value * input, FindInput(graph, name));
    TERN_TRY(PutFeed(name, Datum(FitShape(tensor, input->type.shape)), feeds));
  }
  return {};
}

Result<std::vector<double>> ParseNumbers(const std::string& text, const char* option) {
  std::vector<double> out;
  if (text.empty()) return out;
  for (const std::string& part : SplitText(text, ',')) {
    double v = 0;
    if (!ParseDouble(part, v))
      return InvalidArgument(option, " ", text, ": wanted are numbers like 0.485,0.456,0.406");
    out.push_back(v);
  }
  return out;
}

// Numbers only: what symbols stand for is the session's to judge.
Status CheckDims(const Value& input, const Tensor& t) {
  const auto wrong = [&](const std::string& why) {
    return InvalidArgument("input '", input.name, "' is ", input.type.ToString(), ", got ", t.Describe(),
                           why);
  };
  if (input.type.dtype != DType::kInvalid && t.dtype() != input.type.dtype) return wrong("");
  const Shape& shape = input.type.shape;
  if (!shape.ranked) return {};
  if (shape.rank() != t.rank()) return wrong(StrCat(": ", t.rank(), " dims in place of ", shape.rank()));
  for (int i = 0; i < t.rank(); ++i) {
    if (shape[i].known() && !shape[i].Is(t.dim(i)))
      return wrong(StrCat(": dim ", i, " is ", t.dim(i), ", must be ", shape[i].value()));
  }
  return {};
}

}  // namespace

void PictureOptions::Declare(Args& args) {
  args.Option("--resize", image.resize, "WxH|N", "pictures: resize (bilinear); N: the shorter side");
  args.Option("--crop", image.crop, "WxH|N", "pictures: keep the middle");
  args.Option("--scale", image.scale, "S",
              "pictures: value = (pixel * S - mean) / std; 1/255 for float inputs, else 1");
  args.Option("--mean", mean, "R,G,B", "pictures: subtracted, one number or one per channel");
  args.Option("--std", std, "R,G,B", "pictures: divided by, one number or one per channel");
  args.Choice("--layout", image.layout, {"auto", "NCHW", "NHWC"}, "pictures: order of the input's axes");
  args.Choice("--channels", image.channels, {"auto", "rgb", "bgr", "gray"},
              "pictures: order of the channels");
}

Result<data::ImageOptions> PictureOptions::Parse(const Args& args,
                                                 const std::vector<std::string>& inputs) const {
  if (std::none_of(inputs.begin(), inputs.end(), IsPicture))
    for (const char* option : {"--resize", "--crop", "--scale", "--mean", "--std", "--layout", "--channels"})
      if (args.Given(option)) return InvalidArgument(option, " is for pictures, and no --input is one");
  data::ImageOptions out = image;
  TERN_ASSIGN(out.mean, ParseNumbers(mean, "--mean"));
  TERN_ASSIGN(out.std, ParseNumbers(std, "--std"));
  return out;
}

Result<Datum> ReadDatum(const std::string& path, const Value& input, const data::ImageOptions& pictures) {
  const std::string kind = Extension(path);
  if (kind == ".pb") return onnx::ReadTestDatum(path, input.type);
  if (kind == ".npz") return FromArchive(path, input);
  if (kind == ".npy") {
    TERN_ASSIGN(Tensor stored, data::ReadNpy(path));
    TERN_ASSIGN(Tensor t, Adopt(std::move(stored), input, path));
    return Datum(std::move(t));
  }
  if (!input.type.tensor())
    return InvalidArgument("input '", input.name, "' is ", input.type.ToString(), "; give it as .pb or .npz");
  if (kind == ".json" || kind == ".txt" || kind == ".csv") {
    TERN_ASSIGN(Tensor t, FromWords(path, input, kind == ".json"));
    return Datum(std::move(t));
  }
  if (IsPicture(path)) {
    TERN_ASSIGN(Tensor t, FromPicture(path, input, pictures));
    return Datum(std::move(t));
  }
  return Unsupported("'", path,
                     "': inputs are read from .npy, .npz, .pb, .json, .txt, .csv, .png and .jpg files");
}

Status AddFeed(const Graph& graph, const std::string& argument, const data::ImageOptions& pictures,
               Feeds& feeds) {
  // The longest name that fits: names may hold '=' themselves.
  const Value* found = nullptr;
  for (const auto* list : {&graph.inputs(), &graph.overridable()})
    for (const Value* v : *list)
      if (StartsWith(argument, v->name + "=") && (!found || v->name.size() > found->name.size())) found = v;
  const size_t equals = argument.find('=');
  if (!found && equals != std::string::npos) return FindInput(graph, argument.substr(0, equals)).TakeStatus();
  if (!found && Extension(argument) == ".npz") return AddNamedFromNpz(graph, argument, feeds);
  if (!found && Extension(argument) == ".json") {
    TERN_ASSIGN(const std::string text, data::ReadFile(argument));
    if (data::HoldsNamedTensors(text)) return AddNamedFromJson(graph, argument, text, feeds);
  }
  if (!found && graph.inputs().size() != 1)
    return InvalidArgument("--input ", argument, ": the model has ", graph.inputs().size(),
                           " inputs; say NAME=FILE");
  const Value& input = found ? *found : *graph.inputs()[0];
  const std::string path = found ? argument.substr(found->name.size() + 1) : argument;
  TERN_ASSIGN(Datum datum, ReadDatum(path, input, pictures));
  return PutFeed(input.name, std::move(datum), feeds);
}

Status AddRandomFeeds(const Graph& graph, uint64_t seed, Feeds& feeds) {
  for (const Value* v : graph.inputs()) {
    if (feeds.count(v->name)) continue;
    if (!v->type.tensor())
      return Unsupported("input '", v->name, "' is ", v->type.ToString(), ": give it with --input");
    TERN_ASSIGN(Tensor t, data::RandomTensor(v->type.dtype, v->type.shape.Concrete(), seed, v->name));
    feeds[v->name] = Datum(std::move(t));
  }
  return {};
}

Result<DatumList> OrderFeeds(Graph& graph, const Feeds& feeds) {
  for (const auto& [name, datum] : feeds) {
    TERN_ASSIGN(Value * v, FindInput(graph, name));
    if (v->is_constant()) graph.ConstantToInput(v);
  }
  DatumList out;
  for (const Value* v : graph.inputs()) {
    const auto it = feeds.find(v->name);
    if (it == feeds.end())
      return InvalidArgument("input '", v->name, "' ", v->type.ToString(),
                             " was not given; use --input or --random");
    if (it->second.is_tensor() && v->type.tensor()) TERN_TRY(CheckDims(*v, it->second.tensor));
    out.push_back(it->second);
  }
  return out;
}

}  // namespace tern::tools

#include "tools/feeds.h"

#include <algorithm>
#include <set>

#include "data/json_tensor.h"
#include "data/npy.h"
#include "data/random.h"
#include "data/text.h"
#include "import/onnx/importer.h"
#include "tools/csv_feeds.h"
#include "tools/input_file.h"
#include "tools/shapes.h"
#include "tools/sound_feeds.h"

namespace tern::tools {
namespace {

// Returns the element type of a tensor, or of the tensors in a sequence or optional.
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

// Reads an archive for one input. A sequence consists of all arrays in the archive. A tensor is the array
// with the input's name, or the only array.
Result<Datum> FromArchive(const InputFile& file, const Value& input) {
  TERN_ASSIGN(data::NamedTensors arrays, file.Npz());
  if (input.type.kind == Type::Kind::kSequence) {
    DatumList items;
    for (auto& [name, tensor] : arrays) {
      TERN_ASSIGN(Tensor t, Adopt(std::move(tensor), input, file.path));
      items.emplace_back(std::move(t));
    }
    return Datum::SequenceOf(std::move(items));
  }
  for (auto& [name, tensor] : arrays)
    if (name == input.name || arrays.size() == 1) {
      TERN_ASSIGN(Tensor t, Adopt(std::move(tensor), input, file.path));
      return Datum(std::move(t));
    }
  return NotFound("'", file.path, "' contains ", arrays.size(), " arrays, but none is called '", input.name,
                  "'");
}

Result<Tensor> FromPicture(const InputFile& file, const Value& input, const data::ImageOptions& options) {
  TERN_ASSIGN(const data::Image image, file.Picture());
  Dims dims;
  for (const Dim& d : input.type.shape.dims) dims.push_back(d.known() ? d.value() : -1);
  if (!input.type.shape.ranked)
    return InvalidArgument("the rank of input '", input.name, "' is unknown; use --shape ", input.name, "=…");
  auto t = data::ImageToTensor(image, input.type.dtype, dims, options);
  if (!t.ok())
    return t.TakeStatus().While(
        StrCat("making input '", input.name, "' ", input.type.ToString(), " from '", file.path, "'"));
  return t;
}

Result<Tensor> FromWords(const InputFile& file, const Value& input) {
  auto t = file.kind == ".json" ? data::ParseJsonTensor(file.text, input.type.dtype)
                                : data::ParseText(file.text, input.type.dtype);
  if (!t.ok()) return t.TakeStatus().While(StrCat("reading input '", input.name, "' from '", file.path, "'"));
  return FitShape(*t, input.type.shape);
}

Status AddNamedFromNpz(const Graph& graph, const InputFile& file, Feeds& feeds) {
  TERN_ASSIGN(data::NamedTensors arrays, file.Npz());
  for (auto& [name, tensor] : arrays) {
    TERN_ASSIGN(Value * input, FindInput(graph, name));
    TERN_ASSIGN(Tensor t, Adopt(std::move(tensor), *input, file.path));
    TERN_TRY(PutFeed(name, Datum(std::move(t)), feeds));
  }
  return {};
}

Status AddNamedFromJson(const Graph& graph, const InputFile& file, Feeds& feeds) {
  const auto type_of = [&](const std::string& name) {
    auto input = FindInput(graph, name);
    return input.ok() ? (*input)->type.dtype : DType::kInvalid;
  };
  auto tensors = data::ParseJsonTensors(file.text, type_of);
  if (!tensors.ok()) return tensors.TakeStatus().While(StrCat("reading '", file.path, "'"));
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
      return InvalidArgument(option, " ", text, ": must be numbers like 0.485,0.456,0.406");
    out.push_back(v);
  }
  return out;
}

// Checks the element type, the rank and the fixed dims. The session checks symbolic dims.
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
      return wrong(StrCat(": dim ", i, " is ", t.dim(i), ", but must be ", shape[i].value()));
  }
  return {};
}

}  // namespace

void PictureOptions::Declare(Args& args) {
  args.Option("--resize", image.resize, "WxH|N",
              "pictures: resize to width W and height H, or so that the shorter side is N");
  args.Choice("--filter", image.filter, {"nearest", "box", "bilinear", "hamming", "bicubic", "lanczos"},
              "pictures: the filter that resizes, as in Pillow (bilinear)");
  args.Option("--crop", image.crop, "WxH|N", "pictures: keep the central W by H, or N by N, pixels");
  args.Option("--scale", image.scale, "S",
              "pictures: value = (pixel * S - mean) / std (1/255 for float inputs, 1 for others)");
  args.Option("--mean", mean, "R,G,B",
              "pictures: the value of mean in the formula of --scale, one number or one per channel");
  args.Option("--std", std, "R,G,B",
              "pictures: the value of std in the formula of --scale, one number or one per channel");
  args.Choice("--layout", image.layout, {"auto", "NCHW", "NHWC"},
              "pictures: order of the axes of the model's input (auto)");
  args.Choice("--channels", image.channels, {"auto", "rgb", "bgr", "gray"},
              "pictures: order of the channels of the model's input (auto)");
}

Result<data::ImageOptions> PictureOptions::Parse(const Args& args,
                                                 const std::vector<std::string>& inputs) const {
  const auto may_be = [](const std::string& input) { return IsPicture(input) || EndsWith(input, "-"); };
  if (std::none_of(inputs.begin(), inputs.end(), may_be))
    for (const char* option :
         {"--resize", "--filter", "--crop", "--scale", "--mean", "--std", "--layout", "--channels"})
      if (args.Given(option)) return InvalidArgument(option, " is for pictures, but no --input is a picture");
  data::ImageOptions out = image;
  TERN_ASSIGN(out.mean, ParseNumbers(mean, "--mean"));
  TERN_ASSIGN(out.std, ParseNumbers(std, "--std"));
  return out;
}

namespace {

// Returns true if text from standard input is read as one string per line for this input. Otherwise the
// text is read as a table.
bool TakesLines(const Value& input) {
  const Shape& shape = input.type.shape;
  return input.type.dtype == DType::kString && !(shape.rank() == 2 && !shape[1].Is(1));
}

Result<Tensor> TensorFrom(const InputFile& file, const Value& input, const data::ImageOptions& pictures,
                          int sample_rate) {
  if (file.kind == ".npy") {
    TERN_ASSIGN(Tensor stored, file.Npy());
    return Adopt(std::move(stored), input, file.path);
  }
  if (!input.type.tensor())
    return InvalidArgument("input '", input.name, "' is ", input.type.ToString(), "; give it as .pb or .npz");
  if (file.kind == ".csv") return CsvInput(file, input);
  if (file.kind == ".json" || file.kind == ".txt") return FromWords(file, input);
  if (IsPictureKind(file.kind)) return FromPicture(file, input, pictures);
  if (IsSoundKind(file.kind)) return SoundInput(file, input, sample_rate);
  return Unsupported(
      "'", file.path,
      "': inputs are read from .npy, .npz, .pb, .json, .txt, .csv, .png, .jpg, .webp, .bmp, .gif, "
      ".wav and .flac files");
}

Result<Datum> DatumFrom(const InputFile& file, const Value& input, const data::ImageOptions& pictures,
                        int sample_rate) {
  if (file.kind == ".pb") return onnx::ReadTestDatum(file.path, input.type);
  if (file.kind == ".npz") return FromArchive(file, input);
  TERN_ASSIGN(Tensor t, TensorFrom(file, input, pictures, sample_rate));
  return Datum(std::move(t));
}

// Returns the input NAME of an argument NAME=FILE, or null if the argument is FILE. NAME may contain '='.
// If several inputs match, returns the one with the longest name.
Result<const Value*> NamedInput(const Graph& graph, const std::string& argument) {
  const Value* found = nullptr;
  for (const auto* list : {&graph.inputs(), &graph.overridable()})
    for (const Value* v : *list)
      if (StartsWith(argument, v->name + "=") && (!found || v->name.size() > found->name.size())) found = v;
  const size_t equals = argument.find('=');
  if (!found && equals != std::string::npos) return FindInput(graph, argument.substr(0, equals)).TakeStatus();
  return found;
}

}  // namespace

Result<Datum> ReadDatum(const std::string& path, const Value& input, const data::ImageOptions& pictures) {
  TERN_ASSIGN(const InputFile file, InputFile::Open(path, TakesLines(input)));
  return DatumFrom(file, input, pictures, 0);
}

Status AddFeed(const Graph& graph, const std::string& argument, const data::ImageOptions& pictures,
               Feeds& feeds, int sample_rate) {
  TERN_ASSIGN(const Value* named, NamedInput(graph, argument));
  const std::vector<Value*> inputs = WithoutStates(graph, graph.inputs());
  const Value* input = named ? named : inputs.size() == 1 ? inputs[0] : nullptr;
  const std::string path = named ? argument.substr(named->name.size() + 1) : argument;
  TERN_ASSIGN(const InputFile file, InputFile::Open(path, input && TakesLines(*input)));
  if (!named && file.kind == ".npz") return AddNamedFromNpz(graph, file, feeds);
  if (!named && file.kind == ".json" && data::HoldsNamedTensors(file.text))
    return AddNamedFromJson(graph, file, feeds);
  if (!input && file.kind == ".csv") return AddCsvColumns(graph, file, feeds);
  if (!input)
    return InvalidArgument("--input ", argument, ": the model has ", inputs.size(), " inputs; use NAME=FILE");
  TERN_ASSIGN(Datum datum, DatumFrom(file, *input, pictures, sample_rate));
  return PutFeed(input->name, std::move(datum), feeds);
}

std::vector<Value*> WithoutStates(const Graph& graph, const std::vector<Value*>& values) {
  std::set<const Value*> states;
  for (const GraphState& state : graph.states()) {
    states.insert(state.input);
    states.insert(graph.outputs()[static_cast<size_t>(state.output)]);
  }
  std::vector<Value*> out;
  for (Value* v : values)
    if (!states.count(v)) out.push_back(v);
  return out;
}

Result<std::map<std::string, Type>> FileTypes(const std::vector<std::string>& arguments) {
  std::map<std::string, Type> types;
  const auto add = [&](const std::string& name, const Tensor& t) {
    types[name] = Type::TensorOf(t.dtype(), Shape::Of(t.dims()));
  };
  for (const std::string& argument : arguments) {
    const std::string kind = Extension(argument);
    if (kind != ".npy" && kind != ".npz") continue;
    // The path or the name may contain '='. AddFeed, which knows the names, reports files that do not exist.
    const size_t at = argument.find('=');
    const std::string name = at == std::string::npos ? "" : argument.substr(0, at);
    const std::string path = at == std::string::npos ? argument : argument.substr(at + 1);
    const auto file = InputFile::Open(path, false);
    if (!file.ok()) continue;
    if (kind == ".npy") {
      const auto tensor = file->Npy();
      if (tensor.ok()) add(name, *tensor);
      continue;
    }
    const auto tensors = file->Npz();
    if (!tensors.ok()) continue;
    for (const auto& [key, tensor] : *tensors)
      if (name.empty() || key == name || tensors->size() == 1) add(name.empty() ? key : name, tensor);
  }
  return types;
}

Status AddRandomFeeds(const Graph& graph, uint64_t seed, Feeds& feeds) {
  for (const Value* v : WithoutStates(graph, graph.inputs())) {
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
  std::set<const Value*> states;
  for (const GraphState& state : graph.states()) states.insert(state.input);
  for (const Value* v : graph.inputs()) {
    const auto it = feeds.find(v->name);
    if (it == feeds.end() && states.count(v)) {
      out.emplace_back();
      continue;
    }
    if (it == feeds.end())
      return InvalidArgument("input '", v->name, "' ", v->type.ToString(),
                             " was not given; use --input or --random");
    if (it->second.is_tensor() && v->type.tensor()) TERN_TRY(CheckDims(*v, it->second.tensor));
    out.push_back(it->second);
  }
  return out;
}

}  // namespace tern::tools

#include "quantize/samples.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <map>

#include "data/file.h"
#include "data/json_tensor.h"
#include "data/npy.h"
#include "data/npz.h"

namespace fs = std::filesystem;

namespace tern::quantize {
namespace {

Result<std::string> TextOf(const Tensor& t, const std::string& key) {
  if (t.size() != 1) return InvalidArgument("'", key, "' must be one value, got ", t.Describe());
  if (t.dtype() == DType::kString) return t.data<std::string>()[0];
  if (!IsInt(t.dtype())) return InvalidArgument("'", key, "' must be an integer or text");
  return StrCat(LoadLong(t, 0));
}

Result<std::vector<double>> NumbersOf(const Tensor& t, const std::string& key) {
  if (t.dtype() == DType::kString) return InvalidArgument("'", key, "' must be numbers");
  return ToDoubles(t);
}

Status SetOption(const std::string& key, const Tensor& value, data::ImageOptions& options) {
  if (key == "mean" || key == "std") {
    TERN_ASSIGN((key == "mean" ? options.mean : options.std), NumbersOf(value, key));
    return {};
  }
  if (key == "scale") {
    TERN_ASSIGN(const std::vector<double> numbers, NumbersOf(value, key));
    if (numbers.size() != 1) return InvalidArgument("'scale' must be one number");
    options.scale = numbers[0];
    return {};
  }
  const std::pair<const char*, std::string*> texts[] = {{"resize", &options.resize},
                                                        {"crop", &options.crop},
                                                        {"layout", &options.layout},
                                                        {"channels", &options.channels},
                                                        {"filter", &options.filter}};
  for (const auto& [name, text] : texts)
    if (key == name) {
      TERN_ASSIGN(*text, TextOf(value, key));
      return {};
    }
  return InvalidArgument("unknown key '", key,
                         "'; there are resize, crop, scale, mean, std, layout, channels and filter");
}

Result<data::ImageOptions> ReadPreprocess(const std::string& path) {
  TERN_ASSIGN(const std::string text, data::ReadFile(path));
  TERN_ASSIGN(const data::NamedTensors values,
              data::ParseJsonTensors(text, [](const std::string&) { return DType::kInvalid; }));
  data::ImageOptions options;
  for (const auto& [key, value] : values) TERN_TRY(SetOption(key, value, options));
  return options;
}

// Returns the names of the regular files in a folder, sorted. Hidden files are skipped.
Result<std::vector<std::string>> FilesIn(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> files;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->is_regular_file(ignored) && it->path().filename().string()[0] != '.')
      files.push_back(it->path().string());
  }
  if (error) return Status(Code::kIo, StrCat("cannot read the folder '", folder, "': ", error.message()));
  std::sort(files.begin(), files.end());
  return files;
}

class FolderSamples : public compress::Samples {
 public:
  FolderSamples(std::vector<std::string> files, const Graph& graph, ReadFeeds read, OrderFeeds order)
      : files_(std::move(files)), graph_(graph.Clone()), read_(std::move(read)), order_(std::move(order)) {}

  size_t size() const override { return files_.size(); }
  std::string NameOf(size_t i) const override { return files_[i]; }
  Result<DatumList> Get(size_t i) override {
    Feeds feeds;
    TERN_TRY(read_(*graph_, files_[i], feeds));
    auto inputs = order_(*graph_, feeds);
    if (!inputs.ok()) return inputs.TakeStatus().While(StrCat("reading '", files_[i], "'"));
    return inputs;
  }

 private:
  std::vector<std::string> files_;
  std::unique_ptr<Graph> graph_;
  ReadFeeds read_;
  OrderFeeds order_;
};

// Returns the input or overridable constant of this name.
Result<Value*> FindInput(const Graph& graph, const std::string& name) {
  std::vector<std::string> names;
  for (const auto* list : {&graph.inputs(), &graph.overridable()})
    for (Value* v : *list) {
      if (v->name == name) return v;
      if (list == &graph.inputs()) names.push_back(v->name);
    }
  return NotFound("the model has no input '", name,
                  "'; its inputs are: ", names.empty() ? "none" : Join(names, ", "));
}

class ArchiveSamples : public compress::Samples {
 public:
  static Result<std::unique_ptr<ArchiveSamples>> Open(const std::string& path, const Graph& graph,
                                                      int64_t limit, OrderFeeds order) {
    std::unique_ptr<ArchiveSamples> made(new ArchiveSamples());
    made->path_ = path;
    made->graph_ = graph.Clone();
    made->order_ = std::move(order);
    TERN_ASSIGN(made->arrays_, data::ReadNpz(path));
    int64_t samples = -1;
    for (const auto& [name, array] : made->arrays_) {
      TERN_ASSIGN(const int64_t count, made->Count(name, array));
      if (samples >= 0 && count != samples)
        return InvalidArgument("'", path, "': array '", name, "' has ", count, " samples, but others have ",
                               samples);
      samples = count;
    }
    made->size_ = static_cast<size_t>(std::max<int64_t>(limit ? std::min(limit, samples) : samples, 0));
    return made;
  }

  size_t size() const override { return size_; }
  std::string NameOf(size_t i) const override { return StrCat(path_, "[", i, "]"); }
  Result<DatumList> Get(size_t i) override {
    Feeds feeds;
    for (const auto& [name, array] : arrays_) {
      Dims dims = array.dims();
      const int64_t batch = dims[0] = batches_.at(name);
      const size_t bytes = array.bytes() / static_cast<size_t>(array.dim(0)) * static_cast<size_t>(batch);
      Tensor one(array.dtype(), dims);
      std::memcpy(one.raw(), static_cast<const char*>(array.raw()) + i * bytes, bytes);
      feeds[name] = Datum(std::move(one));
    }
    auto inputs = order_(*graph_, feeds);
    if (!inputs.ok()) return inputs.TakeStatus().While(StrCat("reading '", path_, "'"));
    return inputs;
  }

 private:
  ArchiveSamples() = default;

  // Returns how many samples an array has. A sample has the batch size of the input, or 1 if that is open.
  Result<int64_t> Count(const std::string& name, const Tensor& array) {
    TERN_ASSIGN(const Value* input, FindInput(*graph_, name));
    const Shape& shape = input->type.shape;
    if (array.rank() < 1)
      return InvalidArgument("'", path_, "': array '", name, "' is ", array.Describe(),
                             ", which has no axis of samples");
    if (BitWidth(array.dtype()) < 8 || array.dtype() == DType::kString)
      return InvalidArgument("'", path_, "': array '", name, "' is ", array.Describe(),
                             "; the type must be bool or numeric with at least 8 bits");
    const int64_t batch = shape.rank() > 0 && shape[0].known() ? std::max<int64_t>(shape[0].value(), 1) : 1;
    batches_[name] = batch;
    if (array.dim(0) % batch)
      return InvalidArgument("'", path_, "': array '", name, "' has ", array.dim(0),
                             " rows, which is not a multiple of the model's batch size ", batch);
    return array.dim(0) / batch;
  }

  std::string path_;
  std::unique_ptr<Graph> graph_;
  OrderFeeds order_;
  data::NamedTensors arrays_;
  std::map<std::string, int64_t> batches_;
  size_t size_ = 0;
};

std::string Extension(const std::string& path) { return LowerCase(fs::path(path).extension().string()); }

Result<const Value*> OnlyInput(const Graph& graph, const std::string& file) {
  if (graph.inputs().size() == 1) return static_cast<const Value*>(graph.inputs()[0]);
  return InvalidArgument("'", file, "' is one array, but the model has ", graph.inputs().size(),
                         " inputs; use an .npz with one array per input");
}

Result<Tensor> PictureTensor(const std::string& file, const Value& input,
                             const data::ImageOptions& pictures) {
  TERN_ASSIGN(const data::Image image, data::ReadImage(file));
  Dims dims;
  if (!input.type.tensor() || !input.type.shape.ranked)
    return InvalidArgument("'", file, "': input '", input.name, "' is no picture");
  for (const Dim& dim : input.type.shape.dims) dims.push_back(dim.known() ? dim.value() : -1);
  return data::ImageToTensor(image, input.type.dtype, dims, pictures);
}

Status CheckFeed(const Value& input, const Datum& datum) {
  if (!datum.is_tensor() || !input.type.tensor()) return {};
  const Tensor& t = datum.tensor;
  const Shape& shape = input.type.shape;
  bool fits = t.dtype() == input.type.dtype && (!shape.ranked || shape.rank() == t.rank());
  for (int i = 0; fits && shape.ranked && i < t.rank(); ++i)
    fits = !shape[i].known() || shape[i].Is(t.dim(i));
  if (fits) return {};
  return InvalidArgument("input '", input.name, "' is ", input.type.ToString(), ", got ", t.Describe());
}

}  // namespace

Result<data::ImageOptions> PreprocessOf(const std::string& name, const char* option) {
  data::ImageOptions options;
  if (name == "imagenet") {
    options.resize = "256";
    options.crop = "224";
    options.channels = "rgb";
    options.mean = {0.485, 0.456, 0.406};
    options.std = {0.229, 0.224, 0.225};
    return options;
  }
  if (name == "none") return options;
  if (Extension(name) != ".json")
    return InvalidArgument(option, " ", name, ": must be imagenet, none or a .json file");
  auto read = ReadPreprocess(name);
  if (!read.ok()) return read.TakeStatus().While(StrCat("reading '", name, "'"));
  return read;
}

ReadFeeds SampleReader(data::ImageOptions pictures) {
  return
      [pictures = std::move(pictures)](const Graph& graph, const std::string& file, Feeds& feeds) -> Status {
        const std::string extension = Extension(file);
        if (extension == ".npz") {
          TERN_ASSIGN(data::NamedTensors arrays, data::ReadNpz(file));
          for (auto& [name, array] : arrays) feeds[name] = Datum(std::move(array));
          return {};
        }
        TERN_ASSIGN(const Value* const input, OnlyInput(graph, file));
        if (extension == ".npy") {
          TERN_ASSIGN(Tensor array, data::ReadNpy(file));
          feeds[input->name] = Datum(std::move(array));
          return {};
        }
        TERN_ASSIGN(Tensor picture, PictureTensor(file, *input, pictures));
        feeds[input->name] = Datum(std::move(picture));
        return {};
      };
}

Result<DatumList> CheckedFeeds(Graph& graph, const Feeds& feeds) {
  for (const auto& [name, datum] : feeds) {
    TERN_ASSIGN(Value* const v, FindInput(graph, name));
    if (v->is_constant()) graph.ConstantToInput(v);
  }
  DatumList out;
  for (const Value* v : graph.inputs()) {
    const auto it = feeds.find(v->name);
    if (it == feeds.end())
      return InvalidArgument("the sample has no input '", v->name, "' ", v->type.ToString());
    TERN_TRY(CheckFeed(*v, it->second));
    out.push_back(it->second);
  }
  return out;
}

Result<std::unique_ptr<compress::Samples>> OpenSamples(const std::string& path, const Graph& graph,
                                                       ReadFeeds read, int64_t limit, OrderFeeds order) {
  std::error_code ignored;
  std::unique_ptr<compress::Samples> samples;
  if (fs::is_directory(path, ignored)) {
    TERN_ASSIGN(std::vector<std::string> files, FilesIn(path));
    if (limit && files.size() > static_cast<size_t>(limit)) files.resize(static_cast<size_t>(limit));
    samples = std::make_unique<FolderSamples>(std::move(files), graph, std::move(read), std::move(order));
  } else if (!fs::exists(path, ignored)) {
    return NotFound("'", path, "': no such file or folder");
  } else if (Extension(path) == ".npz") {
    TERN_ASSIGN(samples, ArchiveSamples::Open(path, graph, limit, std::move(order)));
  } else {
    return InvalidArgument("'", path, "': samples are a folder or an .npz file");
  }
  if (samples->size() == 0) return InvalidArgument("'", path, "' contains no samples");
  return samples;
}

}  // namespace tern::quantize

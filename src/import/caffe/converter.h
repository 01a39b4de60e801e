// A converter is a small function that converts one type of Caffe layer to Tern ops. ConverterTable contains
// all of them.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "caffe.pb.h"
#include "ir/builder.h"

namespace tern::caffe {

namespace pb = tern_caffe;
class NetImporter;

// A layer during import. A converter reads its bottoms and parameters, emits Tern ops through `b`, and sets
// its tops with Out.
class Layer {
 public:
  Layer(NetImporter& importer, const pb::LayerParameter& layer, Builder& builder);

  Builder& b;
  const pb::LayerParameter& proto;

  int Bottoms() const { return proto.bottom_size(); }
  int Tops() const { return proto.top_size(); }
  Value* In(int i) const;
  void Out(int i, Value* value);

  // Fails if the dims of bottom i are not known.
  Result<Dims> DimsOf(int i) const;
  // Fails if the rank of bottom i is not known.
  Result<int> RankOf(int i) const;
  // Returns the axis of bottom i without a sign. A negative axis counts from the end.
  Result<int> Axis(int i, int64_t axis) const;
  // Like Axis, for a tensor of this rank. If `end` is true, `axis` may also be equal to the rank.
  Result<int> AxisIn(int rank, int64_t axis, bool end = false) const;

  // Returns how many blobs the weights have for this layer.
  int BlobCount() const;
  // Returns blob i of the weights. The stored dims must be equal to `dims`, except for dims of size 1.
  Result<Tensor> Blob(int i, const Dims& dims) const;
  // Returns blob i with the stored dims.
  Result<Tensor> AnyBlob(int i) const;
  // Adds blob i to the graph.
  Result<Value*> BlobValue(int i, const Dims& dims) const;

  void Warn(std::string text) const;
  // Adds an input of the graph for top i.
  Status AddInput(int i, const Dims& dims);

  // Bad returns kInvalidModel and NotYet returns kUnsupported, with a message that names this layer.
  template <class... A> Status Bad(const A&... a) const {
    return Status(Code::kInvalidModel, Describe() + ": " + StrCat(a...));
  }
  template <class... A> Status NotYet(const A&... a) const {
    return Status(Code::kUnsupported, Describe() + ": " + StrCat(a...));
  }
  std::string Describe() const;

 private:
  NetImporter& importer_;
};

using Converter = std::function<Status(Layer&)>;

// How many bottoms and tops a layer may have.
struct Arity {
  int min_bottoms = 1, max_bottoms = 1, min_tops = 1, max_tops = 1;
};
inline constexpr int kAny = 1 << 20;

class ConverterTable {
 public:
  struct Row {
    Converter convert;
    Arity arity;
    bool refused = false;
  };
  void Add(const char* type, Converter converter, Arity arity = {});
  // Adds a type that is known, but always refused with an error of its own.
  void Refuse(const char* type, Converter converter);
  const Row* Find(const std::string& type) const;
  std::vector<std::string> Names() const;  // without the refused types

 private:
  std::map<std::string, Row> table_;
};

const ConverterTable& Converters();

}  // namespace tern::caffe

// Defines the converters of one source file. The build finds these definitions and registers the converters.
// Example: TERN_CONVERTERS(activation) { table.Add("AbsVal", …); }
#define TERN_CONVERTERS(Family) void TernConverters_##Family([[maybe_unused]] ConverterTable& table)

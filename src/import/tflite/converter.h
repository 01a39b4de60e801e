// A converter is a small function that converts one TensorFlow Lite operator to Tern ops. ConverterTable
// contains all of them.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "import/tflite/tensor_info.h"
#include "ir/builder.h"

namespace tern::tflite {

class GraphImporter;

// Images are stored as [N, H, W, C] (kLast). Convolutions, and elementwise operators that read their results,
// are imported as [N, C, H, W] (kFirst). The importer keeps up to two values of a tensor with 4 dims, one per
// layout, and adds a Transpose where a layout is needed that does not exist yet.
enum class Layout { kLast, kFirst };

// An operator during import. A converter reads its inputs and options, emits Tern ops through `b`, and sets
// its outputs.
class LiteNode {
 public:
  LiteNode(GraphImporter& importer, const fb::Operator& op, std::string name, Builder& builder);

  Builder& b;
  const std::string& op() const { return name_; }
  GraphImporter& importer() { return importer_; }
  const fb::Operator& proto() const { return op_; }

  int InputCount() const;
  int OutputCount() const;
  bool Has(int input) const;
  // Describe a tensor. The dtype of an absent tensor is kInvalid.
  const TensorInfo& InfoIn(int i) const;
  const TensorInfo& InfoOut(int i) const;
  int TensorOf(int input) const;  // index of the tensor in the subgraph

  // Returns an input as it is stored. Quantized tensors are integers. The input must be present.
  Value* In(int i, Layout layout = Layout::kLast);
  // Returns an input as real numbers: Dequantize of a quantized tensor, other tensors as they are stored.
  Value* Real(int i, Layout layout = Layout::kLast);
  // Returns Real(i), or null if the input is absent.
  Value* OptionalReal(int i) { return Has(i) ? Real(i) : nullptr; }
  // Returns kFirst if the input exists only as [N, C, H, W]. An elementwise op should then compute in this
  // layout.
  Layout LayoutOf(int i) const;
  // Returns real numbers with permuted dims. If the input is constant, the import permutes the stored
  // elements.
  Value* RealPermuted(int i, const std::vector<int64_t>& perm);

  // Sets an output. If its element type is not the one that the file states, adds a Cast.
  void Out(int i, Value* value, Layout layout = Layout::kLast);
  // Sets an output to real numbers. If the output is quantized, quantizes them.
  void OutReal(int i, Value* value, Layout layout = Layout::kLast);
  void OutResource(int i, int resource);
  bool Wants(int output) const { return output < OutputCount(); }

  DType TypeOf(int i) { return In(i)->type.dtype; }
  int RankOf(int i) { return In(i)->type.shape.rank(); }
  const Tensor* Constant(int i);  // null if input i is absent or not constant
  // Returns the integers of input i. nullopt if they are not known during import.
  std::optional<std::vector<int64_t>> Longs(int i);
  // Returns the integers of input i, of which some may be unknown or depend on open dims, as in a shape.
  std::optional<std::vector<Dim>> Dims(int i);

  // Returns the options of the operator. If they are absent or of another type, returns defaults.
  template <class T> const T& Options() const {
    if (const void* found = OptionsOfType(static_cast<int>(fb::BuiltinOptionsTraits<T>::enum_value)))
      return *static_cast<const T*>(found);
    return *static_cast<const T*>(EmptyTable());
  }
  template <class T> const T& Options2() const {
    if (const void* found = Options2OfType(static_cast<int>(fb::BuiltinOptions2Traits<T>::enum_value)))
      return *static_cast<const T*>(found);
    return *static_cast<const T*>(EmptyTable());
  }
  // Applies the activation function that an option states.
  Value* Activate(Value* v, int activation);

  // Bad returns kInvalidModel and NotYet returns kUnsupported, with a message that names this operator.
  template <class... A> Status Bad(const A&... a) const {
    return Status(Code::kInvalidModel, Describe() + ": " + StrCat(a...));
  }
  template <class... A> Status NotYet(const A&... a) const {
    return Status(Code::kUnsupported, Describe() + ": " + StrCat(a...));
  }
  std::string Describe() const;

 private:
  const void* OptionsOfType(int type) const;
  const void* Options2OfType(int type) const;
  static const void* EmptyTable();
  const TensorInfo& InfoAt(const flatbuffers::Vector<int32_t>* list, int i) const;
  int Tensor_(const flatbuffers::Vector<int32_t>* list, int i) const;

  GraphImporter& importer_;
  const fb::Operator& op_;
  std::string name_;
};

struct Converter {
  std::function<Status(LiteNode&)> convert;
  int inputs = 0;  // the number of inputs that must be present
};

// Maps the name of an operator to its converter. The name of a custom operator is "CUSTOM:name".
class ConverterTable {
 public:
  // Inputs 0 to `inputs` - 1 of the operator must be present.
  void Add(const char* op, int inputs, std::function<Status(LiteNode&)> convert);
  const Converter* Find(const std::string& op) const;
  std::vector<std::string> Names() const;

 private:
  std::map<std::string, Converter, std::less<>> table_;
};
const ConverterTable& Converters();

}  // namespace tern::tflite

// Defines the converters of one source file. The build finds these definitions and registers the converters.
// Example: TERN_CONVERTERS(elementwise) { table.Add("ABS", 1, …); }
#define TERN_CONVERTERS(Family) void TernConverters_##Family([[maybe_unused]] ConverterTable& table)

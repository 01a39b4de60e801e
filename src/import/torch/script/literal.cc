#include "import/torch/script/literal.h"

#include "import/torch/aten/scalar.h"

namespace tern::torch::script {
namespace {

constexpr size_t kMaxNumbers = 1 << 20;
constexpr size_t kMaxLiteralRank = 16;

// Appends all numbers of nested lists. The lists of one level must have the same length.
Status Collect(Interpreter& in, const Item& data, size_t depth, Dims& dims, std::vector<Arg>& numbers) {
  if (!data.list_or_tuple()) {
    Item number = data;
    if (data.tensor()) {
      TERN_ASSIGN(number, in.CallOp({"aten::item", {data}, {}}));
    }
    if (!number.number() || depth != dims.size()) return in.Bad("torch.tensor of ", data.Describe());
    if (numbers.size() >= kMaxNumbers)
      return in.NotYet("torch.tensor of more than ", kMaxNumbers, " numbers");
    numbers.push_back(number.arg);
    return {};
  }
  const auto size = static_cast<int64_t>(data.cell->items.size());
  if (data.cell->sequence || depth >= kMaxLiteralRank) return in.NotYet("torch.tensor of ", data.Describe());
  if (depth == dims.size()) {
    if (!numbers.empty()) return in.Bad("torch.tensor of lists of different lengths");
    dims.push_back(size);
  }
  if (dims[depth] != size) return in.Bad("torch.tensor of lists of different lengths");
  for (const Item& item : data.cell->items) TERN_TRY(Collect(in, item, depth + 1, dims, numbers));
  return {};
}

DType TypeOf(const std::vector<Arg>& numbers) {
  DType dtype = numbers.empty() ? DType::kF32 : DType::kBool;
  for (const Arg& number : numbers) {
    if (number.kind == Arg::Kind::kFloat) return DType::kF32;
    if (number.kind == Arg::Kind::kInt) dtype = DType::kI64;
  }
  return dtype;
}

}  // namespace

Result<Item> LiteralTensor(Interpreter& in, const Item& data, const Item& dtype) {
  Dims dims;
  std::vector<Arg> numbers;
  // The lengths of the first lists of each level are the dims. Collect checks the other lists.
  for (const Item* at = &data; at->list_or_tuple() && dims.size() < kMaxLiteralRank;) {
    dims.push_back(static_cast<int64_t>(at->cell->items.size()));
    if (at->cell->items.empty()) break;
    at = &at->cell->items[0];
  }
  TERN_TRY(Collect(in, data, 0, dims, numbers));
  DType to = TypeOf(numbers);
  if (dtype.known_int()) to = DTypeOfScalarType(dtype.arg.integer);
  if (dtype.Is(Item::Kind::kArg) && dtype.arg.kind == Arg::Kind::kDType) to = dtype.arg.dtype;
  if (to == DType::kInvalid) return in.NotYet("torch.tensor with a dtype that Tern does not support");
  Builder b = in.NewBuilder("aten::tensor");
  bool known = true;
  for (const Arg& number : numbers) known &= number.known();
  if (known) {
    Tensor tensor(to, dims);
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i].kind == Arg::Kind::kFloat)
        StoreDouble(tensor, static_cast<int64_t>(i), numbers[i].real);
      else
        StoreLong(tensor, static_cast<int64_t>(i), numbers[i].integer);
    }
    return Item(Arg::Of(TorchContext::NewTensor(b.Const(std::move(tensor)))));
  }
  std::vector<Value*> parts;
  for (const Arg& number : numbers)
    parts.push_back(b.Op("Reshape", {ScalarValue(b, number, to), b.Ints({1})}));
  Value* vector = parts.size() == 1 ? parts[0] : b.Op("Concat", parts, {{"axis", int64_t{0}}});
  Value* tensor = b.Op("Reshape", {vector, b.Ints(dims)});
  TERN_TRY(Status(b.status()));
  return Item(Arg::Of(TorchContext::NewTensor(tensor)));
}

}  // namespace tern::torch::script

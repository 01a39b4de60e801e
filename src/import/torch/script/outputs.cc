#include "import/torch/script/outputs.h"

#include <set>

#include "import/torch/aten/scalar.h"

namespace tern::torch::script {
namespace {

constexpr int kMaxOutputDepth = 20;
constexpr size_t kMaxOutputs = 10000;

struct Output {
  std::string name;
  Value* value;
};

class OutputCollector {
 public:
  explicit OutputCollector(Interpreter& in) : in_(in) {}

  Status Collect(const Item& item, const std::string& name, int depth) {
    if (outputs.size() >= kMaxOutputs || depth > kMaxOutputDepth)
      return Unsupported("forward returns more than ", kMaxOutputs, " values");
    if (item.none()) return {};
    if (item.tensor() || item.number()) {
      Builder b = in_.NewBuilder("output");
      TERN_ASSIGN(Value * value, in_.ValueOf(item.arg, b));
      TERN_TRY(Status(b.status()));
      outputs.push_back({name.empty() ? StrCat("output_", next_++) : name, value});
      return {};
    }
    if (item.Is(Item::Kind::kList) && item.cell->sequence) {
      outputs.push_back({name.empty() ? StrCat("output_", next_++) : name, item.cell->sequence});
      return {};
    }
    if (item.Is(Item::Kind::kDict) || item.list_or_tuple()) return CollectParts(item, name, depth);
    if (item.Is(Item::Kind::kConflict)) return Unsupported("the result of forward ", item.text);
    return Unsupported("forward returns ", item.Describe(), ", but outputs are tensors");
  }

  std::vector<Output> outputs;

 private:
  Status CollectParts(const Item& item, const std::string& name, int depth) {
    const Class* type = nullptr;
    if (!item.cell->type.empty()) {
      TERN_ASSIGN(type, in_.code.FindClass(item.cell->type));
    }
    const std::string prefix = name.empty() ? "" : name + "_";
    for (size_t i = 0; i < item.cell->items.size(); ++i) {
      std::string part = name.empty() ? "" : StrCat(prefix, i);
      if (type && i < type->fields.size()) part = prefix + type->fields[i]->target->text;
      if (item.Is(Item::Kind::kDict) && item.cell->keys[i].string())
        part = prefix + item.cell->keys[i].arg.text;
      TERN_TRY(Collect(item.cell->items[i], part, depth + 1));
    }
    return {};
  }

  Interpreter& in_;
  int64_t next_ = 0;
};

}  // namespace

Status SetOutputs(Interpreter& in, const Item& result) {
  OutputCollector collector(in);
  TERN_TRY(collector.Collect(result, "", 0));
  if (collector.outputs.empty()) return Unsupported("forward returns no tensor");
  std::set<std::string> names;
  for (const Value* input : in.context.graph().inputs()) names.insert(input->name);
  std::set<const Value*> taken;
  std::vector<Value*> values;
  for (Output& output : collector.outputs) {
    std::string name = output.name;
    for (int i = 1; !names.insert(name).second; ++i) name = StrCat(output.name, "_", i);
    Value* value = output.value;
    // Each output must be a value of its own, so an input, a constant or a repeated output is copied.
    if (!value->producer || value->graph != &in.context.graph() || !taken.insert(value).second) {
      Builder b(in.context.graph());
      b.At(name, "output of forward");
      value = b.Op("Identity", {value});
      TERN_TRY(Status(b.status()));
    }
    value->name = name;
    values.push_back(value);
  }
  in.context.graph().SetOutputs(std::move(values));
  return {};
}

}  // namespace tern::torch::script

#include "ir/op_def.h"

#include <map>
#include <memory>

#include "ir/op_execution.h"

namespace tern {
namespace {

std::map<std::string, std::unique_ptr<OpDef>, std::less<>>& Table() {
  static auto* table = new std::map<std::string, std::unique_ptr<OpDef>, std::less<>>();
  return *table;
}

std::map<const OpDef*, SubgraphStates>& StatesTable() {
  static auto* table = new std::map<const OpDef*, SubgraphStates>();
  return *table;
}

int IndexOf(const std::vector<Port>& ports, std::string_view name) {
  for (size_t i = 0; i < ports.size(); ++i)
    if (ports[i].name == name) return static_cast<int>(i);
  return -1;
}

const Port& PortAt(const std::vector<Port>& ports, int i) {
  TERN_CHECK(!ports.empty(), "op has no such port");
  const auto last = static_cast<int>(ports.size()) - 1;
  return ports[static_cast<size_t>(i < last ? i : last)];
}

}  // namespace

OpDef::OpDef() = default;
OpDef::OpDef(const OpDef&) = default;
OpDef::OpDef(OpDef&&) noexcept = default;
OpDef& OpDef::operator=(const OpDef&) = default;
OpDef& OpDef::operator=(OpDef&&) noexcept = default;
OpDef::~OpDef() = default;

OpDefBuilder::OpDefBuilder(const char* summary, Attrs defaults) {
  def_.summary = summary;
  def_.defaults = std::move(defaults);
}
OpDefBuilder::~OpDefBuilder() = default;

void OpDefBuilder::AddIn(const char* name, DTypeSet types, Port::Arity arity, Port::Role role) {
  def_.inputs.push_back({name, types, arity, role});
}
void OpDefBuilder::AddOut(const char* name, DTypeSet types, Port::Arity arity) {
  def_.outputs.push_back({name, types, arity, Port::Role::kData});
}
void OpDefBuilder::AddSubgraph(const char* role) { def_.subgraphs.push_back(role); }

int OpDef::InputIndex(std::string_view port) const {
  const int i = IndexOf(inputs, port);
  TERN_CHECK(i >= 0, "op ", name, " has no input '", port, "'");
  return i;
}

int OpDef::OutputIndex(std::string_view port) const {
  const int i = IndexOf(outputs, port);
  TERN_CHECK(i >= 0, "op ", name, " has no output '", port, "'");
  return i;
}

const Port& OpDef::InputPort(int i) const { return PortAt(inputs, i); }
const Port& OpDef::OutputPort(int i) const { return PortAt(outputs, i); }

int OpDef::WeightInput() const {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].role == Port::Role::kWeight) return static_cast<int>(i);
  return -1;
}

bool OpDef::HasRole(int input, Port::Role r) const { return !inputs.empty() && InputPort(input).role == r; }

void AddOp(OpDef def) {
  TERN_CHECK(def.infer, "op ", def.name, " has no Infer");
  FillAnswers(def);
  auto& slot = Table()[def.name];
  TERN_CHECK(!slot, "op ", def.name, " is defined twice");
  slot = std::make_unique<OpDef>(std::move(def));
}

void SetExecution(std::string_view op, std::function<Status(const Attrs&, EvalContext&)> reference,
                  SubgraphStates states) {
  const auto it = Table().find(op);
  TERN_CHECK(it != Table().end() && !it->second->reference, "op ", op,
             " is not declared, or already has a reference");
  it->second->reference = std::move(reference);
  if (states) StatesTable()[it->second.get()] = std::move(states);
}

std::vector<SubgraphState> StatesOfSubgraph(const OpDef& op, const Attrs& attrs, int i) {
  const auto it = StatesTable().find(&op);
  return it == StatesTable().end() ? std::vector<SubgraphState>() : it->second(attrs, i);
}

const OpDef* FindOp(std::string_view name) {
  auto it = Table().find(name);
  return it == Table().end() ? nullptr : it->second.get();
}

std::vector<const OpDef*> AllOps() {
  std::vector<const OpDef*> out;
  for (const auto& [name, def] : Table()) out.push_back(def.get());
  return out;
}

std::vector<const char*> OpNames(bool (*fits)(const OpDef&)) {
  std::vector<const char*> names;
  for (const auto& [name, def] : Table())
    if (fits(*def)) names.push_back(name.c_str());
  return names;
}

}  // namespace tern

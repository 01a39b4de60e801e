#include "import/tensorflow/frames.h"

#include <algorithm>
#include <climits>
#include <set>

namespace tern::tensorflow {

std::vector<std::string> DataInputs(const pb::NodeDef& node) {
  std::vector<std::string> inputs;
  for (const std::string& input : node.input())
    if (!IsControl(input)) inputs.push_back(input);
  return inputs;
}

namespace {

bool Is(const pb::NodeDef* node, std::string_view op) {
  return node && (node->op() == op || node->op() == std::string("Ref").append(op));
}

// Returns the name of the frame that an Enter node opens, or "" if the node does not name it.
std::string FrameName(const pb::NodeDef& enter) {
  const auto found = enter.attr().find("frame_name");
  return found == enter.attr().end() ? "" : found->second.s();
}

}  // namespace

std::string NodeOf(const std::string& tensor) {
  const auto name = ParseTensorName(tensor);
  return name.ok() ? name->node : "";
}

std::string Canonical(const std::string& tensor) {
  const auto name = ParseTensorName(tensor);
  return name.ok() ? StrCat(name->node, ":", name->index) : tensor;
}

const LoopFrame* Frames::LoopOf(const std::string& exit) const {
  const auto found = exits_.find(exit);
  return found == exits_.end() ? nullptr : &loops_.at(found->second);
}

bool Frames::IsLoopSwitch(const pb::NodeDef& node) const {
  const auto inputs = DataInputs(node);
  return inputs.size() > 1 && Is(body_->Find(NodeOf(inputs[1])), "LoopCond");
}

Result<Frames> Frames::Of(const Body& body) {
  Frames frames;
  frames.body_ = &body;
  TERN_TRY(frames.FindLoops(body));
  TERN_TRY(frames.FindGuards(body));
  return frames;
}

Status Frames::FindLoops(const Body& body) {
  std::map<std::string, std::pair<std::string, size_t>> places;  // Merge → frame and number of the variable
  for (const auto& [name, node] : body.nodes) {
    if (!Is(node, "Merge")) continue;
    const auto inputs = DataInputs(*node);
    if (inputs.size() != 2) continue;
    for (size_t i = 0; i < 2; ++i) {
      const pb::NodeDef *enter = body.Find(NodeOf(inputs[i])), *next = body.Find(NodeOf(inputs[1 - i]));
      if (!Is(enter, "Enter") || !Is(next, "NextIteration")) continue;
      LoopFrame& frame = loops_[FrameName(*enter)];
      places[name] = {FrameName(*enter), frame.variables.size()};
      frame.variables.push_back({enter->name(), name, next->name(), "", {}});
      loop_merges_[name] = enter->name();
    }
  }
  for (const auto& [name, node] : body.nodes) {
    if (Is(node, "Enter")) {
      const auto constant = node->attr().find("is_constant");
      const auto frame = loops_.find(FrameName(*node));
      if (frame != loops_.end() && constant != node->attr().end() && constant->second.b())
        frame->second.constants.push_back(name);
    }
    if (!Is(node, "Switch")) continue;
    const auto inputs = DataInputs(*node);
    const auto place = inputs.empty() ? places.end() : places.find(NodeOf(inputs[0]));
    if (place == places.end() || !IsLoopSwitch(*node)) continue;
    LoopFrame& frame = loops_[place->second.first];
    frame.variables[place->second.second].branch = name;
    frame.condition = NodeOf(inputs[1]);
    places[name] = place->second;
  }
  for (const auto& [name, node] : body.nodes) {
    if (!Is(node, "Exit")) continue;
    const auto inputs = DataInputs(*node);
    const auto place = inputs.empty() ? places.end() : places.find(NodeOf(inputs[0]));
    if (place == places.end()) return InvalidModel("node '", name, "' (Exit) does not belong to a loop");
    loops_[place->second.first].variables[place->second.second].exits.push_back(name);
    exits_[name] = place->second.first;
  }
  return {};
}

// Returns the inputs whose guards a node inherits. Includes control edges, because a constant in a branch has
// no other inputs. Omits the edge that closes a loop.
std::vector<std::string> Frames::Sources(const pb::NodeDef& node) const {
  const auto loop = loop_merges_.find(node.name());
  if (loop != loop_merges_.end()) return {loop->second};
  return {node.input().begin(), node.input().end()};
}

Guards Frames::GuardsOf(const std::string& tensor) const {
  const auto name = ParseTensorName(tensor);
  if (!name.ok()) return {};
  const auto found = guards_.find(name->node);
  Guards guards = found == guards_.end() ? Guards() : found->second;
  const auto own = switches_.find(name->node);
  if (own == switches_.end() || IsControl(tensor)) return guards;
  const auto place = std::lower_bound(guards.begin(), guards.end(), std::make_pair(own->second, INT_MIN));
  if (place != guards.end() && place->first == own->second)
    place->second = name->index;
  else
    guards.insert(place, {own->second, name->index});
  return guards;
}

bool Frames::DependsOn(const std::string& tensor, const std::string& predicate) const {
  const Guards guards = GuardsOf(tensor);
  return std::any_of(guards.begin(), guards.end(),
                     [&](const auto& guard) { return PredicateName(guard.first) == predicate; });
}

Guards Frames::Combine(const pb::NodeDef& node) const {
  const bool merge = Is(&node, "Merge") && !IsLoopMerge(node.name());
  std::map<int, int> all;
  std::set<int> opposed;
  for (const std::string& input : Sources(node)) {
    if (merge && IsControl(input)) continue;
    for (const auto& [predicate, side] : GuardsOf(input)) {
      const auto [place, fresh] = all.emplace(predicate, side);
      if (!fresh && place->second != side) opposed.insert(predicate);
    }
  }
  for (const int predicate : opposed) all.erase(predicate);
  return {all.begin(), all.end()};
}

std::string Frames::PredicateOf(const pb::NodeDef& node) const {
  const auto found = switches_.find(node.name());
  return found == switches_.end() ? FollowPredicate(node) : PredicateName(found->second);
}

std::string Frames::FollowPredicate(const pb::NodeDef& node) const {
  const auto inputs = DataInputs(node);
  if (inputs.size() < 2) return {};
  std::string tensor = inputs[1];
  for (int steps = 0; steps < 1000; ++steps) {
    const pb::NodeDef* source = body_->Find(NodeOf(tensor));
    if (!source || source->op() != "Identity" || source->input_size() == 0) break;
    tensor = source->input(0);
  }
  return Canonical(tensor);
}

int Frames::DepthOf(const pb::NodeDef& node) const {
  int depth = 0;
  for (const std::string& input : Sources(node)) {
    const auto found = depths_.find(NodeOf(input));
    if (found != depths_.end()) depth = std::max(depth, found->second);
  }
  if (Is(&node, "Enter")) return depth + 1;
  return Is(&node, "Exit") ? std::max(depth - 1, 0) : depth;
}

bool Frames::IsInside(const std::string& node) const {
  const auto depth = depths_.find(node);
  const auto guards = guards_.find(node);
  return (depth != depths_.end() && depth->second > 0) ||
         (guards != guards_.end() && !guards->second.empty()) || Is(body_->Find(node), "Switch");
}

void Frames::FindPredicates(const Body& body) {
  std::map<std::string, std::vector<std::string>> users;  // predicate → Switches
  for (const auto& [name, node] : body.nodes)
    if (Is(node, "Switch") && node->input_size() > 1 && !IsLoopSwitch(*node))
      users[FollowPredicate(*node)].push_back(name);
  for (const auto& [predicate, names] : users) {
    for (const std::string& name : names) switches_[name] = static_cast<int>(predicates_.size());
    predicates_.push_back(predicate);
  }
}

Status Frames::FindGuards(const Body& body) {
  const bool any = std::any_of(body.nodes.begin(), body.nodes.end(),
                               [](const auto& entry) { return Is(entry.second, "Merge"); });
  if (!any) return {};
  FindPredicates(body);
  // Depth-first with a stack of its own. A node is finished after its sources.
  std::set<std::string> entered;
  for (const auto& [first, ignored] : body.nodes) {
    std::vector<std::pair<std::string, bool>> stack = {{first, false}};
    while (!stack.empty()) {
      const auto [name, done] = stack.back();
      stack.pop_back();
      const pb::NodeDef* node = body.Find(name);
      if (!node) continue;
      if (done) {
        Guards& guards = guards_[name] = Combine(*node);
        if (guards.size() > kMaxGuards)
          return Unsupported("node '", name, "' depends on more than ", kMaxGuards, " conditions");
        depths_[name] = DepthOf(*node);
        continue;
      }
      if (!entered.insert(name).second) continue;
      stack.emplace_back(name, true);
      for (const std::string& input : Sources(*node)) stack.emplace_back(NodeOf(input), false);
    }
  }
  return {};
}

}  // namespace tern::tensorflow

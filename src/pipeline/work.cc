#include "pipeline/work.h"

#include <algorithm>

#include "pipeline/joined.h"

namespace tern::pipeline {
namespace {

bool SameDims(const NamedTensors& a, const NamedTensors& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.second.dims() == y.second.dims(); });
}

// A row whose tensors have no batch dim cannot be joined with others.
bool Joinable(const NamedTensors& row) {
  return std::all_of(row.begin(), row.end(),
                     [](const auto& feed) { return feed.second.rank() > 0 && feed.second.dim(0) == 1; });
}

Result<size_t> FindInput(const Binding& binding, const RawInput& input) {
  if (input.name.empty() && binding.inputs.size() == 1) return size_t{0};
  std::vector<std::string> names;
  for (size_t i = 0; i < binding.inputs.size(); ++i) {
    if (binding.inputs[i].spec.name == input.name) return i;
    names.push_back(StrCat("'", binding.inputs[i].spec.name, "'"));
  }
  return InvalidArgument("the pipeline has no input '", input.name, "'; its inputs are ", Join(names, ", "));
}

// Adds the tensors of another input to the rows of the same items.
Status Merge(const std::string& name, std::vector<ItemRows> from, std::vector<ItemRows>& to) {
  for (size_t i = 0; i < to.size(); ++i) {
    if (from[i].rows.size() != to[i].rows.size())
      return InvalidArgument("input '", name, "' has ", from[i].rows.size(), " frames, others have ",
                             to[i].rows.size());
    for (size_t row = 0; row < to[i].rows.size(); ++row)
      for (auto& feed : from[i].rows[row]) to[i].rows[row].push_back(std::move(feed));
    if (to[i].info.placement.picture.width == 0) to[i].info.placement = from[i].info.placement;
    if (to[i].info.seconds == 0) to[i].info.seconds = from[i].info.seconds;
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const InputReader>> MakeReader(const Spec& spec, const BoundInput& input) {
  if (input.kind == BoundInput::Kind::kImage) return MakeImageReader(spec, input);
  if (input.kind == BoundInput::Kind::kAudio) return MakeAudioReader(spec, input);
  return MakeTextReader(spec, input);
}

Result<std::shared_ptr<const Steps>> Steps::Create(const Spec& spec, Graph& graph) {
  TERN_ASSIGN(Binding binding, Bind(spec, graph));
  TERN_TRY(AddGraphSteps(binding, graph));
  std::shared_ptr<Steps> out(new Steps(std::move(binding)));
  for (const BoundInput& input : out->binding_.inputs) {
    TERN_ASSIGN(auto reader, MakeReader(spec, input));
    out->readers_.push_back(std::move(reader));
  }
  for (const BoundOutput& output : out->binding_.outputs) {
    TERN_ASSIGN(auto maker, MakeOutput(out->binding_, output));
    out->makers_.push_back(std::move(maker));
  }
  return std::shared_ptr<const Steps>(std::move(out));
}

Result<Work> Work::Start(std::shared_ptr<const Steps> steps, const std::vector<RawInput>& inputs,
                         int64_t most, const Stop& stop) {
  Work work(std::move(steps), stop);
  TERN_TRY(work.Collect(inputs));
  TERN_TRY(work.Plan(most));
  return work;
}

Status Work::Collect(const std::vector<RawInput>& inputs) {
  const Binding& binding = steps_->binding();
  const int64_t limit = binding.spec.limits.items;
  std::vector<bool> given(binding.inputs.size());
  for (const RawInput& input : inputs) {
    TERN_ASSIGN(const size_t i, FindInput(binding, input));
    const std::string& name = binding.inputs[i].spec.name;
    if (given[i]) return InvalidArgument("input '", name, "' is given twice");
    given[i] = true;
    if (input.items.empty()) return InvalidArgument("input '", name, "' has no items");
    if (static_cast<int64_t>(input.items.size()) > limit)
      return InvalidArgument("input '", name, "' has ", input.items.size(), " items, the limit is ", limit);
    if (!items_.empty() && items_.size() != input.items.size())
      return InvalidArgument("input '", name, "' has ", input.items.size(), " items, other inputs have ",
                             items_.size());
    auto rows = steps_->readers()[i]->Read(input.items, stop_);
    if (!rows.ok() && rows.status().code() == Code::kCancelled) return rows.TakeStatus();
    if (!rows.ok()) return InvalidArgument("input '", name, "': ", rows.status().message());
    if (items_.empty())
      items_ = std::move(*rows);
    else
      TERN_TRY(Merge(name, std::move(*rows), items_));
  }
  for (size_t i = 0; i < given.size(); ++i)
    if (!given[i]) return InvalidArgument("input '", binding.inputs[i].spec.name, "' is missing");
  return {};
}

// Groups rows into runs. Rows of one run have the same dims.
Status Work::Plan(int64_t most) {
  const Binding& binding = steps_->binding();
  const int64_t size = binding.batch > 0 ? binding.batch : std::max<int64_t>(1, most);
  made_.resize(items_.size());
  const NamedTensors* before = nullptr;
  for (size_t item = 0; item < items_.size(); ++item) {
    made_[item].resize(items_[item].rows.size());
    for (size_t row = 0; row < items_[item].rows.size(); ++row) {
      const NamedTensors& feeds = items_[item].rows[row];
      const bool same = before && SameDims(*before, feeds) && Joinable(feeds);
      if (!same || static_cast<int64_t>(runs_.back().size()) >= size || !binding.states.empty())
        runs_.emplace_back();
      runs_.back().push_back({item, row});
      before = &feeds;
    }
  }
  return {};
}

Result<NamedTensors> Work::Next() {
  NamedTensors out;
  if (next_ >= runs_.size()) return out;
  const std::vector<RowPlace>& run = runs_[next_++];
  const Binding& binding = steps_->binding();
  const NamedTensors& first = items_[run[0].item].rows[run[0].row];
  const bool joinable = Joinable(first);
  padded_ = joinable ? std::max<int64_t>(0, binding.batch - static_cast<int64_t>(run.size())) : 0;
  for (size_t i = 0; i < first.size(); ++i) {
    std::vector<Tensor> parts;
    for (const RowPlace& place : run) parts.push_back(items_[place.item].rows[place.row][i].second);
    for (int64_t k = 0; k < padded_; ++k) parts.push_back(parts.back());
    out.emplace_back(first[i].first, Joined(parts));
  }
  if (run[0].row == 0) states_.clear();
  for (const BoundState& state : binding.states) {
    const auto found = std::find_if(states_.begin(), states_.end(),
                                    [&](const auto& pair) { return pair.first == state.input; });
    out.emplace_back(state.input, found != states_.end() ? found->second : Tensor(state.dtype, state.dims));
  }
  return out;
}

Status Work::TakeStates(const NamedTensors& outputs) {
  states_.clear();
  for (const BoundState& state : steps_->binding().states)
    for (const auto& [name, tensor] : outputs)
      if (name == state.output) states_.emplace_back(state.input, tensor);
  return {};
}

Status Work::Take(const NamedTensors& outputs) {
  const std::vector<RowPlace>& run = runs_[next_ - 1];
  const auto rows = static_cast<int64_t>(run.size()), total = rows + padded_;
  for (const auto& [name, tensor] : outputs) {
    if (total > 1 && (tensor.rank() == 0 || tensor.dim(0) != total))
      return InvalidArgument("output '", name, "' is ", tensor.Describe(), ", but its first dim must be ",
                             total, ", the batch size of the run");
    for (int64_t i = 0; i < rows; ++i) {
      const RowPlace& place = run[static_cast<size_t>(i)];
      made_[place.item][place.row].emplace_back(name, total > 1 ? RowsOf(tensor, i, 1) : tensor);
    }
  }
  // The inputs of these rows are not needed any more.
  for (const RowPlace& place : run) items_[place.item].rows[place.row].clear();
  return TakeStates(outputs);
}

Status CheckFrames(const std::string& output, const std::vector<Tensor>& frames) {
  for (const Tensor& frame : frames)
    if (frames.size() > 1 && !SameRows(frames[0], frame))
      return InvalidArgument("output '", output, "' is ", frames[0].Describe(), " for one frame and ",
                             frame.Describe(),
                             " for another; frames must have the same dims except the first");
  return {};
}

Result<std::vector<Item>> Work::Finish() const {
  std::vector<Item> out;
  size_t total = 0;
  for (size_t i = 0; i < made_.size(); ++i) {
    TERN_TRY(stop_.Check());
    ItemOutputs outputs;
    if (made_[i].empty()) return InvalidArgument("item ", i, " is empty");
    for (size_t k = 0; k < made_[i][0].size(); ++k) {
      std::vector<Tensor> parts;
      for (const NamedTensors& row : made_[i]) parts.push_back(row[k].second);
      TERN_TRY(CheckFrames(made_[i][0][k].first, parts));
      outputs.tensors.emplace_back(made_[i][0][k].first, Joined(parts));
    }
    Item item;
    for (const auto& maker : steps_->makers()) {
      TERN_ASSIGN(ItemResult result, maker->Make(outputs, items_[i].info));
      TERN_TRY(CountBytes(result.tensor.bytes(), total));
      item.push_back(std::move(result));
    }
    out.push_back(std::move(item));
  }
  return out;
}

}  // namespace tern::pipeline

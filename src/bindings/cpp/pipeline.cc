// Implements the public API's Pipeline. It is compiled into libtern_pipeline, not into libtern.
#include "pipeline/pipeline.h"

#include "bindings/cpp/config.h"
#include "data/json_writer.h"
#include "generate/generate.h"
#include "tern/pipeline.hpp"

namespace tern::v1 {
namespace {

const pipeline::Item& ItemOf(const std::shared_ptr<const void>& item) {
  static const auto* none = new pipeline::Item();
  return item ? *static_cast<const pipeline::Item*>(item.get()) : *none;
}

const pipeline::ItemResult& Find(const std::shared_ptr<const void>& item, const std::string& output) {
  static const auto* none = new pipeline::ItemResult();
  for (const pipeline::ItemResult& result : ItemOf(item))
    if (result.name == output) return result;
  return *none;
}

}  // namespace

struct Pipeline::Impl {
  std::shared_ptr<const pipeline::Pipeline> pipeline;
};

std::vector<std::string> Answer::Names() const {
  std::vector<std::string> out;
  for (const pipeline::ItemResult& result : ItemOf(item_)) out.push_back(result.name);
  return out;
}

std::vector<Label> Answer::Labels(const std::string& output) const {
  std::vector<Label> out;
  for (const pipeline::Label& l : Find(item_, output).labels) out.push_back({l.index, l.score, l.label});
  return out;
}

std::vector<Box> Answer::Boxes(const std::string& output) const {
  std::vector<Box> out;
  for (const pipeline::LabelledBox& b : Find(item_, output).boxes)
    out.push_back({b.x0, b.y0, b.x1, b.y1, b.score, b.index, b.label});
  return out;
}

std::vector<Span> Answer::Spans(const std::string& output) const {
  std::vector<Span> out;
  for (const pipeline::Span& s : Find(item_, output).spans) out.push_back({s.start, s.end, s.score});
  return out;
}

std::string Answer::Text(const std::string& output) const { return Find(item_, output).text; }

Value Answer::Tensor(const std::string& output) const {
  const tern::Tensor& tensor = Find(item_, output).tensor;
  return tensor.defined() ? Value(std::make_shared<const Datum>(tensor.Contiguous())) : Value();
}

std::string Answer::Json() const {
  data::JsonWriter json;
  WriteItem(ItemOf(item_), json);
  return json.Take();
}

Result<Pipeline> Pipeline::Create(const Config& config, const std::string& file) {
  auto impl = std::make_shared<Impl>();
  const Status status = Protect([&]() -> tern::Status {
    TERN_TRY(config.impl_->Check());
    if (config.impl_->buffer)
      return tern::InvalidArgument("a pipeline needs model_path, because its files are beside the model");
    tern::InitGenerate();
    TERN_ASSIGN(const pipeline::Source source, pipeline::FindSource(config.impl_->model_path, file));
    Config::Impl own = *config.impl_;
    own.model_path = source.model;
    TERN_ASSIGN(tern::load::Loaded loaded, own.Load());
    pipeline::PipelineOptions options;
    options.session = own.options;
    TERN_ASSIGN(impl->pipeline, pipeline::Pipeline::Create(std::move(loaded.graph), source.spec, options));
    return {};
  });
  if (!status.ok()) return status;
  return Pipeline(std::move(impl));
}

Result<Answer> Pipeline::Run(const RawInput& input) const {
  Result<std::vector<Answer>> answers = RunBatch({input});
  if (!answers.ok()) return answers.status();
  if (answers->size() != 1)
    return Status(Code::kInvalidArgument, "Run takes one item; RunBatch takes several");
  return std::move((*answers)[0]);
}

Result<std::vector<Answer>> Pipeline::RunBatch(const std::vector<RawInput>& inputs,
                                               const RunOptions& options) const {
  std::vector<Answer> out;
  const Status status = Protect([&]() -> tern::Status {
    std::vector<pipeline::RawInput> raw;
    for (const RawInput& input : inputs)
      raw.push_back({input.name, {input.items.begin(), input.items.end()}});
    TERN_ASSIGN(const tern::Stop stop, StopOf(options));
    TERN_ASSIGN(auto items, impl_->pipeline->Run(raw, stop));
    for (pipeline::Item& item : items) {
      out.emplace_back();
      out.back().item_ = std::make_shared<const pipeline::Item>(std::move(item));
    }
    return {};
  });
  if (!status.ok()) return status;
  return out;
}

std::vector<std::string> Pipeline::InputNames() const {
  std::vector<std::string> out;
  for (const auto& input : impl_->pipeline->binding().inputs) out.push_back(input.spec.name);
  return out;
}

std::vector<std::string> Pipeline::OutputNames() const {
  std::vector<std::string> out;
  for (const auto& output : impl_->pipeline->binding().outputs) out.push_back(output.spec.name);
  return out;
}

}  // namespace tern::v1

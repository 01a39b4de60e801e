#include "tools/ranking.h"

#include <fmt/core.h>

#include "data/post/labels.h"
#include "tools/units.h"

namespace tern::tools {

void RankingOptions::Declare(Args& args) {
  args.Option("--topk", count_, "K", "print the K best classes of each output", 1, 1'000'000);
  args.Option("--labels", file_, "FILE",
              "file with the names of the classes: lines, lines that begin with an index, or JSON");
}

Status RankingOptions::Load() {
  if (file_.empty()) return {};
  if (!wanted()) count_ = 5;
  auto labels = data::ReadLabels(file_);
  if (!labels.ok()) return labels.TakeStatus().While("reading --labels");
  labels_ = std::move(*labels);
  return {};
}

Result<std::vector<Ranking>> RankingOptions::Rank(const std::vector<Value*>& outputs,
                                                  const DatumList& data) const {
  std::vector<Ranking> out;
  if (!wanted()) return out;
  for (size_t i = 0; i < data.size(); ++i) {
    const std::string& name = outputs[i]->name;
    Result<std::vector<std::vector<data::Ranked>>> rows = InvalidArgument("not a tensor");
    if (data[i].is_tensor()) rows = data::TopK(data[i].tensor, count_);
    if (!rows.ok()) {
      fmt::print(stderr, "tern: note: --topk skips output '{}': cannot rank {}\n", Printable(name),
                 Printable(data[i].Describe()));
      continue;
    }
    const auto count = static_cast<int64_t>(rows->size());
    out.push_back({name, data[i].Describe(), count ? data[i].tensor.size() / count : 0, std::move(*rows)});
  }
  if (labels_.empty() || out.empty()) return out;
  for (const Ranking& r : out)
    if (Labels(r)) return out;
  return InvalidArgument("--labels ", file_, " contains ", labels_.size(), " names, but output '",
                         out[0].output, "' has ", out[0].classes, " classes");
}

void RankingOptions::Print(const Ranking& r) const {
  for (size_t row = 0; row < r.rows.size(); ++row) {
    fmt::print("{}{}: {}\n", Printable(r.output), r.rows.size() > 1 ? fmt::format("[{}]", row) : "", r.type);
    for (const data::Ranked& best : r.rows[row])
      fmt::print("  {:>6}  {:>12.6g}{}\n", best.index, best.score,
                 Labels(r) ? "  " + Printable(labels_[static_cast<size_t>(best.index)]) : "");
  }
}

void RankingOptions::Write(const Ranking& r, data::JsonWriter& json) const {
  json.BeginArray();
  for (const auto& row : r.rows) {
    json.BeginArray();
    for (const data::Ranked& best : row) {
      json.BeginObject().Key("index").Int(best.index).Key("score").Number(best.score);
      if (Labels(r)) json.Key("label").Text(labels_[static_cast<size_t>(best.index)]);
      json.EndObject();
    }
    json.EndArray();
  }
  json.EndArray();
}

}  // namespace tern::tools

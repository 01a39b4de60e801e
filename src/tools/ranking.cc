#include "tools/ranking.h"

#include <fmt/core.h>

#include "data/file.h"
#include "data/text.h"
#include "data/topk.h"
#include "tools/units.h"

namespace tern::tools {

void RankingOptions::Declare(Args& args) {
  args.Option("--topk", count_, "K", "print the K best classes of each output", 0, 1'000'000);
  args.Option("--labels", file_, "FILE", "names of the classes, one a line");
}

Status RankingOptions::Load() {
  if (file_.empty()) return {};
  if (!wanted()) count_ = 5;
  TERN_ASSIGN(const std::string text, data::ReadFile(file_));
  labels_ = data::SplitLines(text);
  return {};
}

std::string RankingOptions::LabelOf(int64_t index) const {
  return static_cast<size_t>(index) < labels_.size() ? labels_[static_cast<size_t>(index)] : "";
}

Status RankingOptions::Print(const std::string& output, const Datum& datum) const {
  if (!datum.is_tensor())
    return InvalidArgument("--topk: output '", output, "' is ", datum.Describe(), ", not a tensor");
  TERN_ASSIGN(const auto rows, data::TopK(datum.tensor, count_));
  for (size_t r = 0; r < rows.size(); ++r) {
    fmt::print("{}{}: {}\n", Printable(output), rows.size() > 1 ? fmt::format("[{}]", r) : "",
               datum.tensor.Describe());
    for (const data::Ranked& best : rows[r])
      fmt::print("  {:>6}  {:>12.6g}  {}\n", best.index, best.score, Printable(LabelOf(best.index)));
  }
  return {};
}

Status RankingOptions::Write(const Datum& datum, data::JsonWriter& json) const {
  json.BeginArray();
  if (datum.is_tensor()) {
    TERN_ASSIGN(const auto rows, data::TopK(datum.tensor, count_));
    for (const auto& row : rows) {
      json.BeginArray();
      for (const data::Ranked& best : row) {
        json.BeginObject().Key("index").Int(best.index).Key("score").Number(best.score);
        if (!labels_.empty()) json.Key("label").Text(LabelOf(best.index));
        json.EndObject();
      }
      json.EndArray();
    }
  }
  json.EndArray();
  return {};
}

}  // namespace tern::tools

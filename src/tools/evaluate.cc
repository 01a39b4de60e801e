#include "tools/evaluate.h"

#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "data/file.h"
#include "tools/progress.h"

namespace tern::tools {
namespace {

std::string BaseName(const std::string& path) { return std::filesystem::path(path).filename().string(); }

Result<std::vector<int64_t>> FromStems(const compress::Samples& samples) {
  std::vector<int64_t> labels;
  for (size_t i = 0; i < samples.size(); ++i) {
    const std::string name = BaseName(samples.NameOf(i));
    int64_t label = 0;
    if (!ParseInt(name.substr(0, name.find_first_not_of("0123456789")), label))
      return InvalidArgument("'", samples.NameOf(i),
                             "': --labels stem needs a file name that begins with the class, like 0012.jpg");
    labels.push_back(label);
  }
  return labels;
}

// Returns the words of a line. Commas and tabs count as blanks.
std::vector<std::string> WordsOf(std::string line) {
  for (char& c : line)
    if (c == ',' || c == '\t' || c == '\r') c = ' ';
  std::vector<std::string> words;
  for (std::string& word : SplitText(line, ' '))
    if (!word.empty()) words.push_back(std::move(word));
  return words;
}

Result<std::vector<int64_t>> FromFile(const compress::Samples& samples, const std::string& path) {
  TERN_ASSIGN(const std::string text, data::ReadFile(path));
  std::vector<int64_t> in_order;
  std::map<std::string, int64_t> by_name;
  size_t number = 0;
  for (const std::string& line : SplitText(text, '\n')) {
    ++number;
    const std::vector<std::string> words = WordsOf(line);
    if (words.empty()) continue;
    int64_t label = 0;
    if (words.size() > 2 || !ParseInt(words.back(), label) || label < 0)
      return InvalidArgument("'", path, "' line ", number,
                             ": must be LABEL or FILE LABEL, with a label from 0 on");
    if (words.size() == 2)
      by_name[BaseName(words[0])] = label;
    else
      in_order.push_back(label);
  }
  if (by_name.empty()) {
    if (in_order.size() != samples.size())
      return InvalidArgument("'", path, "' has ", in_order.size(), " labels, but there are ", samples.size(),
                             " samples");
    return in_order;
  }
  std::vector<int64_t> labels;
  for (size_t i = 0; i < samples.size(); ++i) {
    const auto it = by_name.find(BaseName(samples.NameOf(i)));
    if (it == by_name.end())
      return NotFound("'", path, "' has no label of '", BaseName(samples.NameOf(i)), "'");
    labels.push_back(it->second);
  }
  return labels;
}

Result<Tensor> ScoresOf(Engine& engine, const DatumList& inputs, const std::string& sample) {
  auto run = engine.Run(inputs);
  if (!run.ok()) return run.TakeStatus().While(StrCat("running the model on '", sample, "'"));
  if (run->empty() || !run->front().is_tensor())
    return InvalidArgument("the model's first output is not a tensor");
  return run->front().tensor;
}

Result<compress::Answer> AnswerFor(const Tensor& scores, int64_t label, const std::string& sample) {
  auto answer = compress::AnswerOf(scores, label);
  if (!answer.ok()) return answer.TakeStatus().While(StrCat("ranking the classes of '", sample, "'"));
  return answer;
}

}  // namespace

Result<std::vector<int64_t>> LabelsOf(const compress::Samples& samples, const std::string& source) {
  return source == "stem" ? FromStems(samples) : FromFile(samples, source);
}

Result<Evaluation> Evaluate(Engine& engine, Engine* other, compress::Samples& samples,
                            const std::vector<int64_t>& labels) {
  Evaluation made;
  Progress progress("evaluating");
  for (size_t i = 0; i < samples.size(); ++i) {
    const std::string name = samples.NameOf(i);
    TERN_ASSIGN(const DatumList inputs, samples.Get(i));
    TERN_ASSIGN(const Tensor scores, ScoresOf(engine, inputs, name));
    TERN_ASSIGN(const compress::Answer answer, AnswerFor(scores, labels[i], name));
    made.answers.push_back(answer);
    if (other) {
      TERN_ASSIGN(const Tensor wanted, ScoresOf(*other, inputs, name));
      TERN_ASSIGN(const compress::Answer before, AnswerFor(wanted, labels[i], name));
      made.others.push_back(before);
      if (wanted.size() != scores.size())
        return InvalidArgument("the models have ", scores.size(), " and ", wanted.size(), " classes");
      const std::vector<double> a = ToDoubles(scores), b = ToDoubles(wanted);
      for (size_t k = 0; k < a.size(); ++k)
        made.signal += b[k] * b[k], made.noise += (a[k] - b[k]) * (a[k] - b[k]);
    }
    progress.Show(static_cast<double>(i + 1) / static_cast<double>(samples.size()));
  }
  return made;
}

double Evaluation::sqnr() const { return noise == 0 ? INFINITY : 10 * std::log10(signal / noise); }

compress::Accuracy AccuracyOf(const std::vector<compress::Answer>& answers) {
  compress::Accuracy accuracy;
  for (const compress::Answer& answer : answers) accuracy.Add(answer);
  return accuracy;
}

void WritePaired(const Evaluation& evaluation, data::JsonWriter& json) {
  const compress::Paired p = compress::Compare(evaluation.others, evaluation.answers);
  json.Key("n").Int(p.n).Key("same").Int(p.same).Key("lost").Int(p.lost).Key("gained").Int(p.gained);
  json.Key("mcnemar_p").Number(p.p).Key("change").Number(p.change);
  json.Key("change_95").BeginArray().Number(p.change_low).Number(p.change_high).EndArray();
  json.Key("sqnr_db").Number(evaluation.sqnr());
}

std::string PairedText(const Evaluation& evaluation) {
  const compress::Paired p = compress::Compare(evaluation.others, evaluation.answers);
  const double n = static_cast<double>(p.n) / 100;
  return fmt::format(
      "{} of {} labels unchanged ({:.1f} %), {} correct ones lost, {} gained: {:+.2f} % (95 %: {:+.2f} to {:+.2f} %), "
      "McNemar p {:.3g}; SQNR of the scores {:.1f} dB",
      p.same, p.n, static_cast<double>(p.same) / n, p.lost, p.gained, p.change * 100, p.change_low * 100,
      p.change_high * 100, p.p, evaluation.sqnr());
}

}  // namespace tern::tools

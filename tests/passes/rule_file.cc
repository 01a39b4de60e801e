#include "rule_file.h"

#include <fstream>
#include <regex>
#include <sstream>

#include "../runner/rand.h"

namespace tern {
namespace {

std::string Trim(const std::string& s) {
  const size_t a = s.find_first_not_of(" \t"), b = s.find_last_not_of(" \t");
  return a == std::string::npos ? "" : s.substr(a, b - a + 1);
}

int64_t Count(const std::string& dims) {
  int64_t count = 1;
  std::stringstream in(dims);
  for (std::string d; std::getline(in, d, ',');) count *= std::stoll(d);
  return count;
}

std::string Random(int64_t count, unsigned seed, double low, double high, bool integer) {
  std::string out;
  for (double v : RandomNumbers(count, seed, low, high))
    out += StrCat(out.empty() ? "(" : ", ", integer ? StrCat(static_cast<int64_t>(v)) : StrCat(v));
  return out.empty() ? "()" : out + ")";
}

// Replaces rand(SEED), as in `i8[3,4] = rand(1)`, by a list of numbers.
std::string FillConstants(std::string text) {
  static const std::regex kRand(R"((\w+)\[([0-9,]*)\]\s*=\s*rand\((\d+)(?:,\s*([-0-9.]+),\s*([-0-9.]+))?\))");
  std::smatch m;
  while (std::regex_search(text, m, kRand)) {
    const double low = m[4].matched ? std::stod(m[4]) : kRandLow,
                 high = m[5].matched ? std::stod(m[5]) : kRandHigh;
    const bool integer = m[1].str()[0] == 'i' || m[1].str()[0] == 'u';
    const std::string numbers =
        Random(Count(m[2]), static_cast<unsigned>(std::stoul(m[3])), low, high, integer);
    text = m.prefix().str() + m[1].str() + "[" + m[2].str() + "] = " + numbers + m.suffix().str();
  }
  return text;
}

// Parses a line such as "fires N=4 M=2 -> Gelu Unary:relu", without its first word.
Status ReadFires(const std::string& rest, RuleCase& c) {
  const size_t arrow = rest.find("->");
  if (arrow == std::string::npos)
    return InvalidArgument(c.place, ": expected -> and the ops of the rewritten graph");
  c.fires = true;
  c.ops = Trim(rest.substr(arrow + 2));
  std::stringstream in(rest.substr(0, arrow));
  for (std::string word; in >> word;) {
    const size_t equal = word.find('=');
    if (equal == std::string::npos) return InvalidArgument(c.place, ": expected SYMBOL=SIZE, found ", word);
    c.symbols[word.substr(0, equal)] = std::stoll(word.substr(equal + 1));
  }
  return {};
}

}  // namespace

Result<std::vector<RuleCase>> ReadRuleFile(const std::string& path) {
  std::ifstream in(path);
  if (!in) return IoError("cannot read ", path);
  std::vector<RuleCase> cases;
  std::string rule;
  bool is_pass = false;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    const std::string place = StrCat(path, ":", ++number);
    std::stringstream words(line);
    std::string head, rest;
    words >> head;
    std::getline(words, rest);
    rest = Trim(rest);
    if (head == "rule" || head == "pass") {
      rule = rest;
      is_pass = head == "pass";
    } else if (head == "fires" || head == "misses") {
      cases.push_back({place, rule, is_pass, false, "", "", {}, ""});
      if (head == "fires") {
        TERN_TRY(ReadFires(rest, cases.back()));
      } else if (is_pass) {
        if (!rest.empty())
          return InvalidArgument(place, ": passes report no reasons; write the reason as a comment");
      } else {
        if (rest.size() < 3 || rest.front() != '"' || rest.back() != '"')
          return InvalidArgument(place, ": expected the reason in quotes");
        cases.back().reason = rest.substr(1, rest.size() - 2);
      }
    } else if (!head.empty() && head != "#") {  // "# text" is a comment, and "#w: f32[2]" is a constant
      if (cases.empty()) return InvalidArgument(place, ": a graph must follow a line `fires` or `misses`");
      cases.back().graph += line + "\n";
    }
  }
  for (RuleCase& c : cases) c.graph = FillConstants(c.graph);
  return cases;
}

}  // namespace tern

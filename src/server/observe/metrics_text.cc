#include "server/observe/metrics_text.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>

namespace tern::server {
namespace {

void AppendEscaped(std::string_view value, std::string& out) {
  for (const char c : value) {
    if (c == '\n')
      out += "\\n";
    else if (c == '"' || c == '\\')
      (out += '\\') += c;
    else
      out += c;
  }
}

void AppendValue(double value, std::string& out) {
  if (std::isnan(value))
    out += "NaN";
  else if (std::isinf(value))
    out += value < 0 ? "-Inf" : "+Inf";
  else
    AppendText(out, value);
}

// Writes a bound without an exponent, because queries are usually written in that form.
std::string BoundText(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.5f", seconds);
  std::string bound = text;
  bound.erase(bound.find_last_not_of('0') + 1);
  if (bound.back() == '.') bound.pop_back();
  return bound;
}

bool IsLabelName(std::string_view name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
}

}  // namespace

void MetricsText::Family(std::string_view name, std::string_view type, std::string_view help) {
  out_ += StrCat("# HELP ", name, " ", help, "\n# TYPE ", name, " ", type, "\n");
}

void MetricsText::Name(std::string_view name, const Labels& labels) {
  out_ += name;
  char separator = '{';
  for (const auto& [key, value] : labels) {
    if (!IsLabelName(key)) continue;  // skips a metric tag of a configuration that is not a valid label name
    out_ += separator;
    out_ += key;
    out_ += "=\"";
    AppendEscaped(value, out_);
    out_ += '"';
    separator = ',';
  }
  if (separator == ',') out_ += '}';
  out_ += ' ';
}

void MetricsText::Sample(std::string_view name, const Labels& labels, double value) {
  Name(name, labels);
  AppendValue(value, out_);
  out_ += '\n';
}

void MetricsText::Sample(std::string_view name, const Labels& labels, uint64_t value) {
  Name(name, labels);
  AppendText(out_, value);
  out_ += '\n';
}

const std::vector<double>& DurationBuckets() {
  static const auto* bounds =
      new std::vector<double>{0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                              0.05,    0.1,    0.25,    0.5,    1,     2.5,    5,     10};
  return *bounds;
}

void MetricsText::Histogram(std::string_view name, const Labels& labels, const LatencyHistogram& histogram) {
  Labels with_bound = labels;
  with_bound.emplace_back("le", "");
  uint64_t below = 0;
  const std::string bucket = StrCat(name, "_bucket");
  for (const double bound : DurationBuckets()) {
    below = std::max(below, histogram.CountUpTo(static_cast<uint64_t>(std::llround(bound * 1e9))));
    with_bound.back().second = BoundText(bound);
    Sample(bucket, with_bound, below);
  }
  // Requests may finish between two reads, but the total must not be less than a bucket.
  const uint64_t count = std::max(below, histogram.count());
  with_bound.back().second = "+Inf";
  Sample(bucket, with_bound, count);
  Sample(StrCat(name, "_sum"), labels, static_cast<double>(histogram.sum_ns()) * 1e-9);
  Sample(StrCat(name, "_count"), labels, count);
}

}  // namespace tern::server

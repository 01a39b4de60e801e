// The profile as a page: roofline, time by operator, all nodes. Plain SVG and HTML, no script.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tools/profile_report.h"
#include "tools/units.h"

namespace tern::tools {
namespace {

std::string Escaped(std::string_view text) {
  std::string out;
  for (char c : Printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// Both axes count in powers of ten.
class Roofline {
 public:
  explicit Roofline(const Profile& p) : profile_(p) {
    for (const ProfiledNode& n : p.nodes) {
      if (!Shown(n)) continue;
      low_x_ = std::min(low_x_, std::floor(std::log10(n.cost->intensity())));
      high_x_ = std::max(high_x_, std::ceil(std::log10(n.cost->intensity())));
      low_y_ = std::min(low_y_, std::floor(std::log10(n.flops_per_second())));
    }
    high_y_ = std::ceil(std::log10(std::max({p.peak.flops, p.peak.bf16_flops, 10.0})) + 0.05);
    low_y_ = std::max(low_y_, high_y_ - 6);
  }

  std::string Draw() const {
    std::string svg = fmt::format(
        "<svg id=\"roofline\" viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" role=\"img\" "
        "aria-label=\"roofline\">\n",
        kWidth, kHeight, kWidth, kHeight);
    Grid(svg);
    Roof(svg);
    for (auto n = profile_.nodes.rbegin(); n != profile_.nodes.rend(); ++n)
      if (Shown(*n)) Dot(*n, svg);
    return svg + "</svg>\n";
  }

 private:
  static constexpr double kWidth = 860, kHeight = 420, kLeft = 70, kBottom = 50, kTop = 16, kRight = 16;

  static bool Shown(const ProfiledNode& n) {
    return n.cost && n.cost->flops > 0 && n.cost->bytes > 0 && n.ms > 0;
  }
  double X(double log) const {
    return kLeft + (log - low_x_) / (high_x_ - low_x_) * (kWidth - kLeft - kRight);
  }
  double Y(double log) const {
    return kHeight - kBottom -
           (std::clamp(log, low_y_, high_y_) - low_y_) / (high_y_ - low_y_) * (kHeight - kBottom - kTop);
  }

  static void Line(double x1, double y1, double x2, double y2, const char* style, std::string& svg) {
    svg += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1,
                       y1, x2, y2, style);
  }
  static void Text(double x, double y, const char* anchor, const std::string& text, std::string& svg) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                       Escaped(text));
  }

  void Grid(std::string& svg) const {
    for (double log = low_x_; log <= high_x_; ++log) {
      Line(X(log), Y(low_y_), X(log), Y(high_y_), "grid", svg);
      Text(X(log), kHeight - kBottom + 18, "middle", fmt::format("{:g}", std::pow(10, log)), svg);
    }
    for (double log = low_y_; log <= high_y_; ++log) {
      Line(X(low_x_), Y(log), X(high_x_), Y(log), "grid", svg);
      Text(kLeft - 8, Y(log) + 4, "end", fmt::format("{:g}", std::pow(10, log - 9)), svg);
    }
    Text((kLeft + kWidth) / 2, kHeight - 12, "middle", "FLOP per byte", svg);
    Text(kLeft, kTop - 4, "start", "GFLOP/s", svg);
  }

  void Roof(std::string& svg) const {
    const MachinePeak& peak = profile_.peak;
    const double bytes = std::log10(peak.bytes), highest = std::log10(std::max(peak.flops, peak.bf16_flops));
    const auto ridge = [&](double flops) { return std::clamp(flops - bytes, low_x_, high_x_); };
    Line(X(low_x_), Y(low_x_ + bytes), X(ridge(highest)), Y(ridge(highest) + bytes), "roof", svg);
    for (const double flops : {peak.flops, peak.bf16_flops})
      if (flops > 0)
        Line(X(ridge(std::log10(flops))), Y(std::log10(flops)), X(high_x_), Y(std::log10(flops)), "roof",
             svg);
  }

  // The area of a dot is its share of the time.
  void Dot(const ProfiledNode& n, std::string& svg) const {
    const double share = n.ms / profile_.ms, radius = std::clamp(40 * std::sqrt(share), 2.0, 40.0);
    svg += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"><title>{} ({}, {}) {:.3f} ms, {:.1f} GFLOP/s</title></circle>\n",
        X(std::log10(n.cost->intensity())), Y(std::log10(n.flops_per_second())), radius,
        Escaped(n.node->name), Escaped(n.Kind()), Escaped(n.kernel), n.ms, n.flops_per_second() * 1e-9);
  }

  const Profile& profile_;
  double low_x_ = -1, high_x_ = 2, low_y_ = 8, high_y_ = 11;
};

std::string Rows(const Profile& p) {
  std::string out;
  for (const ProfiledNode& n : p.nodes) {
    const std::string rate = n.cost ? fmt::format("{:.1f}", n.flops_per_second() * 1e-9) : "?";
    const std::string roof = n.cost ? fmt::format("{:.1f}", n.PercentOfRoof(p.peak)) : "?";
    out += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"n\">{:.3f}</td><td class=\"n\">{:.1f}</td>"
        "<td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
        Escaped(n.node->name), Escaped(n.Kind()), Escaped(n.kernel), Escaped(n.Output()), n.ms,
        100 * n.ms / p.ms, rate, roof);
  }
  return out;
}

constexpr const char* kStyle =
    "body{font:14px sans-serif;margin:24px;color:#223}table{border-collapse:collapse}"
    "td,th{padding:2px 10px;text-align:left;border-bottom:1px solid #dde}.n{text-align:right}"
    "text{font:12px sans-serif;fill:#445}.grid{stroke:#dde}.roof{stroke:#c33;stroke-width:2}"
    "circle{fill:#27c;fill-opacity:.45;stroke:#149}";

}  // namespace

std::string ProfilePage(const std::string& model, const Profile& p) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title><style>{1}</style></head>\n"
      "<body><h1>{0}</h1>\n<p>{2:.3f} ms a run in {3} steps on {4} threads, {10}, {11}, each step at its best of {5} runs. The red line is what this "
      "machine reaches: {6}, {7:.1f} GB/s. The area of a dot is its share of the time.</p>\n{8}"
      "<table id=\"nodes\"><tr><th>node</th><th>op</th><th>kernel</th><th>output</th><th>ms</th><th>%</th>"
      "<th>GFLOP/s</th><th>% of roof</th></tr>\n{9}</table></body></html>\n",
      Escaped(model), kStyle, p.ms, p.nodes.size(), p.threads, p.runs, RateText(p.peak), p.peak.bytes * 1e-9,
      Roofline(p).Draw(), Rows(p), Escaped(p.isa), Escaped(p.precision));
}

}  // namespace tern::tools

// Writes the profile as a web page. This file draws the roofline. The page's script builds the tables from
// the profile's JSON.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tools/page.h"
#include "tools/profile_report.h"
#include "tools/units.h"

namespace tern::tools {
namespace {

// Draws the roofline as SVG. Both axes are logarithmic.
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
    for (size_t i = profile_.nodes.size(); i-- > 0;)
      if (Shown(profile_.nodes[i])) Dot(i, svg);
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
                       HtmlText(text));
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

  // Draws a node. The area of its dot is proportional to its share of the time. The attribute data-index is
  // the node's index in the profile.
  void Dot(size_t index, std::string& svg) const {
    const ProfiledNode& n = profile_.nodes[index];
    const double share = n.ms / profile_.ms, radius = std::clamp(40 * std::sqrt(share), 2.0, 40.0);
    svg += fmt::format(
        "<circle data-index=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"><title>{} ({}, {}) {:.3f} ms, {:.1f} "
        "GFLOP/s</title></circle>\n",
        index, X(std::log10(n.cost->intensity())), Y(std::log10(n.flops_per_second())), radius,
        HtmlText(n.node->name), HtmlText(n.Kind()), HtmlText(n.kernel), n.ms, n.flops_per_second() * 1e-9);
  }

  const Profile& profile_;
  double low_x_ = -1, high_x_ = 2, low_y_ = 8, high_y_ = 11;
};

// Returns a text about the result and the conditions of the measurement.
std::string Summary(const Profile& p) {
  return fmt::format(
      "A run takes {:.3f} ms in {} steps on {} thread{}, {}, {}. The time of each step is its shortest of {} runs. "
      "This machine reaches {} and {:.1f} GB/s.",
      p.ms, p.nodes.size(), p.threads, p.threads == 1 ? "" : "s", p.isa, p.precision, p.runs,
      RateText(p.peak), p.peak.bytes * 1e-9);
}

}  // namespace

std::string ProfilePage(const std::string& model, const Profile& p) {
  return FillPage("profile.html", {{"title", HtmlText(model)},
                                   {"name", HtmlText(model.substr(model.find_last_of('/') + 1))},
                                   {"summary", HtmlText(Summary(p))},
                                   {"roofline", Roofline(p).Draw()},
                                   {"data", JsonForScript(ProfileJson(model, p, nullptr))}});
}

}  // namespace tern::tools

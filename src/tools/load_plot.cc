#include "tools/load_plot.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace tern::tools {
namespace {

constexpr double kWidth = 760, kHeight = 420, kLeft = 70, kRight = 150, kTop = 40, kBottom = 50;
constexpr const char* kColours[] = {"#1b6ca8", "#d1495b", "#2e8b57", "#8a5fbf", "#c77f1a", "#4d4d4d"};

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<' || c == '>' || c == '&' || c == '"')
      out += fmt::format("&#{};", static_cast<int>(c));
    else if (static_cast<unsigned char>(c) >= 0x20)
      out += c;
  }
  return out;
}

// The scales of the plot. The x axis shows percentiles. The distances from 0 % to 90 %, from 90 % to 99 % and
// from 99 % to 99.9 % are equal. The y axis shows milliseconds on a logarithmic scale.
struct Axes {
  double nines = 1, low = 0.1, high = 1;
  double X(double quantile) const {
    const double rest = std::max(1e-9, 1 - quantile);
    return kLeft + (kWidth - kLeft - kRight) * std::min(1.0, -std::log10(rest) / nines);
  }
  double Y(double ms) const {
    const double share = std::log10(std::max(ms, low) / low) / std::log10(high / low);
    return kHeight - kBottom - (kHeight - kTop - kBottom) * std::min(1.0, share);
  }
};

Axes AxesOf(const server::LoadReport& report) {
  Axes axes;
  double low = 1e9, high = 1e-3;
  for (const auto& step : report.steps)
    for (const auto& [quantile, ms] : step.curve) {
      axes.nines = std::max(axes.nines, -std::log10(std::max(1e-9, 1 - quantile)));
      if (ms > 0) low = std::min(low, ms);
      high = std::max(high, ms);
    }
  axes.low = std::pow(10, std::floor(std::log10(std::min(low, high))));
  axes.high = std::pow(10, std::ceil(std::log10(high) + 1e-9));
  return axes;
}

std::string Grid(const Axes& axes) {
  std::string out;
  for (double ms = axes.low; ms <= axes.high * 1.001; ms *= 10)
    out += fmt::format(
        "<line x1='{0}' x2='{1}' y1='{2:.1f}' y2='{2:.1f}' class='g'/><text x='{3}' y='{4:.1f}' "
        "text-anchor='end'>{5:g} ms</text>\n",
        kLeft, kWidth - kRight, axes.Y(ms), kLeft - 6, axes.Y(ms) + 4, ms);
  for (const double q : {0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999}) {
    if (-std::log10(1 - q) > axes.nines + 1e-9) break;
    out += fmt::format(
        "<line x1='{0:.1f}' x2='{0:.1f}' y1='{1}' y2='{2}' class='g'/><text x='{0:.1f}' y='{3}' "
        "text-anchor='middle'>{4:g} %</text>\n",
        axes.X(q), kTop, kHeight - kBottom, kHeight - kBottom + 18, q * 100);
  }
  return out;
}

std::string Curve(const server::LoadStep& step, const Axes& axes, size_t i) {
  const char* colour = kColours[i % std::size(kColours)];
  std::string points;
  for (const auto& [quantile, ms] : step.curve)
    points += fmt::format("{:.1f},{:.1f} ", axes.X(quantile), axes.Y(ms));
  const std::string label =
      step.rate > 0 ? fmt::format("{:g}/s", step.rate) : fmt::format("{} in flight", step.concurrency);
  return fmt::format(
      "<polyline points='{}' fill='none' stroke='{}' stroke-width='2'/>\n"
      "<text x='{}' y='{}' fill='{}'>{}: {:.0f}/s</text>\n",
      points, colour, kWidth - kRight + 10, kTop + 16 * (i + 1), colour, label, step.throughput);
}

}  // namespace

std::string LoadPlot(const server::LoadReport& report) {
  const Axes axes = AxesOf(report);
  std::string out = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' font-family='sans-serif' font-size='12'>\n"
      "<style>.g{{stroke:#ddd}} text{{fill:#333}}</style><rect width='{0}' height='{1}' fill='white'/>\n"
      "<text x='{2}' y='24' font-size='15'>{3}, {4}: latency by percentile</text>\n",
      kWidth, kHeight, kLeft, Escaped(report.model), report.protocol);
  out += Grid(axes);
  for (size_t i = 0; i < report.steps.size(); ++i) out += Curve(report.steps[i], axes, i);
  return out + "</svg>\n";
}

}  // namespace tern::tools

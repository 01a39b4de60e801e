// The report of tern quantize as a web page.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tools/page.h"
#include "tools/quantize_report.h"

namespace tern::tools {
namespace {

constexpr double kHistogramWidth = 256, kHistogramHeight = 36;

std::string Number(double v, const char* unit = "") {
  return std::isfinite(v) ? fmt::format("<td class=\"n\">{:.4g}{}</td>", v, unit) : "<td class=\"n\">∞</td>";
}

// Draws the bars of the observed values, and lines where the range of the integers ends.
std::string Histogram(const compress::GridReport& v) {
  std::string svg = fmt::format(
      "<svg viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" role=\"img\" aria-label=\"histogram\">",
      kHistogramWidth, kHistogramHeight, kHistogramWidth, kHistogramHeight);
  const double most = v.bars.empty() ? 1 : std::max(1e-12, *std::max_element(v.bars.begin(), v.bars.end()));
  const double step = kHistogramWidth / static_cast<double>(std::max<size_t>(v.bars.size(), 1));
  for (size_t i = 0; i < v.bars.size(); ++i) {
    const double height = kHistogramHeight * std::sqrt(v.bars[i] / most);
    if (height > 0)
      svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
                         step * static_cast<double>(i), kHistogramHeight - height, step - 0.5, height);
  }
  const double width = v.observed.high - v.observed.low;
  for (const double end : {v.grid.range().low, v.grid.range().high}) {
    const double x = width > 0 ? (end - v.observed.low) / width * kHistogramWidth : 0;
    if (x >= 0 && x <= kHistogramWidth)
      svg += fmt::format("<line x1=\"{:.1f}\" y1=\"0\" x2=\"{:.1f}\" y2=\"{}\"/>", x, x, kHistogramHeight);
  }
  return svg + "</svg>";
}

std::string LayerRows(const compress::StaticReport& r) {
  std::string rows;
  for (size_t i = 0; i < r.layers.size(); ++i) {
    const compress::LayerReport& layer = r.made.layers[i];
    const auto alone = r.alone.find(layer.name);
    rows += fmt::format("<tr><td class=\"name\">{}</td>", HtmlText(layer.name));
    rows += Number(r.layers[i].sqnr()) + Number(r.layers[i].cosine()) + Number(r.layers[i].max_error());
    rows += alone == r.alone.end() ? "<td></td>" : Number(alone->second);
    rows += Number(layer.nearest_error) + Number(layer.error);
    rows +=
        Number(TimeOf(r.costs.before, layer.name)) + Number(TimeOf(r.costs.after, layer.name)) + "</tr>\n";
  }
  return rows;
}

}  // namespace

std::string ReportPage(const QuantizeReport& r) {
  std::string values, floats;
  for (const compress::GridReport& v : r.result.made.grids)
    values += fmt::format("<tr><td class=\"name\">{}</td><td>{}</td>{}{}{}<td class=\"n\">{}</td>{}</tr>\n",
                          HtmlText(v.value), Histogram(v), Number(v.observed.low), Number(v.observed.high),
                          Number(v.grid.scale), v.grid.zero, Number(v.sqnr));
  for (const auto& [name, why] : r.result.made.floats)
    floats += fmt::format("<li>{}: {}</li>\n", HtmlText(name), HtmlText(why));
  return FillPage("quantize.html", {{"title", HtmlText(r.model)},
                                    {"name", HtmlText(r.model.substr(r.model.find_last_of('/') + 1))},
                                    {"summary", HtmlText(ReportText(r, false))},
                                    {"layers", LayerRows(r.result)},
                                    {"floats", floats.empty() ? "<li>none</li>" : floats},
                                    {"values", values}});
}

}  // namespace tern::tools

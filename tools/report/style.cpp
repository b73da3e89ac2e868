#include "tools/report/page.hpp"
#include "tools/spy/figure.hpp"

namespace sptile::tools::report {
namespace {

// One accent color; --other is its muted companion for bars of two parts.
constexpr std::string_view kColours = R"(:root {
  color-scheme: light dark;
  --paper: #fff; --raised: #f5f7f8; --ink: #182026; --soft: #5b6770; --edge: #98a2a9; --rule: #e1e6e9;
  --accent: #0b6b8f; --other: #a9d0de;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --paper: #12171b; --raised: #1a2127; --ink: #e8edf0; --soft: #9caab4; --edge: #64727c; --rule: #2b353c;
    --accent: #56b9dd; --other: #2a5a6d;
  }
}
)";

constexpr std::string_view kText = R"(* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
}
main, footer { max-width: 62rem; margin: 0 auto; padding: 0 1.25rem; }
h1, h2 {
  font-family: Charter, "Iowan Old Style", "Palatino Linotype", Georgia, "Noto Serif", "DejaVu Serif", serif;
  font-weight: 600; line-height: 1.2; margin: 0; text-wrap: balance;
}
h1 { font-size: clamp(1.8rem, 1.3rem + 2.4vw, 2.9rem); letter-spacing: -.015em; }
h2 { font-size: 1.5rem; margin-bottom: .6rem; }
p { margin: 0 0 .8rem; max-width: 42rem; }
.kicker { color: var(--accent); font-weight: 600; font-size: .85rem; margin: 0 0 .5rem; }
.lead { color: var(--soft); font-size: 1.1rem; margin-top: .6rem; }
section { margin-top: 4rem; }
header { padding-top: clamp(2rem, 6vw, 4.5rem); }
footer { margin-top: 4rem; padding-bottom: 3rem; color: var(--soft); font-size: .85rem; }
footer p { border-top: 1px solid var(--rule); padding-top: 1rem; max-width: none; }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: .86em; }
pre {
  background: var(--raised); border-radius: 6px; padding: 1rem 1.15rem; margin: 0; white-space: pre-wrap;
  line-height: 1.75;
}
.facts {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); gap: 1.4rem 1.5rem;
  margin: 2.2rem 0 0;
}
.facts dt { color: var(--soft); font-size: .8rem; }
.facts dd { margin: 0; font-size: 1.35rem; line-height: 1.25; white-space: nowrap; }
.advice { border-left: 4px solid var(--accent); padding: .2rem 0 .2rem 1.4rem; }
.advice h2 { font-size: clamp(1.45rem, 1.2rem + 1.2vw, 2rem); }
.advice em { font-style: normal; color: var(--accent); }
.advice ul { margin: .9rem 0 0; padding-left: 1.1rem; max-width: 42rem; }
.advice li { margin-bottom: .45rem; }
.advice li::marker { color: var(--accent); }
)";

constexpr std::string_view kFigures = R"(figure { margin: 1.2rem 0 0; }
figcaption { color: var(--soft); font-size: .88rem; line-height: 1.5; margin-top: .7rem; max-width: 42rem; }
figcaption b { color: var(--ink); font-weight: 600; display: inline-block; }
figcaption b::first-letter { text-transform: uppercase; }
svg { display: block; width: 100%; height: auto; font-family: inherit; }
.pair { display: grid; gap: 2rem 2.5rem; grid-template-columns: minmax(0, 1fr); }
.pair svg { max-width: 32rem; }
.chart svg { max-width: 34rem; }
@media (min-width: 46rem) {
  .pair { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .two-columns { display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 6fr); gap: 2.5rem;
  align-items: center; }
}
.grid { stroke: var(--rule); stroke-width: 1; }
.bar { fill: var(--accent); }
.line { fill: none; stroke-width: 1.75; stroke-linejoin: round; }
.line.best { stroke: var(--accent); stroke-width: 2.75; }
.line.given { stroke: var(--ink); stroke-dasharray: 5 3; }
.line.other { stroke: var(--edge); }
.dot.best { fill: var(--accent); }
.dot.given { fill: var(--ink); }
.dot.other { fill: var(--edge); }
.name { font-size: 11.5px; fill: var(--soft); }
.name.best { fill: var(--accent); font-weight: 700; }
.name.given { fill: var(--ink); }
)";

constexpr std::string_view kTables =
    R"(table { border-collapse: collapse; width: 100%; font-size: .92rem; margin-top: .6rem; }
caption { text-align: left; color: var(--soft); font-size: .88rem; line-height: 1.5; padding-bottom: .8rem; }
th, td { padding: .5rem 0 .5rem 1rem; text-align: right; vertical-align: top;
  border-bottom: 1px solid var(--rule); }
th { font-weight: 400; }
thead th { color: var(--soft); font-size: .8rem; vertical-align: bottom; line-height: 1.35; }
td { white-space: nowrap; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
tr.chosen th, tr.chosen td { font-weight: 650; }
tr.chosen th:first-child { color: var(--accent); }
tr.chosen small { color: var(--soft); font-weight: 400; }
tr.group th { color: var(--ink); font-weight: 650; padding-top: 1.4rem; }
tr.quiet th, tr.quiet td { color: var(--soft); }
small { display: block; color: var(--soft); font-size: .8rem; line-height: 1.35; }
td.why { white-space: normal; text-align: left; font-size: .85rem; color: var(--soft); }
.track { display: flex; height: .5rem; margin-top: .35rem; position: relative; }
.track i { display: block; height: 100%; background: var(--accent); }
.track i:first-child { border-radius: 2px 0 0 2px; }
.track i:last-of-type { border-radius: 0 2px 2px 0; }
.track i.second, .key i.second { background: var(--other); }
.track i.hollow { background: none; border: 1.5px solid var(--accent); }
.track b { position: absolute; top: -.2rem; bottom: -.2rem; width: 0; border-left: 2px dotted var(--ink); }
.key i { display: inline-block; width: .8rem; height: .55rem; background: var(--accent);
  margin-right: .3rem; }
.key i.hollow { background: none; border: 1.5px solid var(--accent); }
.key i.floor { width: 0; height: .9rem; background: none; border-left: 2px dotted var(--ink);
  vertical-align: -.1rem; }
.key span { white-space: nowrap; margin-right: 1rem; }
.barred th:first-child { width: 46%; }
@media screen and (max-width: 34rem) {
  body { font-size: 15px; }
  .wide { display: none; }
  th, td { padding-left: .6rem; }
  .heights { font-size: .8rem; }
  .heights th, .heights td { padding-left: .3rem; }
  .facts { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .facts dd { font-size: 1.15rem; }
  pre { padding: .8rem; }
}
@media print {
  body { font-size: 10.5pt; }
  main, footer { max-width: none; padding: 0; }
  header { padding-top: 0; }
  section { margin-top: 1.6rem; }
  figure, tr, .advice, pre { break-inside: avoid; }
  h2, caption { break-after: avoid; }
  .pair { grid-template-columns: repeat(2, minmax(0, 1fr)); max-width: 125mm; }
  p { break-inside: avoid; break-after: avoid; }
  .bar, .track i, .key i { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
)";

}  // namespace

std::string style() {
  std::string css;
  for (const std::string_view part : {kColours, kText, kFigures, kTables, spy::kFigureStyle}) css += part;
  return css + "\n";
}

}  // namespace sptile::tools::report

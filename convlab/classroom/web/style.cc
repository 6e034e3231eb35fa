// Contains the stylesheet of the class's web page.

#include "convlab/classroom/web/web_page.h"
#include "convlab/report/embedded.h"

namespace convlab::classroom {
namespace {

constexpr std::string_view kOwnStyle = R"css(
nav.top { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 20px; padding: 14px 0;
          border-bottom: 1px solid var(--line); }
nav.top .class { font-weight: 700; margin-right: auto; overflow-wrap: anywhere; }
nav.top form { display: flex; align-items: center; gap: 10px; margin: 0; min-width: 0; }
nav.top span { color: var(--soft); overflow-wrap: anywhere; min-width: 0; }
h1 { overflow-wrap: anywhere; }
.where { overflow-wrap: anywhere; }

label { display: block; font-weight: 600; margin-bottom: 4px; }
input, select, button { font: inherit; color: inherit; max-width: 100%; }
input[type=text], select { background: var(--card); border: 1px solid var(--line); border-radius: 6px;
                            padding: 8px 10px; width: min(100%, 380px); }
button { background: var(--accent); color: var(--page); border: 1px solid var(--accent); border-radius: 6px;
         padding: 8px 18px; font-weight: 600; cursor: pointer; }
button.quiet { background: none; color: var(--accent); padding: 3px 10px; font-weight: 400; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }

.stages { list-style: none; display: flex; flex-wrap: wrap; gap: 8px; padding: 0; margin: 14px 0 20px; }
.stages li { border: 1px solid var(--line); border-radius: 14px; padding: 3px 14px; background: var(--card); }
.stages .over::before { content: "✓ "; color: var(--good); }
.stages .failed { border-color: var(--bad); }
.stages .failed::before { content: "✗ "; color: var(--bad); }
.stages .now { border-color: var(--accent); box-shadow: 0 0 0 1px var(--accent); }
.stages .now::before { content: "● "; color: var(--accent); }

time { white-space: nowrap; }
.tiles { grid-template-columns: repeat(auto-fit, minmax(104px, 1fr)); }

/* Tables that fit a phone: names break, figures do not. */
.fitted .scroll > table { width: auto; min-width: min(100%, 480px); }
@media (max-width: 600px) { .fitted :is(th, td) { padding: 4px 6px; } }
.fitted .scroll td.who { overflow-wrap: anywhere; white-space: normal; }
.counters { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 320px), 1fr)); gap: 0 16px; }
.counters h3, .counters .where { margin-bottom: 0; overflow-wrap: anywhere; }
.counters dl { grid-template-columns: 1fr auto; gap: 3px 14px; }
.counters dd { margin: 0; text-align: right; }
details { margin: 0 0 10px; }
details pre { max-height: 420px; overflow: auto; }

.history { margin: 12px 0 20px; max-width: 520px; }
.history figcaption { font-weight: 600; margin-bottom: 4px; }
.history svg { display: block; width: 100%; height: auto; }
.history text { font-size: 11px; fill: var(--soft); }
.history line { stroke: var(--line); }
.history line.reference { stroke: var(--soft); stroke-dasharray: 4 3; }
.history .passed { fill: var(--accent); stroke: var(--accent); stroke-width: 1.5; }
.history .failed { fill: none; stroke: var(--bad); stroke-width: 1.8; }
.history rect.reference { fill: color-mix(in srgb, var(--soft) 35%, transparent); }
.history rect.this { fill: color-mix(in srgb, var(--accent) 65%, transparent); }
.history rect.bound { fill: color-mix(in srgb, var(--good) 65%, transparent); }
.history .bounds { fill: none; stroke: var(--ink); stroke-width: 1.5; }
)css";

}  // namespace

std::string style() { return std::string(embedded_file("style.css")) + std::string(kOwnStyle); }

}  // namespace convlab::classroom

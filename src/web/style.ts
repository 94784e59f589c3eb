/** System fonts, light and dark, from 320 pixels upwards. Loads nothing. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --back: #f4f7f7; --card: #ffffff; --line: #dbe4e4; --text: #132022; --muted: #516164;
  --accent: #00686d; --accent-back: #daf0ef; --on-accent: #ffffff; --link: var(--accent);
  --good: #236b25; --good-back: #e2f3df; --busy: #1f5aa8; --busy-back: #e4edfa; --attention: #92400e; --attention-back: #fdeedb;
  --mark: #8f1d5b; --mark-back: #fbe6f1; --code: #f1f5f5; --chart: #17898d; --quiet: #b3c2c3;
  --round: .75rem; --small: .875rem; --tiny: .8125rem; --shadow: 0 1px 2px #0c2a2c14;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #0b1214; --card: #131d1f; --line: #273638; --text: #e3eded; --muted: #97aaac;
    --accent: #58d0cf; --accent-back: #0f3537; --on-accent: #04201f;
    --good: #86d98a; --good-back: #17331b; --busy: #8bbcff; --busy-back: #142c4d; --attention: #f5b667; --attention-back: #3a280e;
    --mark: #ff9dcf; --mark-back: #3d1629; --code: #0d1618; --chart: #3aa7a8; --quiet: #4a5f62; --shadow: none;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; border-top: .1875rem solid var(--accent); }
a { color: var(--link); text-underline-offset: .15em; text-decoration-thickness: .06em; }
a:hover { text-decoration-thickness: .12em; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: .25rem; }
code, pre, .hash, .hex { font-family: var(--mono); font-size: .9em; }
h1, h2, p, dl, dd, ul, pre { margin: 0; }
h1 { font-size: 1.625rem; line-height: 1.25; letter-spacing: -.01em; overflow-wrap: anywhere; text-wrap: balance; }
h2 { font-size: 1.0625rem; line-height: 1.4; margin-bottom: .6rem; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 1rem; top: .5rem; background: var(--card); padding: .4rem .8rem; z-index: 1; }
.top, main, .foot { max-width: 72rem; margin: 0 auto; padding: 0 1rem; }
.top { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem .9rem; padding-top: .75rem; padding-bottom: 1rem; }
.brand { display: inline-flex; align-items: center; gap: .55rem; font-weight: 700; font-size: 1.2rem; letter-spacing: -.01em; color: var(--text); text-decoration: none; white-space: nowrap; }
.logo { flex: none; width: 2rem; height: 2rem; fill: var(--accent); }
.logo path { fill: none; stroke: var(--on-accent); stroke-width: 3.4; stroke-linecap: round; }
.menu { display: contents; }
.menu-button { display: none; }
.sections { display: flex; gap: .15rem; order: 1; }
.sections a { padding: .3rem .7rem; border-radius: .5rem; color: var(--text); text-decoration: none; font-weight: 500; }
.sections a:hover { background: var(--line); }
.sections a[aria-current] { background: var(--accent-back); color: var(--accent); }
.search { display: flex; flex: 1 1 14rem; max-width: 27rem; margin-left: auto; gap: .5rem; min-width: 0; order: 2; }
.search input { flex: 1; min-width: 0; }
.search.large { max-width: 44rem; margin: 0; flex: none; width: 100%; }
.search.large input, .search.large button { font-size: 1.125rem; padding: .75rem 1.1rem; border-radius: var(--round); }
input, button { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .45rem .75rem; }
input { border-color: var(--muted); }
input::placeholder { color: var(--muted); opacity: 1; }
input:placeholder-shown { text-overflow: ellipsis; }
button { cursor: pointer; font-weight: 600; }
button:hover { border-color: var(--muted); }
.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
.primary:hover { border-color: var(--text); }
.button { display: inline-block; border: 1px solid var(--line); border-radius: .5rem; padding: .45rem .75rem; background: var(--card); color: var(--text); text-decoration: none; font-weight: 600; }
.button:hover { border-color: var(--muted); }
.button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
.button.primary:hover { border-color: var(--text); }
.out { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
main { display: grid; gap: 1rem; grid-template-columns: minmax(0, 1fr); padding-bottom: 1.5rem; }
.card, .status, .fact { background: var(--card); border: 1px solid var(--line); border-radius: var(--round); box-shadow: var(--shadow); }
.card { padding: 1rem 1.1rem; min-width: 0; }
.status { padding: 1rem 1.1rem; background: var(--tone-back); border-color: transparent; border-left: .3rem solid var(--tone); }
.status h1, .status h2 { display: flex; align-items: center; gap: .6rem; margin: 0; }
.status h2 { font-size: 1.25rem; }
.status p { margin-top: .25rem; }
.good { --tone: var(--good); --tone-back: var(--good-back); }
.busy { --tone: var(--busy); --tone-back: var(--busy-back); }
.attention { --tone: var(--attention); --tone-back: var(--attention-back); }
.dot { flex: none; width: .7em; height: .7em; border-radius: 50%; background: var(--tone); }
progress { display: block; width: 100%; height: .6rem; margin-top: .9rem; border: 0; border-radius: 1rem; background: var(--card); accent-color: var(--tone); overflow: hidden; appearance: none; }
progress::-webkit-progress-bar { background: var(--card); }
progress::-webkit-progress-value { background: var(--tone); border-radius: 1rem; }
progress::-moz-progress-bar { background: var(--tone); border-radius: 1rem; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .75rem; }
.fact { padding: .75rem 1rem; min-width: 0; }
.fact dt { color: var(--muted); font-size: .85rem; }
.fact b { display: block; font-size: clamp(1.05rem, 4.4vw, 1.35rem); line-height: 1.3; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.fact span { color: var(--muted); font-size: .85rem; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1rem; align-items: start; min-width: 0; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }
th, td { text-align: left; font-weight: inherit; padding: .38rem .5rem; vertical-align: top; border-top: 1px solid var(--line); }
th:first-child, td:first-child { padding-left: 0; }
th:last-child, td:last-child { padding-right: 0; }
thead th { color: var(--muted); font-size: .8rem; border-top: 0; padding-top: 0; white-space: nowrap; }
th.number, td.number { text-align: right; }
td.number, time, .hash { white-space: nowrap; }
@media (width > 44rem) { .number + :not(.number) { padding-left: 1.5rem; } }
abbr, table a, .operations > li > a, .pager a { text-decoration: none; }
table a:hover, .operations a:hover, .pager a:hover { text-decoration: underline; }
.operations { list-style: none; padding: 0; font-size: .95rem; }
.operations li { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .1rem 1rem; padding: .38rem 0; border-top: 1px solid var(--line); }
.operations li:first-child { border-top: 0; padding-top: 0; }
.operations li:last-child { padding-bottom: 0; }
.operations.near li { justify-content: start; }
.operations a { min-width: 0; max-width: 100%; }
.timed li { display: grid; grid-template-columns: minmax(0, 1fr) auto 5.5rem; align-items: baseline; }
.timed li > a { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.operations .when { text-align: right; white-space: nowrap; font-size: var(--small); }
.operations .when a { color: var(--muted); text-decoration: none; }
.what, .muted, .empty { color: var(--muted); }
.what { font-size: .88rem; }
.date { color: var(--muted); font-size: .85em; white-space: nowrap; }
.name, .break, .address { overflow-wrap: anywhere; }
.name { white-space: pre-wrap; unicode-bidi: isolate; }
.mark { color: var(--mark); background: var(--mark-back); border-radius: .25em; padding: 0 .25em; margin: 0 .1em; font: .75em var(--mono); white-space: nowrap; unicode-bidi: isolate; }
.badge { display: inline-block; font-size: .78rem; font-weight: 600; line-height: 1.4; padding: .1em .6em; border-radius: 1rem; color: var(--tone, var(--muted)); background: var(--tone-back, var(--line)); vertical-align: middle; white-space: nowrap; }
main > * { min-width: 0; }
.hero { padding: 1.75rem 0 .25rem; display: grid; gap: .9rem; }
.hero h1 { font-size: clamp(1.5rem, 5vw, 2.125rem); font-weight: 650; }
.state p { display: flex; flex-wrap: wrap; align-items: center; gap: .15rem .55rem; font-size: .95rem; font-variant-numeric: tabular-nums; }
.state span + span::before, .state b + span::before { content: "·"; margin-right: .55rem; color: var(--muted); }
.section-head { display: flex; justify-content: space-between; align-items: baseline; gap: 1rem; }
.section-head a { text-decoration: none; font-size: var(--small); white-space: nowrap; }
.strip { position: relative; list-style: none; padding: .25rem; margin: -.25rem; display: grid; grid-auto-flow: column; grid-auto-columns: max(7.1rem, (100% - 4rem) / 9); gap: .5rem; overflow-x: auto; scroll-snap-type: x proximity; scrollbar-width: thin; }
.strip li { scroll-snap-align: start; scroll-margin-left: .25rem; }
.tile { display: grid; grid-template-columns: minmax(0, 1fr); height: 100%; align-content: start; gap: .05rem; padding: .7rem .75rem .75rem; color: var(--text); text-decoration: none; background: var(--card); border: 1px solid var(--line); border-radius: var(--round); box-shadow: var(--shadow); font-size: var(--tiny); font-variant-numeric: tabular-nums; white-space: nowrap; }
.tile:hover { border-color: var(--accent); }
.tile > b { font-size: 1.125rem; line-height: 1.3; color: var(--link); }
.tile.waiting { background: var(--accent-back); border: 1px dashed var(--accent); }
.tile.waiting .muted { color: var(--text); }
.tile .names-count { font-weight: 650; }
.tile abbr { text-decoration: none; }
.squares { display: block; width: 100%; margin: .5rem 0 .45rem; }
.squares path, .key { fill: none; stroke: var(--quiet); stroke-width: 3; stroke-dasharray: 3 1; }
.squares .of-names { stroke: var(--accent); }
.gauge { display: block; width: 100%; height: .3rem; border-radius: 1rem; margin: .45rem 0 .1rem; fill: var(--line); }
.gauge .used { fill: var(--accent); }
.legend { margin-top: .5rem; color: var(--muted); font-size: var(--tiny); }
.key { display: inline-block; width: .65rem; height: .65rem; margin-right: .45rem; background: var(--accent); }
.facts.plain .fact { border: 0; padding: 0; background: none; box-shadow: none; }
.fact small { font-size: .7em; font-weight: 500; color: var(--muted); white-space: nowrap; }
.facts + p { margin-top: .7rem; }
.columns.uneven { grid-template-columns: minmax(0, 1.55fr) minmax(0, 1fr); }
.side { display: grid; gap: 1rem; min-width: 0; }
.side .record > div { grid-template-columns: 6rem minmax(0, 1fr); }
.side .record { gap: .35rem; font-size: .95rem; }
.lines { list-style: none; padding: 0; font-size: .95rem; }
.lines > li { border-top: 1px solid var(--line); }
.lines > li:first-child { border-top: 0; }
.lines summary { display: grid; grid-template-columns: .6rem minmax(0, 1fr) auto 4.5rem; gap: .5rem; align-items: baseline; padding: .4rem 0; }
.lines summary::-webkit-details-marker { display: none; }
.lines summary::before { content: "›"; color: var(--muted); font-weight: 700; }
.lines [open] > summary::before { transform: rotate(90deg); }
.lines summary .address, .timed .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.lines .number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.lines .record { padding: .2rem 0 .7rem 1.1rem; }
.name-head h1 { margin-top: .1rem; }
.name-head .long { font-size: 1.1rem; text-wrap: wrap; }
.value { background: var(--code); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem; margin-bottom: .5rem; max-height: 32rem; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.45; unicode-bidi: isolate; }
.record { display: grid; gap: .5rem; }
.record > div { display: grid; grid-template-columns: 8rem minmax(0, 1fr); gap: 0 1rem; align-items: baseline; }
.findings, .sees { list-style: none; padding: 0; margin: 0; overflow-wrap: anywhere; }
.findings { margin-bottom: .8rem; }
.findings li { padding: .25rem 0; }
.record.sentences { grid-template-columns: fit-content(16rem) minmax(0, 1fr); column-gap: 1rem; }
.record.sentences > div { grid-template-columns: subgrid; grid-column: 1 / -1; }
.sees li { padding-left: 1.5rem; text-indent: -1.5rem; }
.record dt { color: var(--muted); }
.record dd, .record code { overflow-wrap: anywhere; }
.value-cell { width: 34%; }
.names .value-cell { width: auto; }
.names th { overflow-wrap: anywhere; }
.names tbody th { width: 26%; }
.names .number { width: 1%; }
.break { word-break: break-all; }
.sees .break { word-break: normal; }
.owner-cell { overflow-wrap: anywhere; width: 22%; }
summary { cursor: pointer; }
details .value { margin: .4rem 0 0; max-height: 18rem; }
.note { padding: .6rem 1rem; border-radius: .5rem; color: var(--tone); background: var(--tone-back); }
.top .note { flex-basis: 100%; order: 3; }
.card > h1 + p, .card > p + p { margin-top: .5rem; }
.card > .note { margin-bottom: .6rem; }
.card > table + .muted, .card > nav + .muted, .card > .operations + .muted { margin-top: .7rem; }
.page-head { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: end; gap: .5rem 1.5rem; }
.page-head .pager { margin: 0; font-variant-numeric: tabular-nums; }
.long-hash, .long { overflow-wrap: anywhere; word-break: break-all; }
.long-hash { font-family: var(--mono); font-size: .9em; }
h1 .hash { font-size: .85em; white-space: normal; }
.choices { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; }
.choices ul { display: flex; flex-wrap: wrap; gap: .35rem; list-style: none; padding: 0; margin: 0; }
.choices a { display: block; padding: .3rem .75rem; border: 1px solid var(--line); border-radius: 2rem; background: var(--card); color: var(--text); text-decoration: none; font-size: .92rem; }
.choices a:hover { border-color: var(--muted); }
.choices a[aria-current] { background: var(--accent-back); border-color: var(--accent-back); color: var(--accent); font-weight: 600; }
.filter { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem .75rem; }
.filter input { flex: 0 1 16rem; min-width: 0; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1rem; }
.chart:last-child:nth-child(odd) { grid-column: 1 / -1; }
.headline { color: var(--muted); margin-bottom: .8rem; }
.headline b { color: var(--text); font-size: 1.35rem; font-variant-numeric: tabular-nums; }
.chart svg { display: block; width: 100%; height: 7.5rem; overflow: visible; border-bottom: 1px solid var(--line); }
.chart rect { fill: var(--chart); }
.chart rect.growing { fill: var(--quiet); }
.chart rect:hover { fill: var(--link); }
.peak { color: var(--muted); font-size: var(--tiny); text-align: right; border-bottom: 1px dashed var(--line); font-variant-numeric: tabular-nums; }
.chart .area { fill: var(--accent-back); }
.chart .line { fill: none; stroke: var(--chart); stroke-width: 2; stroke-linejoin: round; vector-effect: non-scaling-stroke; }
.axis { display: flex; justify-content: space-between; gap: 1rem; color: var(--muted); font-size: .8rem; margin: .3rem 0 .6rem; }
.chart details { font-size: .92rem; }
.chart summary { color: var(--muted); }
.chart table { margin-top: .5rem; }
.pager { display: flex; gap: 1rem; justify-content: center; margin-top: .8rem; }
.foot { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: center; color: var(--muted); font-size: .88rem; padding-bottom: 2rem; }
.foot button { font-size: inherit; padding: .25rem .7rem; margin-left: auto; }
.life, .life::-webkit-progress-bar { background: var(--line); }
.life { height: .5rem; margin: .2rem 0 .6rem; }
.standing h2 { font-size: 1.15rem; }
.ways { list-style: none; padding: 0; margin-top: .6rem; display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1.2rem; }
.card > .choices { margin-bottom: .8rem; }
.flows { display: grid; grid-template-columns: minmax(0, auto) minmax(3rem, 1fr) minmax(0, auto); gap: 0 .8rem; }
.flows ul { list-style: none; padding: 0; display: grid; grid-auto-rows: 1fr; min-width: 0; }
.flows li { display: flex; flex-direction: column; justify-content: center; padding: .35rem 0; font-size: .92rem; line-height: 1.65; min-width: 0; }
.flows ul:first-child { text-align: right; }
.flows li b { font-variant-numeric: tabular-nums; }
.flows li a { text-decoration: none; }
.flows li a:hover { text-decoration: underline; }
.flows .name { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; max-width: 20rem; }
.flow { position: relative; min-height: 5rem; }
.flow svg { position: absolute; inset: 0; width: 100%; height: 100%; fill: var(--quiet); }
.flow .flow-name { fill: var(--accent); }
.flow .flow-fee { fill: var(--muted); }
.flows .flow-name b { color: var(--accent); }
.standing dl, .card > p + dl { margin-top: .8rem; }
details + details { margin-top: .8rem; }
details > summary h2 { display: inline; margin: 0; }
details > summary h2 + * { margin-top: .8rem; }
details[open] > summary { margin-bottom: .6rem; }
[hidden] { display: none !important; }
@media (max-width: 44rem) {
  .top { flex-wrap: nowrap; gap: .6rem; padding-top: .6rem; padding-bottom: .6rem; }
  .top:has(.note:not([hidden])) { flex-wrap: wrap; }
  .top:has(.search) .brand span { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .top:has(.search) .badge { display: none; }
  .top .search { flex: 1 1 0; max-width: none; order: 0; }
  .top .search button { display: none; }
  .menu-button { display: block; margin-left: auto; }
  .menu[popover]:not(:popover-open) { display: none; }
  .menu[popover]:popover-open { display: grid; gap: .5rem; position: absolute; inset: 3.75rem 1rem auto auto; min-width: 12rem; max-width: calc(100vw - 2rem); margin: 0; padding: .5rem; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: var(--round); box-shadow: 0 .5rem 2rem #0006; }
  .facts { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: .5rem; }
  .wide { display: none; }
  .lines summary { grid-template-columns: .6rem minmax(0, 1fr) auto 4rem; gap: .35rem; }
  .record > div, .record.sentences > div { grid-template-columns: minmax(0, 1fr); }
  .brief thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .brief, .brief tbody { display: block; }
  .brief tr { display: flex; gap: .75rem; align-items: baseline; border-top: 1px solid var(--line); }
  .brief tbody tr:first-child { border-top: 0; }
  .brief th, .brief td { border: 0; padding: .45rem 0; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
  .brief th, .brief .number, .brief .when { flex: none; }
  .brief td, .names.brief th { flex: 1; }
  .brief .date, .dense .date { display: none; }
  .brief th .hash { display: block; max-width: 4.8rem; overflow: hidden; text-overflow: ellipsis; }
  .brief .does { white-space: normal; overflow-wrap: anywhere; }
  .filter input { flex: 1 1 8rem; }
  .filter label { flex-basis: 100%; }
  .brief .name { white-space: pre; overflow-wrap: normal; }
  .flows { grid-template-columns: minmax(0, 1.4fr) minmax(3rem, 1fr) minmax(0, 1.4fr); gap: 0 .4rem; }
  .flows li { font-size: .82rem; }
  .stack thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .stack, .stack tbody, .stack th, .stack td { display: block; width: auto; }
  .stack tbody th, .stack .broad { grid-column: 1 / -1; }
  .facts .fact:last-child:nth-child(odd) { grid-column: 1 / -1; }
  .hero { padding-top: .75rem; }
  .search.large input, .search.large button { font-size: 1rem; padding: .7rem .85rem; }
  .columns.uneven { grid-template-columns: minmax(0, 1fr); }
  .timed li { grid-template-columns: minmax(0, 1fr) auto; gap: 0 .75rem; }
  .timed .what { grid-column: 1; grid-row: 2; }
  .stack tr { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0 1rem; padding: .6rem 0; border-top: 1px solid var(--line); }
  .stack tr:first-child { border-top: 0; padding-top: 0; }
  .stack th, .stack td { border: 0; padding: .1rem 0; }
  .stack th.number, .stack td.number { text-align: left; }
  .stack tbody th { font-weight: 600; }
  .stack td::before { content: attr(data-label); display: block; color: var(--muted); font-size: .8rem; line-height: 1.3; }
  .stack td[data-label=""]::before { content: none; }
  .stack td.number { white-space: normal; overflow-wrap: anywhere; }
  .sections { display: grid; gap: 0; }
  .sections a { padding: .6rem .75rem; }
}
`

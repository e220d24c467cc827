"""How race.html looks: light and dark, wide and narrow, on paper; in the reader's font, nothing loaded."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --back: #fff; --ink: #1a1a1a; --mute: #555; --grid: #d5d5d5;
  --link: #005a8e; --note: #fff3d6 }
@media (prefers-color-scheme: dark) {
  :root { --back: #14171a; --ink: #f0f0f0; --mute: #b5b5b5; --grid: #3c4248;
    --link: #7cc4f5; --note: #3a2f12 }
}
* { box-sizing: border-box }
html { background: var(--back); color: var(--ink); line-height: 1.5;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif }
body { margin: 0 auto; max-width: 66rem; padding: 1.5rem 1rem 4rem; overflow-wrap: anywhere }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .75rem }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem }
.sentence { font-size: 1.15rem; max-width: 46rem }
.note { border: 2px solid var(--ink); background: var(--note); padding: .5rem .75rem; font-weight: 600 }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1rem; list-style: none; margin: 1rem 0; padding: 0 }
a { color: var(--link) }
a:focus-visible, summary:focus-visible, .scroll:focus-visible {
  outline: 3px solid var(--link); outline-offset: 2px }
table { border-collapse: collapse; width: 100%; font-size: .93rem; overflow-wrap: normal }
th, td { text-align: left; vertical-align: top; padding: .4rem .7rem .4rem 0;
  border-bottom: 1px solid var(--grid) }
thead th { border-bottom: 2px solid var(--ink) }
td { font-variant-numeric: tabular-nums }
li { margin: .2rem 0; max-width: 52rem }
.scroll { overflow-x: auto }
details { margin: .75rem 0 }
summary { cursor: pointer; font-weight: 600 }
figure { margin: 0 }
figure svg { display: block; max-width: 100%; height: auto; border: 1px solid var(--grid) }
.narrow { display: none }
@media (max-width: 48rem) {
  .wide { display: none }
  .narrow { display: block }
  table, tbody, tr, td, tbody th { display: block }
  thead { position: absolute; clip-path: inset(50%); height: 1px; width: 1px; overflow: hidden }
  tr { border-bottom: 2px solid var(--ink); padding: .5rem 0 }
  th, td { border: 0; padding: .1rem 0 }
  td::before { content: attr(data-name); color: var(--mute) }
}
@media print {
  nav { display: none }
  body { max-width: none; padding: 0 }
  tr, figure { break-inside: avoid }
}
"""

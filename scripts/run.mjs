// Runs one of the project's commands: installs the dependencies when they are missing or out of
// date, then continues on the Node.js that npm installed. Runs on Node 20.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { clearInterval, setInterval } from 'node:timers'
import { fileURLToPath } from 'node:url'
import { findNodeRuntime } from './node-runtime.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const FLAGS = ['--conditions=source', '--disable-warning=ExperimentalWarning']
const HELIOGRAPH = [...FLAGS, 'packages/server/src/main.ts']
const BIN = 'packages/server/bin/heliograph.mjs'

const bin = (name) => join('node_modules', name)
const TSC = bin('typescript/bin/tsc')
const PACKAGES = ['ssf', 'receiver', 'embedded-postgres', 'simulator', 'server']
const ESLINT = [
  '--max-old-space-size=4096',
  bin('eslint/bin/eslint.js'),
  '.',
  '--max-warnings=0',
  '--cache',
  '--cache-location',
  'node_modules/.cache/eslint/',
]
const PRETTIER = bin('prettier/bin/prettier.cjs')
const VITEST = [bin('vitest/vitest.mjs')]
const CONSOLE = 'scripts/build-console.mjs'

/**
 * Each command is a list of steps; a step is the arguments of one Node.js process, or lists of steps that go on beside
 * each other.
 */
const COMMANDS = {
  demo: (args) => [[CONSOLE], [...HELIOGRAPH, 'demo', ...args]],
  start: (args) => [[CONSOLE], [...FLAGS, BIN, 'serve', ...args]],
  bench: (args) => [[CONSOLE], [...HELIOGRAPH, 'bench', ...args]],
  test: (args) => [[CONSOLE], [...VITEST, 'run', ...args]],
  check: () => [
    [CONSOLE, '--client'],
    {
      beside: [
        [ESLINT],
        [
          [PRETTIER, '--check', '--log-level', 'warn', '.'],
          [TSC, '-b'],
          ...PACKAGES.map((name) => [TSC, '-p', `packages/${name}`]),
          [TSC, '-p', 'scripts'],
          [TSC, '-p', 'packages/console'],
          [CONSOLE, '--size'],
          [bin('knip/bin/knip.js')],
          ['scripts/graph.mjs'],
          ['--conditions=source', 'scripts/generate.ts', '--check'],
        ],
      ],
    },
  ],
  build: () => [[CONSOLE], [TSC, '-b'], ['scripts/copy-build-assets.mjs']],
  graph: () => [['scripts/graph.mjs']],
  'two-versions': (args) => [
    [
      '--conditions=source',
      '--disable-warning=ExperimentalWarning',
      'scripts/two-versions.ts',
      ...args,
    ],
  ],
  kills: (args) => [
    ['--conditions=source', '--disable-warning=ExperimentalWarning', 'scripts/kills.ts', ...args],
  ],
  model: (args) => [['scripts/check-model.mjs', ...args]],
  generate: () => [['--conditions=source', 'scripts/generate.ts']],
  format: () => [[PRETTIER, '--write', '--log-level', 'warn', '.']],
}

/** How often a command of npm looks whether npm is still there. */
const PARENT_INTERVAL_MS = 250
const parentPid = process.ppid

await main()

async function main() {
  const [command, ...args] = process.argv.slice(2)
  const steps = COMMANDS[command]?.(args)
  if (steps === undefined) {
    console.error(`Unknown command. Commands: ${Object.keys(COMMANDS).join(', ')}`)
    process.exit(2)
  }
  ensureInstalled()
  const node = findNodeRuntime(join(root, 'package.json'))
  process.exit(await runSteps(node, steps))
}

/** The exit code of the first step that fails, else 0. What goes on beside it comes to its end. */
async function runSteps(node, steps) {
  for (const step of steps) {
    const codes =
      step.beside === undefined
        ? [await runStep(node, step)]
        : await Promise.all(step.beside.map((lane) => runSteps(node, lane)))
    const failed = codes.find((code) => code !== 0)
    if (failed !== undefined) return failed
  }
  return 0
}

/** Installs from the lock file unless the installed tree was made from this very lock file. */
function ensureInstalled() {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  const marker = join(root, 'node_modules', '.heliograph-installed')
  if (existsSync(marker) && readFileSync(marker, 'utf8') === lock) return
  console.error('Installing dependencies (first run) ...')
  const npm = process.env.npm_execpath
  const args = [
    'ci',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    '--include=dev',
    '--include=optional',
  ]
  const result =
    npm === undefined
      ? spawnSync('npm', args, {
          cwd: root,
          stdio: ['ignore', 2, 2],
          shell: process.platform === 'win32',
        })
      : spawnSync(process.execPath, [npm, ...args], { cwd: root, stdio: ['ignore', 2, 2] })
  if (result.status !== 0) {
    console.error('Installing the dependencies failed; the messages above say why.')
    process.exit(result.status ?? 1)
  }
  const runtime = findNodeRuntime(join(root, 'package.json'))
  if (runtime !== process.execPath && process.platform !== 'win32') chmodSync(runtime, 0o755)
  writeFileSync(marker, lock)
}

/** Runs one process with our terminal; signals reach it too, and its exit code is returned. */
function runStep(node, args) {
  return new Promise((resolve) => {
    const child = spawn(node, args, { cwd: root, stdio: 'inherit' })
    const forward = (signal) => child.kill(signal)
    const forwardTerm = () => forward('SIGTERM')
    // The terminal sends Ctrl-C to the child as well; this process only has to outlive it.
    const ignoreInterrupt = () => undefined
    process.on('SIGTERM', forwardTerm)
    process.on('SIGINT', ignoreInterrupt)
    const watch = onceParentIsGone(forwardTerm)
    child.on('error', (error) => {
      console.error(error.message)
      clearInterval(watch)
      resolve(1)
    })
    child.on('exit', (code, signal) => {
      process.off('SIGTERM', forwardTerm)
      process.off('SIGINT', ignoreInterrupt)
      clearInterval(watch)
      resolve(code ?? 128 + (constants.signals[signal] ?? 0))
    })
  })
}

/**
 * npm passes SIGTERM to the shell that runs its script, and many shells die of it without a word to this
 * process. What npm has started ends with it; what was started otherwise may outlive its parent.
 */
function onceParentIsGone(act) {
  if (process.env.npm_lifecycle_event === undefined) return undefined
  const watch = setInterval(() => {
    if (process.ppid === parentPid) return
    clearInterval(watch)
    act()
  }, PARENT_INTERVAL_MS)
  return watch
}

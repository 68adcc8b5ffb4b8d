#!/usr/bin/env node
// Starts the command line on a Node.js that can run it: in this process where possible. An installed
// package runs its build. A checkout runs a bundle of its sources, or the sources themselves: for what is not part
// of the bundle, and where none can be made or kept.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const FROM_SOURCES = ['bench', 'demo']
/** The service reads what it needs of the bundle until it ends. */
const LONG_RUNNING = ['serve']
const FLAGS = ['--conditions=source', '--disable-warning=ExperimentalWarning']

const packageFolder = dirname(dirname(fileURLToPath(import.meta.url)))
const scripts = join(packageFolder, '..', '..', 'scripts')

if (existsSync(join(scripts, 'node-runtime.mjs'))) await runCheckout()
else await import(pathToFileURL(join(packageFolder, 'dist', 'main.js')))

async function runCheckout() {
  const { findCommandBundle, keepBundle } = await load('command-bundle.mjs')
  const { findNodeRuntime } = await load('node-runtime.mjs')
  const command = process.argv[2]
  const found = FROM_SOURCES.includes(command) ? undefined : await findCommandBundle()
  const isLongRunning = LONG_RUNNING.includes(command)
  const bundle = found !== undefined && isLongRunning && !keepBundle(found) ? undefined : found
  const node = findNodeRuntime(fileURLToPath(import.meta.url))
  // Every line of a service's standard error is one of its log: Node.js writes no warnings there.
  const hasFlags = !isLongRunning || FLAGS.every((flag) => process.execArgv.includes(flag))
  if (bundle !== undefined && node === process.execPath && hasFlags) {
    await import(pathToFileURL(bundle))
  } else runChild(node, bundle ?? join(packageFolder, 'src', 'main.ts'))
}

function load(name) {
  return import(pathToFileURL(join(scripts, name)))
}

function runChild(node, main) {
  const child = spawn(node, [...FLAGS, main, ...process.argv.slice(2)], { stdio: 'inherit' })
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  process.on('SIGINT', () => undefined)
  child.on('error', (error) => {
    console.error(error.message)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    process.exit(code ?? 128 + (constants.signals[signal] ?? 0))
  })
}

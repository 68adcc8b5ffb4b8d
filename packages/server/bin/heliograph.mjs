#!/usr/bin/env node
// Starts the command line on a Node.js that can run it: in this process where possible. An installed
// package runs its build. A checkout runs a bundle of its sources for commands that are over soon, and
// the sources themselves for those that stay.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const LONG_RUNNING = ['bench', 'demo', 'serve']

const packageFolder = dirname(dirname(fileURLToPath(import.meta.url)))
const scripts = join(packageFolder, '..', '..', 'scripts')

if (existsSync(join(scripts, 'node-runtime.mjs'))) await runCheckout()
else await import(pathToFileURL(join(packageFolder, 'dist', 'main.js')))

async function runCheckout() {
  const { findCommandBundle } = await load('command-bundle.mjs')
  const { findNodeRuntime } = await load('node-runtime.mjs')
  const bundle = LONG_RUNNING.includes(process.argv[2]) ? undefined : await findCommandBundle()
  const node = findNodeRuntime(fileURLToPath(import.meta.url))
  if (bundle !== undefined && node === process.execPath) await import(pathToFileURL(bundle))
  else runChild(node, bundle ?? join(packageFolder, 'src', 'main.ts'))
}

function load(name) {
  return import(pathToFileURL(join(scripts, name)))
}

function runChild(node, main) {
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
  const child = spawn(node, [...flags, main, ...process.argv.slice(2)], { stdio: 'inherit' })
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

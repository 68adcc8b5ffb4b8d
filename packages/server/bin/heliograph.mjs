#!/usr/bin/env node
// Starts the command line on a Node.js that can run it: from a checkout the TypeScript sources, from
// an installed package the build.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const packageFolder = dirname(dirname(fileURLToPath(import.meta.url)))
const runtimeModule = join(packageFolder, '..', '..', 'scripts', 'node-runtime.mjs')
const isCheckout = existsSync(runtimeModule)
const entry = isCheckout
  ? ['--conditions=source', join(packageFolder, 'src', 'main.ts')]
  : [join(packageFolder, 'dist', 'main.js')]
const node = isCheckout
  ? (await import(runtimeModule)).findNodeRuntime(fileURLToPath(import.meta.url))
  : process.execPath

const child = spawn(
  node,
  ['--disable-warning=ExperimentalWarning', ...entry, ...process.argv.slice(2)],
  { stdio: 'inherit' },
)
process.on('SIGTERM', () => child.kill('SIGTERM'))
process.on('SIGINT', () => undefined)
child.on('error', (error) => {
  console.error(error.message)
  process.exit(1)
})
child.on('exit', (code, signal) => {
  process.exit(code ?? 128 + (constants.signals[signal] ?? 0))
})

// Runs the high-availability test on a Node.js that can run the TypeScript sources.
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findNodeRuntime } from '../node-runtime.mjs'

const folder = dirname(fileURLToPath(import.meta.url))
const node = findNodeRuntime(join(folder, '../../package.json'))
const { status } = spawnSync(
  node,
  [
    '--conditions=source',
    '--disable-warning=ExperimentalWarning',
    join(folder, 'main.ts'),
    ...process.argv.slice(2),
  ],
  { stdio: 'inherit' },
)
process.exitCode = status ?? 1

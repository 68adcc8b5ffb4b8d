import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../../../../..')
const SOURCE = join(ROOT, 'packages/server/src/main.ts')

interface CommandBundle {
  readonly findCommandBundle: () => Promise<string | undefined>
}

/**
 * The arguments of Node.js that run the program: a bundle of its sources, which begins with half the CPU
 * time, or the sources where none can be made.
 */
export async function findProgram(): Promise<string[]> {
  const script = join(ROOT, 'scripts/command-bundle.mjs')
  const { findCommandBundle } = (await import(script)) as CommandBundle
  const main = (await findCommandBundle()) ?? SOURCE
  return ['--conditions=source', '--disable-warning=ExperimentalWarning', main]
}

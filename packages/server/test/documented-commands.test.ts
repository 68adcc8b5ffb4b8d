import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { REGISTERED_COMMANDS } from '../src/cli/registry.ts'
import { runCommand } from './support/run-command.ts'

const ROOT = join(import.meta.dirname, '../../..')
const DOCUMENTS = [
  'README.md',
  'SECURITY.md',
  'ARCHITECTURE.md',
  'packages/receiver/README.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]

/** The command lines of a document: in code blocks over several lines too, and in running text. */
function listCommands(document: string): string[] {
  const text = readFileSync(join(ROOT, document), 'utf8').replaceAll('\\\n', ' ')
  return [...text.matchAll(/(?:npx heliograph|npm start --) ([^`\n]+)/g)].map(
    ([line, rest = '']) => (line.startsWith('npm') ? `serve ${rest}` : rest),
  )
}

const commands = DOCUMENTS.flatMap((document) =>
  listCommands(document).map((command) => [document, command] as const),
)

async function helpOf(words: readonly string[]): Promise<{ exitCode: number; text: string }> {
  const { exitCode, printed, told } = await runCommand([...words, '--help'])
  return { exitCode, text: printed + told }
}

const LOADING_MAX_MS = 120_000

// All at once, so that no test waits for what a command loads.
beforeAll(async () => {
  await Promise.all(REGISTERED_COMMANDS.map((command) => command.load()))
}, LOADING_MAX_MS)

it('finds commands in the documents', () => {
  expect(commands.length).toBeGreaterThan(8)
})

it.each(commands)('%s: the command and the flags of "%s" exist', async (_document, command) => {
  const words = command.split(/\s+/).filter((word) => word !== '...')
  const flagsAt = words.findIndex((word) => !/^[a-z][a-z-]*$/.test(word))
  const { text } = await helpOf(flagsAt === -1 ? words : words.slice(0, flagsAt))
  const name = words.slice(0, flagsAt === -1 ? undefined : flagsAt).join(' ')
  expect(text).toContain(`Usage: heliograph ${name}`.trimEnd())
  for (const flag of command.matchAll(/(?<=\s)--[a-z-]+/g)) {
    if (flag[0] !== '--help') expect(text).toMatch(new RegExp(`${flag[0]}\\b`))
  }
})

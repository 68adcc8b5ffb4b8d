import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { findProgram } from './support/program.ts'

const SCRIPT = pathToFileURL(join(import.meta.dirname, '../../../../scripts/command-bundle.mjs'))

let folder: string
let service: ChildProcess | undefined
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heliograph-bundle-'))
})
afterEach(async () => {
  service?.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

const toProgram = (name: string, call: string) => [
  '--input-type=module',
  '--eval',
  `import { ${name} } from ${JSON.stringify(SCRIPT.href)}; ${call}`,
]

const isKept = () =>
  execFileSync(
    process.execPath,
    toProgram('isKept', `console.log(isKept(process.argv[1]))`).concat(folder),
    {
      encoding: 'utf8',
    },
  ).trim()

it('the bundle of a service stays for as long as the service runs, also when it ends without a word', async () => {
  expect(isKept()).toBe('false')
  const keep = `console.log(keepBundle(process.argv[1])); setInterval(() => undefined, 1_000)`
  service = spawn(process.execPath, [...toProgram('keepBundle', keep), join(folder, 'main.cjs')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [printed] = (await once(service.stdout ?? service, 'data')) as [Buffer]
  expect(printed.toString().trim()).toBe('true')
  expect(isKept()).toBe('true')
  const ended = once(service, 'exit')
  service.kill('SIGKILL')
  await ended
  expect(isKept()).toBe('false')
})

it('the threads of a service run what is bundled, and none loads a compiler for its source', async () => {
  const main = (await findProgram()).at(-1) ?? ''
  const bundle = dirname(main)
  const names = await readdir(bundle)
  expect(names).toContain('signing-worker.cjs')
  const texts = await Promise.all(names.map((name) => readFile(join(bundle, name), 'utf8')))
  const threads = texts
    .join('\n')
    .match(/new URL\([^)]*worker[^)]*\)|pathToFileURL\([^)]*worker[^)]*\)/gi)
  expect(threads).toEqual([`pathToFileURL(__dirname + "/signing-worker.cjs")`])
})

it('a command whose reader has read enough ends without a word, as where its output is piped to head', async () => {
  const command = spawn(process.execPath, [...(await findProgram()), '--help'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  service = command
  command.stdout.destroy()
  const errors: Buffer[] = []
  command.stderr.on('data', (chunk: Buffer) => errors.push(chunk))
  const [code] = (await once(command, 'close')) as [number]
  expect({ code, errors: Buffer.concat(errors).toString() }).toEqual({ code: 0, errors: '' })
})

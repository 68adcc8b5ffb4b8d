import { spawn, type ChildProcess } from 'node:child_process'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../console/support/launch-browser.ts'
import { findProgram } from './support/program.ts'

interface RunningDemo {
  readonly child: ChildProcess
  /** Everything written to the standard output so far. */
  readonly stdout: () => string
  readonly stderr: () => string
  readonly exitCode: Promise<number | null>
  /** The folder for temporary files that only this demo uses. */
  readonly temporary: string
}

/** For a step of the sign-in, on a machine that does much else. */
const WAIT_MS = 60_000

/** Those of a test alone. */
const started: RunningDemo[] = []

afterEach(() => end(started.splice(0)))

async function end(demos: readonly RunningDemo[]): Promise<void> {
  for (const { child, exitCode, temporary } of demos) {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
    await exitCode
    await rm(temporary, { recursive: true, force: true })
  }
}

async function startDemo(...args: string[]): Promise<RunningDemo> {
  // Short, because the path of a socket is short; open to others, as the system's own folder is.
  const temporary = await mkdtemp(join(tmpdir(), 'hg-e2e-'))
  await chmod(temporary, 0o711)
  const child = spawn(process.execPath, [...(await findProgram()), 'demo', ...args], {
    env: {
      ...process.env,
      TMPDIR: temporary,
      // The demo must use neither of these.
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
      HELIOGRAPH_DATA_DIR: '/nonexistent',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const exitCode = new Promise<number | null>((resolve) => child.once('close', resolve))
  const demo = { child, stdout: () => stdout, stderr: () => stderr, exitCode, temporary }
  started.push(demo)
  return demo
}

async function waitForOutput(demo: RunningDemo, pattern: RegExp): Promise<RegExpExecArray> {
  for (;;) {
    const match = pattern.exec(demo.stdout())
    if (match !== null) return match
    const hasEnded = await Promise.race([
      demo.exitCode.then(() => true),
      new Promise<false>((resolve) => setTimeout(resolve, 50, false)),
    ])
    if (hasEnded) throw new Error(`the demo ended:\n${demo.stdout()}\n${demo.stderr()}`)
  }
}

/** Processes that name the folder in their arguments; Linux only, elsewhere none are found. */
async function listProcessesIn(folder: string): Promise<string[]> {
  const names = await readdir('/proc').catch(() => [])
  const commands = await Promise.all(
    names
      .filter((name) => /^\d+$/.test(name))
      .map((name) => readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')),
  )
  return commands.filter((command) => command.includes(folder))
}

async function expectNothingLeft({ temporary }: RunningDemo): Promise<void> {
  expect(await listProcessesIn(temporary)).toEqual([])
  expect(await readdir(temporary)).toEqual([])
}

describe('the demo', () => {
  it('verifies events over push and poll, ends by itself and leaves nothing behind', async () => {
    const demo = await startDemo('--seconds', '40', '--devices', '10')
    const [, baseUrl = ''] = await waitForOutput(demo, /^Service +(\S+)$/m)
    const [, key = ''] = await waitForOutput(demo, /^API key +(k2sk_v1_\S+)$/m)
    await waitForOutput(demo, /^Try it:$/m)
    await waitForOutput(demo, /(?:^curl .+\n){3}/m)

    const response = await fetch(`${baseUrl}/ssf_streams`, {
      headers: { authorization: `Bearer ${key}` },
    })
    expect(response.status).toBe(200)
    const { data } = (await response.json()) as { data: { delivery_type: string }[] }
    expect(data.map((stream) => stream.delivery_type).sort()).toEqual(['poll', 'push'])

    expect(await demo.exitCode, demo.stderr()).toBe(0)
    const output = demo.stdout()
    expect(output).toMatch(/ push .+ not-compliant → compliant +\d+ ms +signature verified/)
    expect(output).toMatch(/ poll .+ not-compliant → compliant +\d+ ms +signature verified/)
    expect(output).toMatch(/^Verified over push: [1-9]\d* events/m)
    expect(output).toMatch(/^Verified over poll: [1-9]\d* events/m)
    expect(output).toContain('Bad signatures: 0.')
    await expectNothingLeft(demo)
  })

  it('exits with 1 when it should end by itself and is stopped before an event', async () => {
    const demo = await startDemo('--seconds', '600')
    await waitForOutput(demo, /^Preparing people/m)
    demo.child.kill('SIGTERM')
    expect(await demo.exitCode).toBe(1)
    expect(demo.stderr()).toBe('Not every receiver verified an event.\n')
    await expectNothingLeft(demo)
  })
})

/** Each test ends none that another looks at. */
describe('two demos that start at once', () => {
  let told: RunningDemo
  let counted: RunningDemo

  beforeAll(async () => {
    const both = [startDemo('--devices', '2'), startDemo('--json', '--devices', '5')] as const
    ;[told, counted] = await Promise.all(both)
    // They outlive the first test.
    started.length = 0
  })
  afterAll(() => end([told, counted]))

  it('have ports of their own, and a port that is taken is refused: none takes another service for its own', async () => {
    const [, port = ''] = await waitForOutput(told, /^Service +\S+:(\d+)$/m)
    const [, otherPort] = await waitForOutput(counted, /"base_url":"[^"]+:(\d+)"/)
    expect(otherPort).not.toBe(port)
    const second = await startDemo('--port', port, '--devices', '1')
    expect(await second.exitCode).toBe(1)
    expect(second.stderr()).toBe(`The port ${port} is taken. Choose another with --port.\n`)
    await expectNothingLeft(second)
  })

  it.runIf(process.platform === 'linux')(
    'has a browser blocked at a sign-in, lets it through when the simulated Mac is put right, and shows the claims',
    async () => {
      const [, url = ''] = await waitForOutput(told, /^Sign in +(\S+)/m)
      const browser = await launchBrowser('127.0.0.1')
      try {
        const context = await browser.newContext()
        const ledger = await context.newPage()
        await ledger.goto(url)
        const opening = context.waitForEvent('page')
        await ledger.click('text=Sign in to Ledger')
        const signIn = await opening
        await signIn.waitForSelector('text=I have fixed it', { timeout: WAIT_MS })
        expect(await signIn.textContent('h1')).toContain('as soon as one thing is fixed')
        await ledger.click('[aria-label="Turn FileVault on"]')
        // The page may have noticed it before anybody said so.
        await signIn.click('text=I have fixed it', { timeout: 2_000 }).catch(() => undefined)
        await signIn.waitForSelector('[data-claim]', { timeout: WAIT_MS })
        expect(await signIn.textContent('[data-claim=device_auth_state]')).toBe('Good')
        expect(await signIn.textContent('[data-claim=acr]')).toBe('urn:heliograph:device:live')
        // A switch is turned by the page of the demo alone.
        const foreign = { method: 'POST', headers: { origin: 'http://localhost:1' } }
        expect((await fetch(new URL('/device', url), foreign)).status).toBe(403)
      } finally {
        await browser.close()
      }
    },
  )

  it('ends in order on a signal, with exit code 0 and JSON lines that say what happened', async () => {
    await waitForOutput(counted, /"type":"event"/)
    counted.child.kill('SIGINT')
    expect(await counted.exitCode, counted.stderr()).toBe(0)
    const lines = counted
      .stdout()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string })
    expect(lines[0]?.type).toBe('started')
    expect(lines.at(-1)).toMatchObject({ type: 'summary', bad_signatures: 0 })
    await expectNothingLeft(counted)
  })
})

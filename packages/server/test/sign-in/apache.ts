/*
 * Debian's Apache with `mod_auth_openidc` as an application, on a port of its own, configured as docs/sign-in.md says.
 * Nothing is installed by it: a test that needs it is skipped where it is not.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TrialAccess } from './trial-party.ts'

const PROGRAM = '/usr/sbin/apache2'
const MODULES = '/usr/lib/apache2/modules'
const LOADED = [
  'mpm_event',
  'authn_core',
  'authz_core',
  'authz_user',
  'dir',
  'headers',
  'auth_openidc',
]
const GUIDE = new URL('../../../../docs/sign-in.md', import.meta.url)
/** What the guide says for everybody, and what is put in its place. */
const GUIDE_SERVICE = 'https://trust.example.com'
const GUIDE_SITE = 'https://wiki.example.com'
const GUIDE_CLIENT_ID = 'hga_…'
const GUIDE_SECRET = 'the secret of the application'
const START_MAX_MS = 30_000

/** Whether this machine has it. */
export const HAS_APACHE = existsSync(PROGRAM) && existsSync(join(MODULES, 'mod_auth_openidc.so'))

export interface ApacheOptions {
  readonly port: number
  /** Of the service. */
  readonly baseUrl: string
  readonly access: TrialAccess
  /** Who signs in: what a portal before the site would say. */
  readonly loginHint: string
}

/** Starts it and answers what stops it. Rejects with what it said when it does not start. */
export async function startApache(options: ApacheOptions): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'apache-'))
  const site = join(folder, 'site')
  await mkdir(site)
  await writeFile(join(site, 'index.html'), '<!doctype html><title>Wiki</title><p>Welcome\n')
  // Started as root, it serves as another user.
  await chmod(folder, 0o755)
  const config = join(folder, 'apache.conf')
  await writeFile(config, await toConfig(folder, options))
  const child = spawn(PROGRAM, ['-f', config, '-D', 'FOREGROUND'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => (said += bytes.toString()))
  }
  const ended = once(child, 'exit')
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  for (const endMs = performance.now() + START_MAX_MS; performance.now() < endMs;) {
    const answer = await fetch(`http://127.0.0.1:${options.port}/`, { redirect: 'manual' }).catch(
      () => undefined,
    )
    if (answer !== undefined) return stop
    if (child.exitCode !== null) break
    await sleep(50)
  }
  const log = await readFile(join(folder, 'error.log'), 'utf8').catch(() => '')
  await stop()
  throw new Error(`Apache did not start: ${said}${log}`)
}

async function toConfig(folder: string, options: ApacheOptions): Promise<string> {
  const { port, baseUrl, access, loginHint } = options
  const own = (await readGuide())
    .replaceAll(GUIDE_SERVICE, baseUrl)
    .replaceAll(GUIDE_SITE, `http://localhost:${port}`)
    .replaceAll(GUIDE_CLIENT_ID, access.clientId)
    .replaceAll(GUIDE_SECRET, access.secret)
  const user = process.getuid?.() === 0 ? ['User www-data', 'Group www-data'] : []
  return [
    `ServerRoot "${folder}"`,
    'ServerName localhost',
    `Listen 127.0.0.1:${port}`,
    `PidFile "${folder}/apache.pid"`,
    `ErrorLog "${folder}/error.log"`,
    `DefaultRuntimeDir "${folder}"`,
    ...LOADED.map((name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`),
    ...user,
    `DocumentRoot "${folder}/site"`,
    own,
    `OIDCAuthRequestParams login_hint=${encodeURIComponent(loginHint)}`,
    // What the site is told, for the test to see.
    'Header always set X-Told-Person "%{OIDC_CLAIM_email}e"',
    'Header always set X-Told-State "%{OIDC_CLAIM_device_auth_state}e"',
    'Header always set X-Told-Acr "%{OIDC_CLAIM_acr}e"',
    '',
  ].join('\n')
}

/** The block of the guide. */
async function readGuide(): Promise<string> {
  const block = /```apache\n([\s\S]*?)```/.exec(await readFile(GUIDE, 'utf8'))?.[1]
  if (block === undefined) throw new Error('docs/sign-in.md has no block for Apache')
  return block
}

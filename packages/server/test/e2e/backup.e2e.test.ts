/*
 * A service is backed up while devices report, lost, and restored elsewhere: nothing is told twice with another
 * content, and receivers end with what is so.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  createPollClient,
  createPushHandler,
  createSetVerifier,
  type VerifiedSet,
} from '@heliograph/receiver'
import { toNodeHandler } from '@heliograph/receiver/node'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { waitUntilNoneLeft } from '../support/wait-until-none-left.ts'
import { findProgram } from './support/program.ts'
import { ReportingAgent } from './support/reporting-agent.ts'
import { reservePort } from '../support/reserve-ports.ts'
import { createPreparedFolder } from './support/prepared-folder.ts'
import { ServiceProcess } from './support/service-process.ts'

const AGENTS = 4
const COMPLIANCE_CHANGE =
  'https://schemas.openid.net/secevent/caep/event-type/device-compliance-change'
const SEQUENCE = 'heliograph_sequence'
const TOLD_ANEW = /told anew, because the database/

interface Stream {
  readonly aud: string
  readonly delivery: { readonly endpoint_url: string }
}

/** What a receiver got, and whether anything came again as something else. */
class Inbox {
  readonly sets: VerifiedSet[] = []
  readonly contradictions: string[] = []
  readonly #contentOf = new Map<string, string>()

  take(set: VerifiedSet): void {
    this.sets.push(set)
    this.#note(`jti ${set.jti}`, JSON.stringify(set.claims))
    const sequence = set.claims[SEQUENCE]
    if (typeof sequence === 'number') this.#note(`number ${sequence}`, set.jti)
  }

  statusOf(deviceId: string): string | undefined {
    const last = this.sets.findLast((set) => toDeviceId(set) === deviceId)
    return last === undefined ? undefined : toEvent(last)?.current_status
  }

  hasRestatement(deviceId: string): boolean {
    return this.sets.some(
      (set) => toDeviceId(set) === deviceId && TOLD_ANEW.test(toEvent(set)?.reason_admin?.en ?? ''),
    )
  }

  #note(name: string, content: string): void {
    const known = this.#contentOf.get(name)
    if (known !== undefined && known !== content) this.contradictions.push(name)
    this.#contentOf.set(name, content)
  }
}

describe('a service that is lost and restored from its backup', () => {
  let folder: string
  let port: number
  let service: ServiceProcess
  let receiver: Server
  let key: string
  const pushed = new Inbox()
  const polled = new Inbox()
  const agents: ReportingAgent[] = []

  const backupFolder = () => join(folder, 'backups', 'first')
  const passphraseFile = () => join(folder, 'passphrase')
  const createService = (dataDir: string) =>
    new ServiceProcess({
      dataDir: join(folder, dataDir),
      port,
      environment: {
        HELIOGRAPH_CHECK_INTERVAL_SECONDS: '1',
        HELIOGRAPH_RATE_LIMIT_PER_MINUTE: '1000000',
        HELIOGRAPH_LOG_LEVEL: 'warn',
      },
    })

  beforeAll(async () => {
    folder = await createPreparedFolder('heliograph-backup-')
    await writeFile(passphraseFile(), 'a passphrase of a test\n', { mode: 0o600 })
    port = await reservePort()
    service = createService('data')
    await service.start()
  })

  afterAll(async () => {
    await service.stop()
    receiver.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('has all devices, tells receivers what is so, and repeats nothing as something else', async () => {
    const [createdKey, created] = await Promise.all([
      createKey(service),
      service.command('enrollment-secrets', 'create', '--name', 'e2e'),
      service.command('organisation', 'set', '--compliance-threshold', 'notified'),
    ])
    key = createdKey
    const { secret } = created as { secret: string }
    const push = await startPushReceiver()
    receiver = push.server
    const pushStream = await createStream({
      name: 'push',
      heliograph_sequence: true,
      delivery: { method: 'urn:ietf:rfc:8935', endpoint_url: push.url },
      events_requested: [COMPLIANCE_CHANGE],
    })
    push.audience = pushStream.aud
    const pollStream = await createStream({
      name: 'poll',
      heliograph_sequence: true,
      delivery: { method: 'urn:ietf:rfc:8936' },
      events_requested: [COMPLIANCE_CHANGE],
    })
    const stopPolling = new AbortController()
    const polling = startPolling(pollStream, stopPolling.signal)

    const failing = new Set([await findNotifyingCheckId()])
    for (let index = 0; index < AGENTS; index += 1) {
      agents.push(await enroll(`agent-${index}`, failing, secret))
    }
    // Two are as they were backed up when the service is back, and were otherwise meanwhile.
    const steady = agents.slice(0, 2)
    for (const agent of steady) agent.outcome = 'PASS'
    const stopAgents = new AbortController()
    const reporting = agents.map((agent) => agent.run(stopAgents.signal))
    await waitUntilNoneLeft(() => AGENTS - pushed.sets.length)
    const steadyIds = await Promise.all(steady.map((agent) => findDeviceId(agent.hostIdentifier)))
    const expectSteady = async (status: string) => {
      const others = () => steadyIds.filter((id) => pushed.statusOf(id) !== status).length
      expect(await waitUntilNoneLeft(others)).toBe(0)
    }
    await expectSteady('compliant')

    const written = (await service.command(
      'backup',
      backupFolder(),
      '--passphrase-file',
      passphraseFile(),
    )) as { id: string; has_keys: boolean; rows: number }
    expect(written).toMatchObject({ has_keys: true })
    expect(await readdir(join(folder, 'backups'))).toEqual(['first'])

    // What happens from here on is lost with the service.
    const lateAgent = await enroll('late', failing, secret)
    for (const agent of steady) agent.outcome = 'FAIL'
    const before = pushed.sets.length
    await waitUntilNoneLeft(() => before + AGENTS * 2 - pushed.sets.length)
    await expectSteady('not-compliant')
    const lateId = await findDeviceId('late')
    await Promise.all(agents.map((agent) => agent.pause()))
    await service.kill(true)

    await expectRefusals()
    service = createService('restored')
    await expectBrokenOffRestore()
    const restored = (await service.command(
      'restore',
      backupFolder(),
      '--passphrase-file',
      passphraseFile(),
    )) as { backup_id: string; streams_told_anew: number; numbers_from: string }
    expect(restored).toMatchObject({ backup_id: written.id, streams_told_anew: 2 })

    // Killed before and while receivers are told: they are told all the same.
    await service.start()
    await service.kill(true)
    await service.start()
    for (const agent of steady) agent.outcome = 'PASS'
    for (const agent of agents) agent.release()
    await waitUntilNoneLeft(() => (steadyIds.some((id) => pushed.hasRestatement(id)) ? 0 : 1))
    await service.kill(false)
    await service.start()
    const untold = () =>
      [pushed, polled].flatMap((inbox) => steadyIds.filter((id) => !inbox.hasRestatement(id)))
        .length
    expect(await waitUntilNoneLeft(untold)).toBe(0)
    await expectSteady('compliant')

    // The device that enrolled after the backup is another record now, with a number that nobody has had.
    reporting.push(lateAgent.run(stopAgents.signal))
    await waitUntilNoneLeft(() => 1 - lateAgent.nodeInvalidCount)
    await lateAgent.enroll(secret)
    const newLateId = await waitForDeviceId('late')
    expect(BigInt(newLateId)).toBeGreaterThan(BigInt(restored.numbers_from))
    expect(newLateId).not.toBe(lateId)

    stopAgents.abort()
    await Promise.all(reporting)
    const wrong = async () => {
      const statuses = await listStatuses()
      return [pushed, polled].flatMap((inbox) =>
        // A device that was never compliant is told nothing of.
        statuses.filter(([id, status]) => (inbox.statusOf(id) ?? 'not-compliant') !== status),
      ).length
    }
    expect(await waitUntilNoneLeft(wrong)).toBe(0)
    stopPolling.abort()
    await polling
    expect(pushed.contradictions).toEqual([])
    expect(polled.contradictions).toEqual([])
    expect(agents.map((agent) => agent.nodeInvalidCount)).toEqual(agents.map(() => 0))
    const [audit] = await Promise.all([
      service.command('audit', 'verify'),
      service.command('signing-keys', 'list'),
    ])
    expect(audit).toMatchObject({ is_whole: true })
  })

  it('leaves nothing under its name when a backup is killed', async () => {
    const path = join(folder, 'backups', 'killed')
    const text = await readFile(join(folder, 'restored', 'database.json'), 'utf8')
    const database = new Client((JSON.parse(text) as { connection: object }).connection)
    await database.connect()
    // It does not come to its end: it waits for a table that somebody else has.
    await database.query('begin; lock table device in access exclusive mode')
    const child = spawn(process.execPath, [...(await findProgram()), 'backup', path], {
      env: { PATH: process.env['PATH'], HELIOGRAPH_DATA_DIR: join(folder, 'restored') },
      stdio: 'ignore',
    })
    const exited = once(child, 'exit')
    const unfinished = async () =>
      (await readdir(join(folder, 'backups'))).find((name) => name.startsWith('killed.unfinished'))
    while ((await unfinished()) === undefined && child.exitCode === null) await sleep(1)
    child.kill('SIGKILL')
    await exited
    await database.end()
    expect(await readdir(join(folder, 'backups'))).not.toContain('killed')
    const left = await unfinished()
    await expect(
      service.command('restore', join(folder, 'backups', left ?? ''), '--rehearse'),
    ).rejects.toThrow('This backup cannot be used')
  })

  it('is backed up and restored for trial when it does not run', async () => {
    await service.stop()
    const path = join(folder, 'backups', 'second')
    expect(await service.command('backup', path, '--rehearse')).toMatchObject({ rehearsed: true })
  })

  async function expectRefusals(): Promise<void> {
    const wrong = join(folder, 'wrong')
    await writeFile(wrong, 'another passphrase\n')
    await Promise.all([
      expect(
        createService('refused').command('restore', backupFolder(), '--passphrase-file', wrong),
      ).rejects.toThrow('The passphrase is not that of this backup'),
      expect(
        service.command('restore', backupFolder(), '--passphrase-file', passphraseFile()),
      ).rejects.toThrow('has a database, which is not overwritten'),
    ])
    expect((await readdir(folder)).includes('refused')).toBe(false)
  }

  /** A restore that is killed leaves a folder that nothing works with until it is restored again. */
  async function expectBrokenOffRestore(): Promise<void> {
    const restoring = spawn(
      process.execPath,
      [...(await findProgram()), 'restore', backupFolder(), '--passphrase-file', passphraseFile()],
      {
        env: { PATH: process.env['PATH'], HELIOGRAPH_DATA_DIR: join(folder, 'restored') },
        stdio: 'ignore',
      },
    )
    const exited = once(restoring, 'exit')
    const home = join(folder, 'restored', 'postgres')
    const hasBegun = async () =>
      (await readdir(home).catch((): string[] => [])).includes('restoring')
    while (!(await hasBegun()) && restoring.exitCode === null) await sleep(5)
    restoring.kill('SIGKILL')
    await exited
    await expect(service.command('keys', 'list')).rejects.toThrow('was being restored')
  }

  async function enroll(
    name: string,
    failing: ReadonlySet<string>,
    secret: string,
  ): Promise<ReportingAgent> {
    const agent = new ReportingAgent(service.baseUrl, name, failing)
    await agent.enroll(secret)
    return agent
  }

  async function get<Body>(path: string): Promise<Body> {
    const headers = { authorization: `Bearer ${key}` }
    const response = await fetch(`${service.baseUrl}${path}`, { headers })
    expect(response.status).toBe(200)
    return (await response.json()) as Body
  }

  async function listDevices() {
    const { data } = await get<{ data: { id: string; name: string; auth_state: string }[] }>(
      '/devices?per_page=100',
    )
    return data
  }

  const findId = async (name: string) =>
    (await listDevices()).find((device) => device.name === name)?.id

  async function findDeviceId(name: string): Promise<string> {
    const id = await findId(name)
    if (id === undefined) throw new Error(`there is no device ${name}`)
    return id
  }

  async function waitForDeviceId(name: string): Promise<string> {
    await waitUntilNoneLeft(async () => ((await findId(name)) === undefined ? 1 : 0))
    return findDeviceId(name)
  }

  async function listStatuses(): Promise<[string, string][]> {
    const devices = await listDevices()
    return devices.map(({ id, auth_state: state }) => [
      id,
      state === 'Good' ? 'compliant' : 'not-compliant',
    ])
  }

  async function createStream(body: object): Promise<Stream> {
    const response = await fetch(`${service.baseUrl}/ssf_streams`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect(response.status).toBe(201)
    return (await response.json()) as Stream
  }

  /** A check for Linux whose failure makes a device Notified. */
  async function findNotifyingCheckId(): Promise<string> {
    const { data } = await get<{ data: { id: string }[] }>('/checks?query=slug:firewall')
    const id = data[0]?.id
    if (id === undefined) throw new Error('there is no firewall check')
    return id
  }

  function startPolling(stream: Stream, signal: AbortSignal): Promise<void> {
    return createPollClient({
      endpointUrl: stream.delivery.endpoint_url,
      authorization: `Bearer ${key}`,
      verifier: createSetVerifier({
        issuer: service.baseUrl,
        audience: stream.aud,
        keys: { jwksUri: `${service.baseUrl}/ssf/jwks.json` },
      }),
      onEvent: (set) => polled.take(set),
      returnImmediately: true,
      idlePauseMs: 100,
      backOffMs: 100,
      backOffMaxMs: 500,
    }).start(signal)
  }

  async function startPushReceiver() {
    const state = { audience: '', url: '', server: createServer() }
    state.server.on(
      'request',
      toNodeHandler(async (request) =>
        createPushHandler({
          verifier: createSetVerifier({
            issuer: service.baseUrl,
            audience: state.audience,
            keys: { jwksUri: `${service.baseUrl}/ssf/jwks.json` },
          }),
          onEvent: (set) => pushed.take(set),
        })(request),
      ),
    )
    await new Promise<void>((resolve) => state.server.listen(0, '127.0.0.1', resolve))
    const address = state.server.address()
    state.url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/events`
    return state
  }
})

async function createKey(service: ServiceProcess): Promise<string> {
  const admin = ['--email', 'admin@example.com', '--first-name', 'Ada', '--last-name', 'Admin']
  await service.command('admins', 'create', ...admin)
  const permission = 'Manage Shared Signals Framework Streams=backup test'
  const responsible = ['--responsible', 'admin@example.com', '--permission', permission]
  const created = await service.command('keys', 'create', '--name', 'e2e', ...responsible)
  return (created as { key: string }).key
}

interface ComplianceEvent {
  readonly current_status?: string
  readonly reason_admin?: { readonly en?: string }
}

function toEvent(set: VerifiedSet): ComplianceEvent | undefined {
  const events = set.claims['events'] as Record<string, ComplianceEvent>
  return events[COMPLIANCE_CHANGE]
}

function toDeviceId(set: VerifiedSet): string | undefined {
  const subject = set.claims['sub_id'] as { device?: { sub?: string } } | undefined
  return subject?.device?.sub
}

/*
 * Signing in as it happens: the whole service with its ports and jobs, simulated computers with agents, a browser that
 * runs on one of them, and an application. Owns no expectation.
 */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createFleet,
  listLocalConnections,
  type OsqueryNode,
  type SimulatedDevice,
} from '@heliograph/simulator'
import type { Browser } from 'playwright-core'
import { vi } from 'vitest'
import { loadConfig } from '../../src/app/config/load-config.ts'
import { openFoundation, type ServiceFoundation } from '../../src/app/foundation.ts'
import { startService } from '../../src/app/service.ts'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import { findOrCreatePerson } from '../../src/people/people/find-or-create-person.ts'
import { CleanupStack } from '../../src/platform/cleanup-stack.ts'
import { reservePorts } from '../support/reserve-ports.ts'
import { SILENT_LOGGER } from '../../src/platform/silent-logger.ts'
import { findCheckBySlug } from '../../src/posture/checks/catalogue-store.ts'
import { configureCheck } from '../../src/posture/checks/configuration/configure-check.ts'
import { createEnrollmentSecret } from '../../src/posture/enrollment/secrets/create-enrollment-secret.ts'
import { createApplication } from '../../src/sign-in/applications/change-application.ts'
import {
  createApplicationBody,
  toApplicationValues,
} from '../../src/sign-in/applications/application-input.ts'
import { launchBrowser } from '../console/support/launch-browser.ts'
import { createKeyAdmin } from '../support/api-keys.ts'
import { createTestDatabase } from '../support/database.ts'
import { toUrl } from '../support/to-url.ts'
import { startTrialParty, type TrialAccess, type TrialParty } from './trial-party.ts'

const COMPUTERS_MAX = 12
const PROBE_PORTS = 24

/** Somebody of the organisation. */
export interface Somebody {
  readonly id: string
  readonly email: string
}

/** A computer with its agent, known to the service. */
export interface Computer {
  readonly id: string
  readonly name: string
  readonly simulated: SimulatedDevice
  readonly agent: OsqueryNode
}

/** A part of the body that creates an application. */
export interface ApplicationWords {
  readonly name: string
  readonly redirect_uris: readonly string[]
  readonly backchannel_logout_uri?: string
}

export interface SignInWorld {
  readonly services: ServiceFoundation
  readonly baseUrl: string
  readonly browser: Browser
  readonly party: TrialParty
  readonly addPerson: (name: string) => Promise<Somebody>
  /** Starts the agent of a computer, of somebody or of nobody, and waits until every check was answered. */
  readonly addComputer: (owner: Somebody | undefined, bad?: readonly string[]) => Promise<Computer>
  /** Makes an application of these values, in the words of the API, known to the service. */
  readonly register: (values: ApplicationWords) => Promise<TrialAccess>
  /** From now on the browser runs on this computer, or on none. */
  readonly sitAt: (computer: Computer | undefined) => void
  readonly close: () => Promise<void>
}

/** What the checks do that these tests fail; all others are left as they are. */
const CONSEQUENCES = {
  firewall: { remediation_strategy: 'block_immediately', block_auth_grace_period_days: 0 },
  'automatic-updates': { remediation_strategy: 'warn_then_block', block_auth_grace_period_days: 5 },
} as const

/** Starts everything. Close it in `afterAll`. */
export async function openSignInWorld(): Promise<SignInWorld> {
  const cleanup = new CleanupStack()
  const database = await createTestDatabase({ poolMax: 1 })
  cleanup.add(() => database.close())
  const dataDir = await mkdtemp(join(tmpdir(), 'sign-in-'))
  cleanup.add(() => rm(dataDir, { recursive: true, force: true }))
  // All in one range: the port of the service is none of those that it leases.
  const { first: port, last } = await reservePorts(1 + PROBE_PORTS)
  const baseUrl = `http://localhost:${port}`
  const config = loadConfig({
    DATABASE_URL: toUrl(database.connection),
    HELIOGRAPH_REPORTING_DATABASE_URL: toUrl(database.reporting.connection),
    HELIOGRAPH_BASE_URL: baseUrl,
    HELIOGRAPH_PORT: String(port),
    HELIOGRAPH_DATA_DIR: dataDir,
    HELIOGRAPH_MASTER_KEY: randomBytes(32).toString('base64'),
    HELIOGRAPH_PROBE_PORTS: `${port + 1}-${last}`,
    HELIOGRAPH_ALLOWED_TARGETS: '127.0.0.1',
    HELIOGRAPH_ADMIN_PORT: '0',
  })
  const service = await startService(config, SILENT_LOGGER)
  cleanup.add(() => service.stop())
  const services = await openFoundation(config, { purpose: 'command' })
  cleanup.add(() => services.close())
  await createKeyAdmin(services.runChange)
  await setConsequences(services)
  const register = (values: ApplicationWords) => registerApplication(services, values)
  const party = await startTrialParty(`${baseUrl}/sign-in`, (redirectUri) =>
    register({ name: 'Wiki', redirect_uris: [redirectUri] }),
  )
  cleanup.add(() => party.close())
  const browser = await launchBrowser()
  cleanup.add(() => browser.close())
  const { addComputer, sitAt, stop } = createComputers(services, `http://127.0.0.1:${port}`)
  cleanup.add(stop)
  return {
    ...{ services, baseUrl, browser, party, register, addComputer, sitAt },
    addPerson: async (name) => {
      const email = `${name.toLowerCase()}@example.com`
      const { id } = await services.runChange({ actor: SYSTEM_ACTOR }, (change) =>
        findOrCreatePerson(change, { email, name }),
      )
      return { id, email }
    },
    close: () => cleanup.run(),
  }
}

async function setConsequences({ runChange }: ServiceFoundation): Promise<void> {
  await runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    for (const [slug, consequence] of Object.entries(CONSEQUENCES)) {
      const check = await findCheckBySlug(change.tx, slug)
      if (check === undefined) throw new Error(`there is no check ${slug}`)
      await configureCheck(change, check.id, consequence)
    }
  })
}

async function registerApplication(
  { runChange, sealer }: ServiceFoundation,
  words: ApplicationWords,
): Promise<TrialAccess> {
  const values = createApplicationBody.parse(words)
  const { application, secret } = await runChange({ actor: SYSTEM_ACTOR }, async (change) =>
    createApplication(change, toApplicationValues(values), {
      sealer,
      findTargetProblem: () => undefined,
    }),
  )
  return { clientId: application.clientId, secret: secret ?? '' }
}

function createComputers({ db, runChange, sealer }: ServiceFoundation, baseUrl: string) {
  const secrets = new Map<string, string>()
  const fleet = createFleet({
    baseUrl,
    enrollSecret: (device) => secrets.get(device?.hostIdentifier ?? '') ?? '',
    count: COMPUTERS_MAX,
    mix: { darwin: 1 },
    seed: 13,
  })
  const unused = [...fleet.members]
  let satAt: Computer | undefined

  const addComputer: SignInWorld['addComputer'] = async (owner, bad = []) => {
    const { node: agent, device: simulated } = unused.shift() ?? {}
    if (agent === undefined || simulated === undefined) throw new Error('no computer is left')
    for (const knob of bad) simulated.setPosture(knob, 'bad')
    const { secret } = await runChange({ actor: SYSTEM_ACTOR }, (change) =>
      createEnrollmentSecret(change, sealer, {
        name: `of ${simulated.hostIdentifier}`,
        personId: owner?.id ?? null,
        expiresAt: null,
      }),
    )
    secrets.set(simulated.hostIdentifier, secret)
    agent.start()
    const { id, name } = await vi.waitUntil(async () => findAnswered(db, simulated.serial))
    return { id, name, simulated, agent }
  }
  return {
    addComputer,
    sitAt: (computer: Computer | undefined) => {
      satAt?.simulated.showBrowser(undefined)
      computer?.simulated.showBrowser(() => listLocalConnections())
      satAt = computer
    },
    stop: () => fleet.stop(),
  }
}

/**
 * The device with this serial number once none of its checks waits for a first answer, and it is written from where it
 * was last in contact: by that a device of nobody is found at a sign-in.
 */
async function findAnswered(db: ServiceFoundation['db'], serial: string) {
  return db
    .selectFrom('device as d')
    .innerJoin('device_contact as c', 'c.device_id', 'd.id')
    .select(['d.id', 'd.name'])
    .where('d.serial', '=', serial)
    .where('c.ip_address', 'is not', null)
    .where((is) =>
      is.exists(
        is.selectFrom('check_result as r').select('r.id').whereRef('r.device_id', '=', 'd.id'),
      ),
    )
    .where((is) =>
      is.not(
        is.exists(
          is
            .selectFrom('check_result as r')
            .select('r.id')
            .whereRef('r.device_id', '=', 'd.id')
            .where('r.status', 'in', ['unknown', 'pending']),
        ),
      ),
    )
    .executeTakeFirst()
}

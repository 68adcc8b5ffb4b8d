/*
 * Every operation of the API, asked for by an admin of each access level and with each restriction: what is
 * let through is what `contract/admin-access.ts` says, and nothing else.
 */
import { createSecretKey } from 'node:crypto'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkPermission } from '../src/platform/http/access.ts'
import { methodsOf, toDocumentPath, type Operation } from '../src/platform/http/operation.ts'
import {
  permissionsOf,
  RESTRICTION_NAMES,
  RESTRICTIONS,
  type LevelOfAccess,
  type Restriction,
} from '../src/schema/access-levels.ts'
import { PERMISSIONS } from '../src/schema/permissions.ts'
import type { Principal } from '../src/schema/principal.ts'
import { registerApi } from '../src/surfaces/rest/register-api.ts'
import { ADMIN_ACCESS, decisionOn } from './contract/admin-access.ts'
import { BASE_URL } from './support/api-app.ts'
import { composeTestApi, createServiceApi, type ServiceApi } from './support/composed-api.ts'
import { insertAuthLogSession, insertDevice } from './support/factories.ts'
import { createConsoleSession } from './support/console-session.ts'
import { SILENT_LOGGER } from '../src/platform/silent-logger.ts'

/** What the table says of an operation. */
interface Decision {
  readonly least: 'everybody' | 'billing' | 'limited' | 'full'
  readonly unless: string | undefined
  readonly asksForStepUp: boolean
}

const DECISION =
  /^(?<least>everybody|billing|limited|full)(?: unless (?<unless>\w+))?(?<stepUp>, step-up)?$/

function readDecision(name: string): Decision {
  const { least, unless, stepUp } = DECISION.exec(decisionOn(name) ?? '')?.groups ?? {}
  if (least === undefined) throw new Error(`no decision on ${name}: add it to admin-access.ts`)
  return { least: least as Decision['least'], unless, asksForStepUp: stepUp !== undefined }
}

function isOpen({ least, unless }: Decision, { accessLevel, restrictions }: LevelOfAccess) {
  if (accessLevel === 'full' || least === 'everybody' || least === 'billing') return true
  return accessLevel === 'limited' && least === 'limited' && !restrictions.includes(unless ?? '')
}

const LEVELS: readonly LevelOfAccess[] = [
  { accessLevel: 'full', restrictions: [] },
  { accessLevel: 'full', restrictions: ['devices'] },
  { accessLevel: 'limited', restrictions: [] },
  { accessLevel: 'limited', restrictions: [...RESTRICTION_NAMES] },
  { accessLevel: 'billing', restrictions: [] },
  ...RESTRICTION_NAMES.map((name): LevelOfAccess => ({
    accessLevel: 'limited',
    restrictions: [name],
  })),
]

let routes: readonly Operation[]
let closeService: () => Promise<void>

beforeAll(async () => {
  const composed = await composeTestApi({ log: SILENT_LOGGER })
  routes = composed.routes
  closeService = composed.close
})
afterAll(() => closeService())

const namesOf = (route: Operation) =>
  methodsOf(route).map((method) => `${method} ${toDocumentPath(route.path)}`)

/** The whole API with its checks, in which nothing is carried out, for an admin. */
function createApp(level: LevelOfAccess, isSteppedUp: boolean): FastifyInstance {
  const principal: Principal = {
    kind: 'admin',
    id: '1',
    name: 'Ada Lovelace',
    permissions: permissionsOf(level),
    session: {
      id: '1',
      email: 'ada@example.com',
      steppedUpAt: isSteppedUp ? new Date() : null,
      ...level,
    },
  }
  const app = Fastify()
  registerApi(app, {
    routes: routes.map((route) => ({
      ...route,
      credentials: [],
      run: async () => Promise.resolve({ status: 204 }),
    })),
    callers: {
      credentials: [{ kind: 'session', find: async () => Promise.resolve(principal) }],
      rateLimiter: {
        take: async (_bucket, limit) =>
          Promise.resolve({
            ...{ isAllowed: true, limit, remaining: 1, resetEpochSeconds: 0, resetSeconds: 60 },
          }),
      },
      limits: { requestsPerMinute: 1, failedAuthenticationsPerMinute: 1 },
    },
    checkPermission,
    isFeatureEnabled: async () => Promise.resolve(true),
    answerOnce: async () => Promise.reject(new Error('not called')),
    paging: { baseUrl: BASE_URL, cursorKey: createSecretKey(Buffer.alloc(32)) },
  })
  return app
}

/** What each operation answers an admin: its code where it is refused, else its status. */
async function askForEverything(level: LevelOfAccess, isSteppedUp = true) {
  const app = createApp(level, isSteppedUp)
  const answers: Record<string, string | number> = {}
  for (const name of routes.flatMap(namesOf)) {
    const [method, path = ''] = name.split(' ')
    const answer = await app.inject({
      method: method as 'GET',
      url: path.replaceAll(/\{\w+\}/g, '1'),
    })
    answers[name] = answer.statusCode === 403 ? answer.json<{ code: string }>().code : 204
    if (answer.statusCode !== 403) expect([name, answer.statusCode]).toEqual([name, 204])
  }
  await app.close()
  return answers
}

it('has a decision on every operation, and on no other', () => {
  const names = routes.flatMap(namesOf)
  expect(names.filter((name) => decisionOn(name) === undefined)).toEqual([])
  expect(Object.keys(ADMIN_ACCESS).filter((name) => !names.includes(name))).toEqual([])
})

it.each(LEVELS)('$accessLevel access with $restrictions opens what is decided', async (level) => {
  const decided = Object.fromEntries(
    routes
      .flatMap(namesOf)
      .map((name) => [name, isOpen(readDecision(name), level) ? 204 : 'permission_missing']),
  )
  expect(await askForEverything(level)).toEqual(decided)
})

it('asks a session for a step-up where that is decided, whatever else it opens', async () => {
  const decided = Object.fromEntries(
    routes
      .flatMap(namesOf)
      .map((name) => [name, readDecision(name).asksForStepUp ? 'step_up_required' : 204]),
  )
  expect(await askForEverything({ accessLevel: 'full', restrictions: [] }, false)).toEqual(decided)
})

describe('the table of levels', () => {
  it('opens nothing to a restriction that it does not know', async () => {
    const answers = await askForEverything({ accessLevel: 'limited', restrictions: ['unheard'] })
    const open = Object.keys(answers).filter((name) => answers[name] === 204)
    expect(open.filter((name) => readDecision(name).least === 'limited')).toEqual([])
  })

  it('lets every permission be taken away, or keeps it to Full Access', () => {
    const limited = permissionsOf({ accessLevel: 'limited', restrictions: [] })
    const taken = new Set<string>(
      Object.values(RESTRICTIONS).flatMap(({ permissions }): readonly string[] => permissions),
    )
    expect(PERMISSIONS.filter((name) => limited.has(name) && !taken.has(name))).toEqual([])
  })
})

describe('a real session', () => {
  let api: ServiceApi
  beforeAll(async () => {
    api = await createServiceApi()
  })
  afterAll(() => api.close())

  const ask = async (url: string, headers: Readonly<Record<string, string>>, method = 'GET') =>
    api.request<{ code?: string }>(url, { key: null, headers, method: method as 'GET' })

  it('goes by the level of its admin at the time of the request', async () => {
    const { headers, adminId } = await createConsoleSession(api.db, { access: 'limited' })
    expect((await ask('/devices', headers)).status).toBe(200)
    expect((await ask('/audit_logs', headers)).body.code).toBe('permission_missing')
    const set = async (values: object) =>
      api.db.updateTable('admin_user').set(values).where('id', '=', adminId).execute()
    await set({ restrictions: ['sign_ins'] satisfies Restriction[] })
    expect((await ask('/auth_logs', headers)).status).toBe(403)
    expect((await ask('/devices', headers)).status).toBe(200)
    await set({ access: 'billing_only' })
    expect((await ask('/devices', headers)).status).toBe(403)
    expect((await ask('/organisation', headers)).status).toBe(200)
    expect((await ask('/console/session', headers)).status).toBe(200)
    await set({ access: 'full' })
    expect((await ask('/audit_logs', headers)).status).toBe(200)
  })

  it('shows no sign-ins in the timeline of a device to an admin who may not see them', async () => {
    const deviceId = await insertDevice(api.db, { name: 'laptop' })
    await insertAuthLogSession(api.db, { device_id: deviceId })
    const kindsSeenBy = async (restrictions: readonly string[]) => {
      const { headers } = await createConsoleSession(api.db, { access: 'limited', restrictions })
      const { body } = await api.request<{ data: { kind: string }[] }>(
        `/devices/${deviceId}/timeline`,
        { key: null, headers },
      )
      return body.data.map(({ kind }) => kind)
    }
    expect(await kindsSeenBy([])).toContain('sign_in')
    expect(await kindsSeenBy(['devices'])).toContain('sign_in')
    expect(await kindsSeenBy(['sign_ins'])).not.toContain('sign_in')
  })

  it('asks for a step-up that a key is not asked for', async () => {
    const { headers } = await createConsoleSession(api.db, { isSteppedUp: false })
    const refused = await ask('/device_groups/999999999', headers, 'DELETE')
    expect(refused.body.code).toBe('not_found')
    expect((await ask('/webhooks/1/secret', headers)).body.code).toBe('step_up_required')
    const key = await api.createKey(['Manage Webhooks'])
    expect((await api.request('/webhooks/1/secret', { key })).status).toBe(404)
  })

  it('shows what is worth stealing to no page of another site, whichever method asks for it', async () => {
    const { headers } = await createConsoleSession(api.db)
    const { cookie = '' } = headers
    const navigation = { cookie, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
    expect((await ask('/devices', navigation)).status).toBe(200)
    for (const url of ['/webhooks/1/secret', '/packages/1/download']) {
      for (const sent of [navigation, { cookie }, { cookie, 'sec-fetch-site': 'same-origin' }]) {
        expect((await ask(url, sent)).body.code).toBe('cross_site_request')
      }
    }
    expect((await ask('/webhooks/1/secret', headers)).body.code).toBe('not_found')
  })

  it('that is not stepped up learns nothing of records by what it is refused', async () => {
    const { headers } = await createConsoleSession(api.db, { isSteppedUp: false })
    const url = '/webhooks/999999999/secret'
    expect((await ask(url, headers)).body.code).toBe('step_up_required')
  })
})

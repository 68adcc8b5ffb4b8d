import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BASE_URL } from '../../../test/support/api-app.ts'
import { createServiceApi, type ServiceApi } from '../../../test/support/composed-api.ts'
import { insertPerson } from '../../../test/support/factories.ts'
import { insertApplication } from '../../../test/support/sign-in-fixtures.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { SILENT_LOGGER } from '../../platform/silent-logger.ts'
import { newUuid } from '../../platform/ids.ts'
import { createSignInKeys } from '../provider/sign-in-keys.ts'
import { createGuardedClient } from '../../platform/net/guarded-client.ts'
import { parseAllowedTargets } from '../../platform/net/target-policy.ts'
import { endSession } from './end-sessions.ts'
import { sendLogouts } from './send-logouts.ts'

let api: ServiceApi
let status = 200
const received: string[] = []
const server = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk: Buffer) => (body += chunk.toString()))
  request.on('end', () => {
    received.push(new URLSearchParams(body).get('logout_token') ?? '')
    response.writeHead(status).end()
  })
})

beforeAll(async () => {
  api = await createServiceApi()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(async () => {
  server.close()
  await api.close()
})

async function endGranted() {
  const { port } = server.address() as AddressInfo
  const applicationId = await insertApplication(api.db, {
    client_id: 'the wiki',
    backchannel_logout_uri: `http://127.0.0.1:${port}/logout`,
  })
  const personId = await insertPerson(api.db)
  const now = api.clock.now()
  const id = newUuid()
  const sid = newUuid()
  await api.db
    .insertInto('sign_in_granted_session')
    .values({
      ...{ id, sid, application_id: applicationId, person_id: personId, assurance: 'live' },
      granted_at: now,
      expires_at: new Date(now.getTime() + 3_600_000),
    })
    .execute()
  await api.runChange({ actor: SYSTEM_ACTOR }, (change) => endSession(change, id, 'admin'))
  return { id, sid, personId }
}

it('tells the application of the end, again until it takes it', async () => {
  const targets = parseAllowedTargets('127.0.0.1')
  if (!targets.ok) throw new Error(targets.reason)
  const client = createGuardedClient({ policy: targets.policy, userAgent: 'test' })
  const outbound = { client }
  const { db, clock, runChange, sealer } = api
  const keys = createSignInKeys({ db, clock, runChange, sealer })
  const dependencies = { db, clock, log: SILENT_LOGGER, baseUrl: BASE_URL, keys, outbound }
  try {
    const { id, sid, personId } = await endGranted()
    status = 503
    const next = await sendLogouts(dependencies)
    expect(next).toEqual(new Date(clock.now().getTime() + 5_000))
    await sendLogouts(dependencies)
    expect(received).toHaveLength(1)
    clock.advance(5_000)
    status = 200
    expect(await sendLogouts(dependencies)).toBeUndefined()
    expect(received).toHaveLength(2)
    const { body } = await api.request<JSONWebKeySet>('/sign-in/jwks', { key: null })
    const { payload, protectedHeader } = await jwtVerify(
      received[1] ?? '',
      createLocalJWKSet(body),
      { issuer: `${BASE_URL}/sign-in`, audience: 'the wiki', currentDate: clock.now() },
    )
    expect(protectedHeader.typ).toBe('logout+jwt')
    expect(payload).toMatchObject({
      sid,
      sub: personId,
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    })
    expect(payload).not.toHaveProperty('nonce')
    const row = await db
      .selectFrom('sign_in_granted_session')
      .select('logout_due_at')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(row.logout_due_at).toBeNull()
  } finally {
    await client.close()
  }
})

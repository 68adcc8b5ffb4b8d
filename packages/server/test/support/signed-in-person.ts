/* A person with a device that has an issue, and a browser that is signed in to the pages of the person. */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import { findOrCreatePerson } from '../../src/people/people/find-or-create-person.ts'
import { HOUR_MS } from '../../src/platform/clock.ts'
import type { ServiceApi } from './composed-api.ts'
import type { Posture } from './posture-fixtures.ts'

export interface SignedInPerson {
  readonly number: number
  readonly personId: string
  readonly email: string
  readonly deviceId: string
  readonly checkId: string
  readonly issueId: string
  readonly cookie: string
  readonly sessionId: string
}

/** The columns of a check. */
type CheckValues = NonNullable<Parameters<Posture['insertCheck']>[0]>

let count = 0

/** Adds somebody whose device fails a check of these values; without any it blocks at once. */
export async function addSignedInPerson(
  api: ServiceApi,
  posture: Posture,
  check: CheckValues = {},
): Promise<SignedInPerson> {
  count += 1
  const number = count
  const email = `person${number}@example.com`
  const { id: personId } = await api.runChange({ actor: SYSTEM_ACTOR }, (change) =>
    findOrCreatePerson(change, { email, name: `Person ${number}` }),
  )
  const checkId = await posture.insertCheck({
    name: `Check ${number}`,
    issue_title: `Trouble ${number}`,
    remediation_strategy: 'block_immediately',
    ...check,
  })
  const deviceId = await posture.insertDevice({
    name: `device-${number}`,
    owner_person_id: personId,
    registered_at: api.clock.now(),
    node_key_hash: randomBytes(32),
  })
  const rows = [{ KOLIDE_CHECK_STATUS: 'FAIL', state: `own-${number}`, token: 'topsecret' }]
  await posture.report(deviceId, { [checkId]: rows })
  const { id: issueId } = await api.db
    .selectFrom('issue')
    .select('id')
    .where('device_id', '=', deviceId)
    .executeTakeFirstOrThrow()
  const { sessionId, cookie } = await signIn(api, personId, deviceId)
  return { number, personId, email, deviceId, checkId, issueId, sessionId, cookie }
}

/** A session on the own pages; the test API is reached by HTTPS. */
async function signIn(api: ServiceApi, personId: string, deviceId: string) {
  const sessionId = randomUUID()
  const token = randomUUID()
  await api.db
    .insertInto('sign_in_granted_session')
    .values({
      id: sessionId,
      sid: randomUUID(),
      application_id: null,
      person_id: personId,
      device_id: deviceId,
      assurance: 'live',
      attempt_id: null,
      cookie_hash: createHash('sha256').update(`person ${token}`).digest(),
      granted_at: api.clock.now(),
      expires_at: new Date(api.clock.now().getTime() + HOUR_MS),
      ended_at: null,
      end_reason: null,
      logout_due_at: null,
    })
    .execute()
  return { sessionId, cookie: `__Host-heliograph-person=${token}` }
}

/** Asks for pages and sends their forms, as a browser with a cookie does. */
export function openPersonPages(api: ServiceApi) {
  return {
    get: async (url: string, cookie?: string) =>
      api.app.inject({ url, headers: cookie === undefined ? {} : { cookie } }),
    post: async (
      url: string,
      cookie: string,
      fields: Record<string, string>,
      site = 'same-origin',
    ) =>
      api.app.inject({
        method: 'POST',
        url,
        headers: {
          cookie,
          'sec-fetch-site': site,
          'content-type': 'application/x-www-form-urlencoded',
        },
        payload: new URLSearchParams(fields).toString(),
      }),
  }
}

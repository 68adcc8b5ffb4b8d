/*
 * Every kind of SET that the service sends, in every form that a stream can choose, checked by libraries
 * that are not ours: signature and header by jsonwebtoken with the keys that jwks-rsa fetches, claims by
 * JSON schemas of RFC 8417, RFC 9493, SSF 1.0 and CAEP 1.0.
 */
import type { AddressInfo } from 'node:net'
import { Ajv, type ValidateFunction } from 'ajv'
import jwt from 'jsonwebtoken'
import jwksRsa from 'jwks-rsa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import type { DeviceStatusChange } from '../src/changes/domain-event.ts'
import { BASE_URL } from './support/api-app.ts'
import { insertDevice } from './support/factories.ts'
import { createStreamsApi, type StreamsApi } from './support/streams-api.ts'

const TYPES = 'https://schemas.openid.net/secevent'
const COMPLIANCE_CHANGE = `${TYPES}/caep/event-type/device-compliance-change`
const VERIFICATION = `${TYPES}/ssf/event-type/verification`
const STREAM_UPDATED = `${TYPES}/ssf/event-type/stream-updated`

interface Stream {
  readonly id: string
  readonly stream_id: string
  readonly aud: string
}

interface Claims {
  readonly aud: string
  readonly jti: string
  readonly txn: string
  readonly sub_id?: object
  readonly events: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

let streams: StreamsApi
let keys: jwksRsa.JwksClient
let deviceId: string

beforeAll(async () => {
  streams = await createStreamsApi()
  await streams.api.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = streams.api.app.server.address() as AddressInfo
  keys = jwksRsa({ jwksUri: `http://127.0.0.1:${port}/ssf/jwks.json`, timeout: 60_000 })
  deviceId = await insertDevice(streams.db)
})
afterAll(() => streams.close())

/** Header, signature, issuer and audience, as any relying party checks them. */
async function verify(token: string, stream: Stream): Promise<Claims> {
  const decoded = jwt.decode(token, { complete: true })
  expect(decoded?.header).toEqual({
    alg: 'RS256',
    typ: 'secevent+jwt',
    kid: expect.stringMatching(/^\S+$/) as string,
  })
  const key = await keys.getSigningKey(decoded?.header.kid)
  return jwt.verify(token, key.getPublicKey(), {
    algorithms: ['RS256'],
    issuer: BASE_URL,
    audience: stream.aud,
  }) as unknown as Claims
}

const URI = '^[A-Za-z][A-Za-z0-9+.-]*:\\S+$'
const text = { type: 'string', minLength: 1 }

/** RFC 9493 section 3: exactly the members of the format. */
function simpleSubject(format: string, members: Readonly<Record<string, object>>) {
  return {
    type: 'object',
    required: ['format', ...Object.keys(members)],
    properties: { format: { const: format }, ...members },
    additionalProperties: false,
  }
}

const opaque = simpleSubject('opaque', { id: text })
const issSub = simpleSubject('iss_sub', { iss: { const: BASE_URL }, sub: text })
const email = simpleSubject('email', { email: { type: 'string', pattern: '^[^@\\s]+@[^@\\s]+$' } })

/** SSF 1.0 section 3.3. */
function complexSubject(device: object, user: object) {
  return {
    type: 'object',
    required: ['format', 'device', 'user', 'tenant'],
    properties: { format: { const: 'complex' }, device, user, tenant: opaque },
    additionalProperties: false,
  }
}

const SUBJECTS = { complex: complexSubject(issSub, email), iss_sub: issSub, email } as const
/** Nothing that another stream or anybody else knows a device or a person by. */
const PAIRWISE = { complex: complexSubject(issSub, issSub), iss_sub: issSub } as const

/** CAEP 1.0 section 2. */
const reason = {
  type: 'object',
  minProperties: 1,
  patternProperties: { '^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$': text },
  additionalProperties: false,
}
const word = { enum: ['compliant', 'not-compliant'] }

/** The members of each event. CAEP 1.0 section 3.5, SSF 1.0 sections 8.1.4.1 and 8.1.5. */
const EVENTS = {
  [COMPLIANCE_CHANGE]: {
    required: ['previous_status', 'current_status', 'event_timestamp', 'initiating_entity'],
    properties: {
      previous_status: word,
      current_status: word,
      // Seconds: a time in milliseconds would be far beyond this.
      event_timestamp: { type: 'integer', minimum: 1, maximum: 100_000_000_000 },
      initiating_entity: { enum: ['admin', 'user', 'policy', 'system'] },
      reason_admin: reason,
      reason_user: reason,
    },
  },
  [VERIFICATION]: { required: [], properties: { state: { type: 'string' } } },
  [STREAM_UPDATED]: {
    required: ['status'],
    properties: { status: { enum: ['enabled', 'paused', 'disabled'] }, reason: text },
  },
} as const

type SpecVersion = '1.0' | 'draft' | 'both'

/**
 * RFC 8417 section 2.2 and SSF 1.0 section 4: one event, a subject in the place that the layout says, and
 * neither `sub` nor `exp`.
 */
function claimsSchema(
  type: keyof typeof EVENTS,
  specVersion: SpecVersion,
  subject: object,
): ValidateFunction {
  const isAboutStream = type !== COMPLIANCE_CHANGE
  const hasTop = specVersion !== 'draft'
  const hasInner = specVersion === 'draft' || (specVersion === 'both' && !isAboutStream)
  const { required, properties } = EVENTS[type]
  const schema = {
    type: 'object',
    required: ['iss', 'aud', 'jti', 'iat', 'txn', 'events', ...(hasTop ? ['sub_id'] : [])],
    properties: {
      iss: { type: 'string', pattern: URI },
      aud: { type: 'string', pattern: URI },
      jti: text,
      iat: { type: 'integer', minimum: 1 },
      txn: text,
      ...(hasTop ? { sub_id: subject } : {}),
      heliograph_sequence: { type: 'integer', minimum: 1 },
      test_email: text,
      events: {
        type: 'object',
        required: [type],
        properties: {
          [type]: {
            type: 'object',
            required: [...required, ...(hasInner ? ['subject'] : [])],
            properties: { ...properties, ...(hasInner ? { subject } : {}) },
            additionalProperties: false,
          },
        },
        additionalProperties: false,
      },
    },
    additionalProperties: false,
  }
  return new Ajv({ strict: true, allErrors: true }).compile(schema)
}

function expectValid(validate: ValidateFunction, claims: Claims): void {
  expect([validate(claims), validate.errors]).toEqual([true, null])
}

async function createStream(choices: object): Promise<Stream> {
  const payload = { name: 'independent', ...choices }
  const { status, body } = await streams.call<Stream>('/ssf_streams', { method: 'POST', payload })
  expect([status, body]).toEqual([201, body])
  return body
}

/** What waits in a stream; it is acknowledged. */
async function take(stream: Stream): Promise<Claims[]> {
  const url = `/ssf_streams/${stream.stream_id}/events`
  const { body } = await streams.call<{ sets: Record<string, string> }>(url, {
    method: 'POST',
    payload: {},
  })
  const entries = Object.entries(body.sets)
  await streams.call(url, {
    method: 'POST',
    payload: { ack: Object.keys(body.sets), maxEvents: 0 },
  })
  const verified = await Promise.all(entries.map(([, token]) => verify(token, stream)))
  expect(verified.map(({ jti }) => jti)).toEqual(entries.map(([jti]) => jti))
  return verified
}

/** A change of a device as the engine tells it. */
async function changeDevice(to: 'compliant' | 'not-compliant'): Promise<void> {
  const from = to === 'compliant' ? 'not-compliant' : 'compliant'
  const states = { compliant: 'Good', 'not-compliant': 'Blocked' } as const
  await streams.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    const statusChange: DeviceStatusChange = {
      device: {
        id: deviceId,
        name: 'Laptop',
        platform: 'linux',
        owner: { personId: '1', email: 'ada@example.com' },
      },
      previous: { authState: states[from], compliance: from },
      current: { authState: states[to], compliance: to },
      occurredAt: change.at,
      initiatingEntity: 'policy',
      reasons: [],
    }
    change.recordEvent({ type: 'device.status_changed', ...statusChange })
  })
}

const SPEC_VERSIONS = ['1.0', 'draft', 'both'] as const
const FORMS = ['complex', 'iss_sub', 'email'] as const
const OPTIONS = [
  {},
  { heliograph_sequence: true },
  { pairwise_identifiers: true },
  { reason_fields: [] },
] as const
const CHOICES = SPEC_VERSIONS.flatMap((spec_version) =>
  FORMS.flatMap((subject_form) =>
    OPTIONS.filter(
      (options) => subject_form !== 'email' || !('pairwise_identifiers' in options),
    ).map((options) => ({ spec_version, subject_form, ...options })),
  ),
)

describe('independent libraries accept', () => {
  it.each(CHOICES)('compliance changes of a stream with %j', async (choices) => {
    const stream = await createStream(choices)
    await changeDevice('not-compliant')
    await changeDevice('compliant')
    const all = await take(stream)
    const { subject_form: form } = choices
    const isPairwise = 'pairwise_identifiers' in choices && form !== 'email'
    const subject = isPairwise ? PAIRWISE[form] : SUBJECTS[form]
    const validate = claimsSchema(COMPLIANCE_CHANGE, choices.spec_version, subject)
    expect(all).toHaveLength(2)
    for (const claims of all) {
      expectValid(validate, claims)
      expect('heliograph_sequence' in claims).toBe('heliograph_sequence' in choices)
      const event = claims.events[COMPLIANCE_CHANGE]
      expect(event !== undefined && 'reason_admin' in event).toBe(!('reason_fields' in choices))
    }
    expect(all.map(({ events }) => events[COMPLIANCE_CHANGE]?.['current_status'])).toEqual([
      'not-compliant',
      'compliant',
    ])
    expect(new Set(all.map(({ jti }) => jti)).size).toBe(2)
  })

  it.each(SPEC_VERSIONS)(
    'verification events of a stream with version %s',
    async (spec_version) => {
      const stream = await createStream({ spec_version })
      const { stream_id } = stream
      const ask = (payload: object) =>
        streams.call('/ssf_streams/verify', { method: 'POST', payload })
      await ask({ stream_id, state: 'VGhpcyBpcyBhbiBleGFtcGxl' })
      await ask({ stream_id })
      await streams.call(`/ssf_streams/${stream.id}/test`, {
        method: 'POST',
        payload: { email: 'grace@example.com' },
      })
      const all = await take(stream)
      const validate = claimsSchema(VERIFICATION, spec_version, {
        ...opaque,
        properties: { ...opaque.properties, id: { const: stream_id } },
      })
      for (const claims of all) expectValid(validate, claims)
      expect(all.map(({ events }) => events[VERIFICATION]?.['state'])).toEqual([
        'VGhpcyBpcyBhbiBleGFtcGxl',
        undefined,
        undefined,
      ])
    },
  )

  it.each(SPEC_VERSIONS)(
    'stream-updated events of a stream with version %s',
    async (spec_version) => {
      const stream = await createStream({ spec_version })
      const { stream_id } = stream
      const statuses = []
      for (const status of ['paused', 'enabled', 'disabled'] as const) {
        const payload = { stream_id, status, reason: 'maintenance' }
        const answer = await streams.call('/ssf_streams/status', { method: 'POST', payload })
        expect(answer.status).toBe(200)
        for (const claims of await take(stream)) {
          expectValid(claimsSchema(STREAM_UPDATED, spec_version, opaque), claims)
          statuses.push(claims.events[STREAM_UPDATED]?.['status'])
        }
      }
      expect(statuses).toEqual(['paused', 'enabled', 'disabled'])
    },
  )
})

it('independent libraries refuse a SET that was changed, and one for another receiver', async () => {
  const stream = await createStream({})
  await changeDevice('not-compliant')
  const url = `/ssf_streams/${stream.stream_id}/events`
  const { body } = await streams.call<{ sets: Record<string, string> }>(url)
  const [token = ''] = Object.values(body.sets)
  await verify(token, stream)
  const [header = '', payload = '', signature = ''] = token.split('.')
  const changed = Buffer.from(payload, 'base64url').toString().replace('Laptop', 'Tablet')
  const forged = [header, Buffer.from(changed).toString('base64url'), signature].join('.')
  await expect(verify(forged, stream)).rejects.toThrow('invalid signature')
  const other = { ...stream, aud: 'https://other.example.com' }
  await expect(verify(token, other)).rejects.toThrow('audience')
})

it('the schemas refuse what the specifications forbid', async () => {
  const stream = await createStream({})
  await changeDevice('not-compliant')
  const [claims] = await take(stream)
  if (claims === undefined) throw new Error('no event came')
  const validate = claimsSchema(COMPLIANCE_CHANGE, '1.0', SUBJECTS.complex)
  const event = claims.events[COMPLIANCE_CHANGE]
  const withEvent = (change: object) => ({
    events: { [COMPLIANCE_CHANGE]: { ...event, ...change } },
  })
  const wrong: readonly object[] = [
    { exp: 1 },
    { sub: 'x' },
    { iat: 1.5 },
    { jti: '' },
    { sub_id: undefined },
    { sub_id: { ...claims.sub_id, phone: {} } },
    { events: {} },
    { events: { ...claims.events, [VERIFICATION]: {} } },
    withEvent({ subject: claims.sub_id }),
    withEvent({ current_status: 'good' }),
    withEvent({ event_timestamp: Date.now() }),
    withEvent({ reason_admin: 'text' }),
  ]
  expectValid(validate, claims)
  for (const change of wrong) {
    const changed: unknown = JSON.parse(JSON.stringify({ ...claims, ...change }))
    expect([change, validate(changed)]).toEqual([change, false])
  }
})

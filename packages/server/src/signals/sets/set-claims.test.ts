import type { StreamId } from '../../schema/branded-ids.ts'
import {
  parseSetClaims,
  SET_TYP,
  type SecurityEventToken,
  type SubjectIdentifier,
} from '@heliograph/ssf'
import { describe, expect, it } from 'vitest'
import type { DeviceStatusChange } from '../../changes/domain-event.ts'
import { parseMasterKeys } from '../../platform/secrets/master-key.ts'
import { createSealer } from '../../platform/secrets/sealed-box.ts'
import { toComplianceClaims } from './set-claims.ts'
import {
  REASON_DETAILS,
  REASON_FIELDS,
  STREAM_PROFILE_NAMES,
  toChoiceValues,
  type ChoiceInput,
  type StreamProfileName,
} from '../streams/stream-choices.ts'
import type { Stream } from '../streams/stream-store.ts'

const ISSUER = 'https://trust.example.com'
const AT = new Date('2026-01-02T03:04:05.678Z')
const sealer = createSealer(parseMasterKeys(Buffer.alloc(32, 7).toString('base64'), 'test'))

type Claims = Readonly<Record<string, unknown>> & {
  readonly events: Readonly<Record<string, Record<string, unknown>>>
}

function createStream(choices: ChoiceInput = {}, base: StreamProfileName = 'interface'): Stream {
  const streamId = crypto.randomUUID()
  return {
    id: '1',
    streamId,
    issuer: ISSUER,
    audience: 'https://receiver.example.com/events',
    ...toChoiceValues(choices, { streamId, sealer, base, pathPrefix: '' }),
  } as Stream
}

function statusChange(device: Partial<DeviceStatusChange['device']> = {}): DeviceStatusChange {
  return {
    device: {
      id: '17',
      name: 'ada-laptop',
      platform: 'darwin',
      owner: { personId: '3', email: 'ada@example.com' },
      ...device,
    },
    previous: { authState: 'Good', compliance: 'compliant' },
    current: { authState: 'Blocked', compliance: 'not-compliant' },
    occurredAt: AT,
    initiatingEntity: 'policy',
    reasons: [
      {
        issueId: '5',
        issueTitle: 'Disk encryption is off',
        checkId: '2',
        checkSlug: 'disk-encryption',
        checkName: 'Disk encryption',
        blocksDeviceAt: AT,
      },
    ],
  }
}

function claimsOf(stream: Stream, change = statusChange()): Claims {
  const text = toComplianceClaims(stream, 'jti-1', change, { txn: 'txn-1', at: AT }, sealer)
  if (text === undefined) throw new Error('the stream is not told')
  return JSON.parse(text) as Claims
}

function parse(stream: Stream, claims: Claims): SecurityEventToken {
  const result = parseSetClaims({ typ: SET_TYP }, claims, {
    issuer: ISSUER,
    audience: stream.audience,
    nowMs: AT.getTime(),
    clockToleranceSeconds: 0,
  })
  if (!result.ok) throw new Error(`${result.code}: ${result.description}`)
  return result.set
}

const eventOf = (claims: Claims) => Object.values(claims['events'])[0] ?? {}

function subsetsOf<Word>(words: readonly Word[]): Word[][] {
  return words.reduce<Word[][]>(
    (subsets, word) => [...subsets, ...subsets.map((subset) => [...subset, word])],
    [[]],
  )
}

function* everyCombination(): Generator<ChoiceInput> {
  for (const specVersion of ['1.0', 'draft', 'both'] as const)
    for (const subjectForm of ['complex', 'iss_sub', 'email'] as const)
      for (const reasonFields of subsetsOf(REASON_FIELDS))
        for (const reasonDetails of subsetsOf(REASON_DETAILS))
          for (const hasPairwiseIdentifiers of [false, true]) {
            const isAllowed = subjectForm !== 'email' && !reasonDetails.includes('device_name')
            if (hasPairwiseIdentifiers && !isAllowed) continue
            yield { specVersion, subjectForm, reasonFields, reasonDetails, hasPairwiseIdentifiers }
          }
}

describe('events of every combination of choices', () => {
  const combinations = [...everyCombination()]

  it('ssf-T021 ssf-T150 are valid SETs of the right layout, reasons and nothing more', () => {
    expect(combinations.length).toBeGreaterThan(150)
    for (const choices of combinations) {
      const stream = createStream(choices)
      const claims = claimsOf(stream)
      const set = parse(stream, claims)
      const event = eventOf(claims)
      const what = JSON.stringify(choices)
      expect(set.event.isKnown, what).toBe(true)
      expect('sub_id' in claims, what).toBe(choices.specVersion !== 'draft')
      expect('subject' in event, what).toBe(choices.specVersion !== '1.0')
      const reasons = REASON_FIELDS.filter((field) => field in event)
      expect(reasons, what).toEqual(choices.reasonFields)
      expect(event, what).toMatchObject({ event_timestamp: 1_767_323_045 })
      expect(claims, what).not.toHaveProperty('sub')
      expect(claims, what).not.toHaveProperty('exp')
    }
  })

  it('tell titles of issues and names of devices only where they may', () => {
    for (const choices of combinations) {
      const text = JSON.stringify(claimsOf(createStream(choices)))
      const hasReasons = (choices.reasonFields ?? []).length > 0
      const hasAdmin = choices.reasonFields?.includes('reason_admin') === true
      const what = JSON.stringify(choices)
      const maySayTitle = hasReasons && choices.reasonDetails?.includes('issue_titles') === true
      const maySayName = hasAdmin && choices.reasonDetails?.includes('device_name') === true
      expect(text.includes('Disk encryption'), what).toBe(maySayTitle)
      expect(text.includes('ada-laptop'), what).toBe(maySayName)
    }
  })
})

it('name a title once, however many issues have it', () => {
  const change = statusChange()
  const [reason] = change.reasons
  const reasons = [
    { ...reason!, issueId: '6' },
    ...change.reasons,
    { ...reason!, issueTitle: 'Old' },
  ]
  const stream = createStream({ reasonFields: ['reason_admin'], reasonDetails: ['issue_titles'] })
  expect(eventOf(claimsOf(stream, { ...change, reasons }))['reason_admin']).toEqual({
    en: 'The device is not-compliant (Blocked): Disk encryption is off; Old',
  })
})

describe('pairwise identifiers', () => {
  const pairwise = { hasPairwiseIdentifiers: true } as const
  const partsOf = (stream: Stream, change = statusChange()) => {
    const { sub_id: subject, txn } = claimsOf(stream, change)
    const { device, user } = subject as Extract<SubjectIdentifier, { format: 'complex' }>
    return { device, user, txn }
  }

  it('ssf-T035 are the same for a stream each time, and have nothing in common between streams', () => {
    const stream = createStream(pairwise)
    const other = createStream(pairwise)
    expect(partsOf(stream)).toEqual(partsOf(stream))
    expect(partsOf(stream).device).toEqual({
      format: 'iss_sub',
      iss: ISSUER,
      sub: expect.stringMatching(/^[\w-]{27}$/) as string,
    })
    const mine = JSON.stringify(claimsOf(stream))
    for (const part of Object.values(partsOf(other))) {
      const value = String(
        typeof part === 'object' && part !== null && 'sub' in part ? part.sub : part,
      )
      expect(mine).not.toContain(value)
    }
  })

  it('tell devices and people apart, and follow the person from device to device', () => {
    const stream = createStream(pairwise)
    const first = partsOf(stream)
    const second = partsOf(stream, statusChange({ id: '18' }))
    expect(second.device).not.toEqual(first.device)
    expect(second.user).toEqual(first.user)
    const sameId = partsOf(
      stream,
      statusChange({ id: '3', owner: { personId: '3', email: 'x@example.com' } }),
    )
    expect(sameId.device).not.toEqual(sameId.user)
  })

  it('hide the ids, the address, the name and the txn that others know', () => {
    const text = JSON.stringify(claimsOf(createStream(pairwise)))
    for (const known of ['"17"', '"3"', 'ada@example.com', 'ada-laptop', 'txn-1']) {
      expect(text).not.toContain(known)
    }
  })

  it('stay the same when the choice is taken back and made again', () => {
    const stream = createStream(pairwise)
    const context = { streamId: stream.streamId, sealer, pathPrefix: '' } as const
    const off = toChoiceValues({ hasPairwiseIdentifiers: false }, { ...context, base: stream })
    const without = { ...stream, ...off }
    expect(partsOf(without).device).toMatchObject({ sub: '17' })
    const on = toChoiceValues(pairwise, { ...context, base: without })
    expect(partsOf({ ...without, ...on })).toEqual(partsOf(stream))
  })

  it('cannot be made without the secret', () => {
    const stream = createStream(pairwise)
    expect(() => claimsOf({ ...stream, pairwiseSecretSealed: null })).toThrow('secret')
    const moved = { ...stream, streamId: crypto.randomUUID() as string as StreamId }
    expect(() => claimsOf(moved)).toThrow()
  })
})

describe('profiles', () => {
  it.each(STREAM_PROFILE_NAMES)('%s makes valid events', (profile) => {
    const stream = createStream({ profile })
    expect(parse(stream, claimsOf(stream)).event.isKnown).toBe(true)
  })

  it('okta names device, user and tenant inside the event, with its time and reasons', () => {
    const claims = claimsOf(createStream({ profile: 'okta' }))
    expect(claims).not.toHaveProperty('sub_id')
    expect(eventOf(claims)).toMatchObject({
      subject: {
        format: 'complex',
        device: { format: 'iss_sub', iss: ISSUER, sub: '17' },
        user: { format: 'email', email: 'ada@example.com' },
        tenant: { format: 'opaque', id: 'trust.example.com' },
      },
      event_timestamp: 1_767_323_045,
      reason_admin: { en: expect.any(String) as string },
    })
  })

  it('ssf-T042 ssf-T153 caep_interop and strict name the device simply, with an object as reason', () => {
    for (const profile of ['caep_interop', 'strict'] as const) {
      const claims = claimsOf(createStream({ profile }))
      expect(claims['sub_id']).toEqual({ format: 'iss_sub', iss: ISSUER, sub: '17' })
      expect(eventOf(claims)['reason_admin']).toEqual({ en: expect.any(String) as string })
    }
  })

  it('name no user where the owner has a user name and no address', () => {
    const change = statusChange({ owner: { personId: '3', email: 'bjensen' } })
    const stream = createStream()
    const claims = claimsOf(stream, change)
    expect(claims['sub_id']).not.toHaveProperty('user')
    expect(parse(stream, claims).jti).toBe('jti-1')
    const byAddress = createStream({ subjectForm: 'email' })
    expect(toComplianceClaims(byAddress, 'j', change, { txn: 't', at: AT }, sealer)).toBeUndefined()
    const pairwise = claimsOf(createStream({ hasPairwiseIdentifiers: true }), change)
    expect(pairwise['sub_id']).toHaveProperty('user')
  })

  it('tell nobody of a device without an owner where subjects are addresses', () => {
    const stream = createStream({ profile: 'caep_interop', subjectForm: 'email' })
    const change = statusChange({ owner: null })
    expect(
      toComplianceClaims(stream, 'jti-1', change, { txn: 't', at: AT }, sealer),
    ).toBeUndefined()
  })
})

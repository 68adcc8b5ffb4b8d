import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  buildSetClaims,
  checkSetClaims,
  DEVICE_COMPLIANCE_CHANGE,
  parseSetClaims,
  SET_CHECKS,
  SET_LAYOUTS,
  SET_TYP,
  STREAM_UPDATED,
  VERIFICATION,
  type SetInput,
  type SetValidationCode,
} from '../src/index.ts'
import caep from '../vectors/caep-3.json' with { type: 'json' }
import push from '../vectors/rfc8935-2.json' with { type: 'json' }
import scim from '../vectors/rfc8417-2.1.1.json' with { type: 'json' }
import ssf from '../vectors/ssf-8.1.json' with { type: 'json' }

const header = { typ: SET_TYP }

function expectationsFor(claims: { iss: string; iat: number; aud?: string | readonly string[] }) {
  return {
    issuer: claims.iss,
    ...(claims.aud === undefined ? {} : { audience: claims.aud }),
    nowMs: claims.iat * 1000,
    clockToleranceSeconds: 0,
  }
}

const input: SetInput = {
  iss: 'https://transmitter.example.com',
  aud: 'https://receiver.example.com',
  jti: 'id-1',
  issuedAtMs: 1_700_000_000_999,
  txn: 'cause-1',
  layout: 'v1.0',
  subject: { format: 'complex', device: { format: 'opaque', id: 'd1' } },
  event: {
    type: DEVICE_COMPLIANCE_CHANGE,
    payload: { previous_status: 'compliant', current_status: 'not-compliant' },
  },
}

describe('specification examples', () => {
  test.each(caep.examples)('the example of CAEP 1.0 section $section is accepted', ({ claims }) => {
    const result = parseSetClaims(header, claims, expectationsFor(claims))
    expect(result).toMatchObject({ ok: true, set: { subjectPlace: 'sub_id', txn: '8675309' } })
    if (result.ok) expect(result.set.event.isKnown).toBe(true)
  })

  test('the verification and stream-updated examples of SSF 1.0 section 8.1 are accepted', () => {
    const verification = parseSetClaims(header, ssf.verification, expectationsFor(ssf.verification))
    expect(verification).toMatchObject({
      ok: true,
      set: { event: { type: VERIFICATION, payload: { state: ssf.verificationRequest.state } } },
    })
    const updated = parseSetClaims(header, ssf.streamUpdated, expectationsFor(ssf.streamUpdated))
    expect(updated).toMatchObject({
      ok: true,
      set: { event: { type: STREAM_UPDATED, payload: { status: 'paused' } } },
    })
  })

  test('a generic SET of RFC 8417, which names no subject, fails on the subject alone', () => {
    const results = checkSetClaims(header, scim.claims, expectationsFor(scim.claims))
    expect(results.filter(({ ok }) => !ok).map(({ code }) => code)).toEqual(['subject'])
  })

  test('the example of RFC 8935, whose subject predates RFC 9493, fails on the subject alone', () => {
    const results = checkSetClaims(header, push.claims, expectationsFor(push.claims))
    expect(results.filter(({ ok }) => !ok).map(({ code }) => code)).toEqual(['subject'])
  })
})

describe('a subject that is refused', () => {
  test.each([
    ['v1.0', 'sub_id.format: must be one of'],
    ['draft', 'subject.format: must be one of'],
  ] as const)('in the layout %s is told by its place', (layout, description) => {
    const subject = JSON.parse('{"format":"nickname"}') as typeof input.subject
    const claims = buildSetClaims({ ...input, layout, subject })
    const result = parseSetClaims(header, claims, expectationsFor(claims))
    expect(result).toMatchObject({
      ok: false,
      code: 'subject',
      description: expect.stringContaining(description) as string,
    })
  })
})

describe('built claims', () => {
  test('hold the subject at the top, whole seconds, one event and neither sub nor exp', () => {
    expect(buildSetClaims(input)).toEqual({
      iss: input.iss,
      aud: input.aud,
      jti: 'id-1',
      iat: 1_700_000_000,
      txn: 'cause-1',
      sub_id: input.subject,
      events: { [DEVICE_COMPLIANCE_CHANGE]: input.event.payload },
    })
  })

  test('of the draft layout hold the subject inside the event only', () => {
    const claims = buildSetClaims({ ...input, layout: 'draft' })
    expect(claims.sub_id).toBeUndefined()
    expect(claims.events[DEVICE_COMPLIANCE_CHANGE]).toMatchObject({ subject: input.subject })
  })

  test('of the layout both hold it twice, but events about the stream only at the top', () => {
    const claims = buildSetClaims({ ...input, layout: 'both' })
    expect(claims.sub_id).toEqual(input.subject)
    expect(claims.events[DEVICE_COMPLIANCE_CHANGE]).toMatchObject({ subject: input.subject })
    const verification = buildSetClaims({
      ...input,
      layout: 'both',
      event: { type: VERIFICATION, payload: {} },
    })
    expect(verification.events[VERIFICATION]).toEqual({})
  })

  test('never let an extra claim replace one that the protocol owns', () => {
    for (const name of ['sub', 'exp', 'iss', 'events', 'sub_id']) {
      expect(() => buildSetClaims({ ...input, extraClaims: { [name]: 'x' } })).toThrow(RangeError)
    }
    expect(buildSetClaims({ ...input, extraClaims: { sequence: 7 } })['sequence']).toBe(7)
  })

  test('are accepted in every layout, whatever the ids and times are', () => {
    const id = fc.string({ minLength: 1, maxLength: 64 })
    fc.assert(
      fc.property(
        id,
        id,
        fc.constantFrom(...SET_LAYOUTS),
        fc.integer({ min: 0, max: 4_000_000_000_000 }),
        (jti, deviceId, layout, issuedAtMs) => {
          const subject = { format: 'opaque', id: deviceId } as const
          const claims = buildSetClaims({ ...input, jti, layout, subject, issuedAtMs })
          const wire: unknown = JSON.parse(JSON.stringify(claims))
          const result = parseSetClaims(header, wire, {
            issuer: input.iss,
            audience: [input.aud as string],
            nowMs: issuedAtMs,
            clockToleranceSeconds: 0,
          })
          expect(result).toMatchObject({ ok: true, set: { jti, subject } })
        },
      ),
    )
  })
})

describe('a SET is refused', () => {
  const good = buildSetClaims(input) as Record<string, unknown>
  const expectations = {
    issuer: input.iss,
    audience: 'https://receiver.example.com',
    nowMs: 1_700_000_000_000,
    clockToleranceSeconds: 60,
  }
  const event = { [DEVICE_COMPLIANCE_CHANGE]: input.event.payload }
  const cases: [SetValidationCode, string, Record<string, unknown>][] = [
    ['iss', 'of another issuer', { iss: 'https://transmitter.example.com/' }],
    ['aud', 'for another receiver', { aud: 'https://other.example.com' }],
    ['aud', 'without an audience', { aud: undefined }],
    ['aud', 'with a malformed audience', { aud: [1] }],
    ['jti', 'without a jti', { jti: '' }],
    ['iat', 'from the future', { iat: 1_700_000_061 }],
    ['iat', 'with a time in milliseconds', { iat: 1_700_000_000_000 }],
    ['iat', 'without an issue time', { iat: undefined }],
    ['exp', 'with an expiry', { exp: 1_800_000_000 }],
    ['sub', 'with a sub claim', { sub: 'user' }],
    ['events', 'with two events', { events: { ...event, [VERIFICATION]: {} } }],
    ['events', 'without an event', { events: {} }],
    ['events', 'with events as an array', { events: [event] }],
    ['events', 'with a relative event type', { events: { verification: {} } }],
    [
      'event',
      'with an unknown status word',
      {
        events: {
          [DEVICE_COMPLIANCE_CHANGE]: { previous_status: 'unknown', current_status: 'compliant' },
        },
      },
    ],
    ['subject', 'without a subject', { sub_id: undefined }],
    ['subject', 'with a null subject', { sub_id: null }],
    ['subject', 'with an unknown format', { sub_id: { format: 'nickname', name: 'x' } }],
  ]

  test.each(cases)('on %s: %s', (code, _title, change) => {
    const wire: unknown = JSON.parse(JSON.stringify({ ...good, ...change }))
    expect(parseSetClaims(header, wire, expectations)).toMatchObject({ ok: false, code })
  })

  test('when its typ is missing or another, and the media type prefix is allowed', () => {
    for (const typ of [undefined, 'JWT', 'at+jwt', 7]) {
      expect(parseSetClaims({ typ }, good, expectations)).toMatchObject({ ok: false, code: 'typ' })
    }
    for (const typ of ['secevent+jwt', 'application/secevent+jwt', 'SecEvent+JWT']) {
      expect(parseSetClaims({ typ }, good, expectations).ok).toBe(true)
    }
  })

  test('when it is no object', () => {
    for (const payload of [null, [], 'x', 1]) {
      expect(parseSetClaims(header, payload, expectations)).toMatchObject({ code: 'claims' })
    }
  })

  test('and every check is reported for diagnosis, in a fixed order', () => {
    const results = checkSetClaims(header, { ...good, exp: 1, sub: 'x' }, expectations)
    expect(results.map(({ code }) => code)).toEqual(SET_CHECKS)
    expect(results.filter(({ ok }) => !ok).map(({ code }) => code)).toEqual(['exp', 'sub'])
  })

  test('without ever throwing, whatever the payload is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (typ, payload) => {
        expect(typeof parseSetClaims({ typ }, payload, expectations).ok).toBe('boolean')
      }),
    )
  })
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isSubjectMatch, parseSubjectIdentifier, type SubjectIdentifier } from '../src/index.ts'
import caep from '../vectors/caep-3.json' with { type: 'json' }
import rfc9493 from '../vectors/rfc9493-3.2.json' with { type: 'json' }

const email = { format: 'email', email: 'user@example.com' } as const
const device = { format: 'iss_sub', iss: 'https://issuer.example.com', sub: 'd1' } as const
const tenant = { format: 'opaque', id: 't1' } as const

describe('parsing', () => {
  test.each(rfc9493.examples)(
    'ssf-T038 accepts the example of RFC 9493 section $section unchanged',
    ({ subject }) => {
      expect(parseSubjectIdentifier(subject)).toEqual({ ok: true, value: subject })
    },
  )

  test.each(rfc9493.examples)(
    'ssf-T037 refuses the example of RFC 9493 section $section with one member more or less',
    ({ subject }) => {
      expect(parseSubjectIdentifier({ ...subject, extra: 'x' }).ok).toBe(false)
      for (const member of Object.keys(subject)) {
        expect(parseSubjectIdentifier({ ...subject, [member]: undefined }).ok).toBe(false)
        expect(parseSubjectIdentifier({ ...subject, [member]: null }).ok).toBe(false)
        expect(parseSubjectIdentifier({ ...subject, [member]: '' }).ok).toBe(false)
      }
    },
  )

  test('ssf-T039 ssf-T040 accepts the formats of SSF 1.0 section 3.4 and the complex subject of CAEP 3.5', () => {
    const subjects = [
      { format: 'jwt_id', iss: 'https://issuer.example.com', jti: 'B70BA622' },
      { format: 'saml_assertion_id', issuer: 'https://issuer.example.com', assertion_id: '_8e8d' },
      { format: 'ip-addresses', 'ip-addresses': ['10.29.37.75', '2001:db8::1'] },
      caep.examples[0]?.claims.sub_id,
    ]
    for (const subject of subjects) {
      expect(parseSubjectIdentifier(subject)).toEqual({ ok: true, value: subject })
    }
  })

  test.each([
    ['no object', 'user@example.com'],
    ['no format', { email: 'user@example.com' }],
    ['an unknown format', { format: 'nickname', nickname: 'x' }],
    ['a missing member', { format: 'iss_sub', iss: 'https://issuer.example.com' }],
    ['an empty member', { format: 'opaque', id: '' }],
    ['a null member', { format: 'opaque', id: null }],
    ['a foreign member', { ...email, id: 'x' }],
    ['a malformed address', { format: 'email', email: 'user' }],
    ['a local phone number', { format: 'phone_number', phone_number: '0555' }],
    ['no aliases', { format: 'aliases', identifiers: [] }],
    [
      'nested aliases',
      { format: 'aliases', identifiers: [{ format: 'aliases', identifiers: [email] }] },
    ],
    ['a complex subject without members', { format: 'complex' }],
    [
      'a complex subject in a complex one',
      { format: 'complex', user: { format: 'complex', user: email } },
    ],
    ['a complex subject with a bare value', { format: 'complex', user: 'user@example.com' }],
  ])('refuses %s', (_title, subject) => {
    expect(parseSubjectIdentifier(subject).ok).toBe(false)
  })

  test('reads the unregistered name phone as phone_number, also inside a complex subject', () => {
    const expected = { format: 'phone_number', phone_number: '+12065550123' }
    for (const member of ['phone', 'phone_number']) {
      const subject = { format: 'phone', [member]: '+12065550123' }
      expect(parseSubjectIdentifier(subject)).toEqual({ ok: true, value: expected })
      expect(parseSubjectIdentifier({ format: 'complex', user: subject })).toEqual({
        ok: true,
        value: { format: 'complex', user: expected },
      })
    }
  })

  test('never throws', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(typeof parseSubjectIdentifier(value).ok).toBe('boolean')
      }),
    )
  })
})

describe('matching (SSF 1.0 section 8.1.3.1)', () => {
  test('simple subjects match when identical, whatever the order of their members', () => {
    expect(isSubjectMatch(device, { sub: 'd1', iss: device.iss, format: 'iss_sub' })).toBe(true)
    expect(isSubjectMatch(device, { ...device, sub: 'd2' })).toBe(false)
    expect(isSubjectMatch(email, { format: 'email', email: 'User@example.com' })).toBe(false)
  })

  test('complex subjects match when each member is absent on one side or identical', () => {
    const event: SubjectIdentifier = { format: 'complex', device, tenant }
    expect(isSubjectMatch({ format: 'complex', tenant }, event)).toBe(true)
    expect(isSubjectMatch({ format: 'complex', user: email }, event)).toBe(true)
    expect(isSubjectMatch({ format: 'complex', device, tenant: email }, event)).toBe(false)
  })

  test('a simple subject never matches a complex one', () => {
    expect(isSubjectMatch(device, { format: 'complex', device })).toBe(false)
  })

  test('is symmetric, and every subject matches itself', () => {
    const simple = fc.constantFrom(email, device, tenant)
    const complex = fc.record(
      { format: fc.constant('complex' as const), user: simple, device: simple, tenant: simple },
      { requiredKeys: ['format'] },
    )
    const subject = fc.oneof(simple, complex)
    fc.assert(
      fc.property(subject, subject, (left, right) => {
        expect(isSubjectMatch(left, left)).toBe(true)
        expect(isSubjectMatch(left, right)).toBe(isSubjectMatch(right, left))
      }),
    )
  })
})

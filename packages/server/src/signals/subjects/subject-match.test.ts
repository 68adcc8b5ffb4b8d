import type { ComplexSubject, SubjectIdentifier } from '@heliograph/ssf'
import { describe, expect, it } from 'vitest'
import { isAboutEvent, toEventKeys, toEventPrincipal, toMatchKeys } from './subject-match.ts'

const ISSUER = 'https://trust.example.com/ssf'
const device = { format: 'iss_sub', iss: ISSUER, sub: '7' } as const
const user = { format: 'email', email: 'ada@example.com' } as const
const tenant = { format: 'opaque', id: 'trust.example.com' } as const
const owned: ComplexSubject = { format: 'complex', device, user, tenant }
const unowned: ComplexSubject = { format: 'complex', device, tenant }

const ABOUT: readonly (readonly [name: string, subject: SubjectIdentifier])[] = [
  ['the device by issuer and id', device],
  ['the device by its id alone', { format: 'opaque', id: '7' }],
  ['its owner', user],
  ['its owner in other letters', { format: 'email', email: 'Ada@Example.com' }],
  ['all members', owned],
  ['its owner as a member', { format: 'complex', user }],
  ['the tenant as a member', { format: 'complex', tenant }],
  [
    'the device by its id as a member',
    { format: 'complex', device: { format: 'opaque', id: '7' } },
  ],
  [
    'one of several aliases',
    { format: 'aliases', identifiers: [{ format: 'opaque', id: '8' }, user] },
  ],
]

it('about a person whose identifier is pairwise names it with its issuer, or by its id alone', () => {
  const pairwise = { format: 'iss_sub', iss: ISSUER, sub: 'x1' } as const
  const event = toEventPrincipal({ format: 'complex', device, user: pairwise, tenant })
  expect(isAboutEvent(pairwise, event)).toBe(true)
  expect(isAboutEvent({ format: 'opaque', id: 'x1' }, event)).toBe(true)
  expect(isAboutEvent({ format: 'opaque', id: 'x2' }, event)).toBe(false)
})

const NOT_ABOUT: readonly (readonly [name: string, subject: SubjectIdentifier])[] = [
  ['another device', { ...device, sub: '8' }],
  ['the device of another issuer', { ...device, iss: 'https://other.example.com' }],
  ['another person', { format: 'email', email: 'bob@example.com' }],
  ['the tenant as if it were a device', tenant],
  ['a phone number', { format: 'phone_number', phone_number: '+15550100' }],
  ['its owner with another device', { format: 'complex', user, device: { ...device, sub: '8' } }],
  [
    'its owner in another tenant',
    { format: 'complex', user, tenant: { format: 'opaque', id: 'x' } },
  ],
  [
    'a member that no event has',
    { format: 'complex', user, session: { format: 'opaque', id: 's' } },
  ],
  ['members in each other’s place', { format: 'complex', user: device, device: user }],
]

describe('a subject', () => {
  it.each(ABOUT)('ssf-T094 that is %s is about the event', (_name, subject) => {
    expect(isAboutEvent(subject, toEventPrincipal(owned))).toBe(true)
  })

  it.each(NOT_ABOUT)('ssf-T094 that is %s is not', (_name, subject) => {
    expect(isAboutEvent(subject, toEventPrincipal(owned))).toBe(false)
  })

  it('ssf-T095 that names a person is not about a device that belongs to nobody', () => {
    expect(isAboutEvent({ format: 'complex', user }, toEventPrincipal(unowned))).toBe(false)
    expect(isAboutEvent(user, toEventPrincipal(unowned))).toBe(false)
  })

  it.each(ABOUT)('that is %s is found by a key of the event', (_name, subject) => {
    const keys = toEventKeys(toEventPrincipal(owned))
    expect(toMatchKeys(subject).some((key) => keys.includes(key))).toBe(true)
  })
})

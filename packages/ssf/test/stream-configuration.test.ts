import { describe, expect, test } from 'vitest'
import {
  DELIVERY_METHOD_POLL,
  DELIVERY_METHOD_PUSH,
  DEVICE_COMPLIANCE_CHANGE,
  findChangedTransmitterMember,
  parseStreamConfiguration,
  parseStreamCreateRequest,
  parseStreamStatusMessage,
  parseStreamSubjectRequest,
  parseStreamUpdateRequest,
  parseTransmitterConfiguration,
  parseVerificationRequest,
  wellKnownConfigurationUrl,
  withoutEmptyArrays,
} from '../src/index.ts'
import ssf from '../vectors/ssf-8.1.json' with { type: 'json' }

const push = {
  method: DELIVERY_METHOD_PUSH,
  endpoint_url: 'https://receiver.example.com/events',
  authorization_header: 'Bearer abc',
}

describe('create requests', () => {
  test('may leave out everything', () => {
    expect(parseStreamCreateRequest({})).toEqual({ ok: true, value: {} })
  })

  test('give the members of the receiver and drop unknown ones', () => {
    const body = { events_requested: [DEVICE_COMPLIANCE_CHANGE], delivery: push, description: 'x' }
    expect(parseStreamCreateRequest({ ...body, format: 'opaque' })).toEqual({
      ok: true,
      value: body,
    })
  })

  test('for poll may carry an empty, a null or an informational URL', () => {
    for (const endpoint_url of ['', null, undefined]) {
      expect(
        parseStreamCreateRequest({ delivery: { method: DELIVERY_METHOD_POLL, endpoint_url } }),
      ).toEqual({ ok: true, value: { delivery: { method: DELIVERY_METHOD_POLL } } })
    }
    const delivery = { method: DELIVERY_METHOD_POLL, endpoint_url: 'https://r.example.com' }
    expect(parseStreamCreateRequest({ delivery })).toEqual({ ok: true, value: { delivery } })
  })

  test.each([
    ['no object', 'x', ''],
    [
      'an unknown method',
      { delivery: { method: 'urn:example:carrier-pigeon' } },
      'delivery.method',
    ],
    ['push without a URL', { delivery: { method: DELIVERY_METHOD_PUSH } }, 'delivery.endpoint_url'],
    [
      'a header that breaks out of its line',
      { delivery: { ...push, authorization_header: 'Bearer a\r\nX: b' } },
      'delivery.authorization_header',
    ],
    ['event types that are no list', { events_requested: 'all' }, 'events_requested'],
  ])('with %s are refused, naming the place', (_title, body, path) => {
    const parsed = parseStreamCreateRequest(body)
    expect(parsed).toMatchObject({ ok: false, issues: [{ path }] })
  })
})

describe('update requests', () => {
  test('need a stream_id', () => {
    expect(parseStreamUpdateRequest({ description: 'x' })).toMatchObject({
      ok: false,
      issues: [{ path: 'stream_id' }],
    })
  })

  test('keep apart what the receiver may change and what it must repeat', () => {
    expect(parseStreamUpdateRequest({ stream_id: 's', description: 'x', aud: 'a' })).toEqual({
      ok: true,
      value: {
        stream_id: 's',
        supplied: { description: 'x' },
        transmitterMembers: { stream_id: 's', aud: 'a' },
      },
    })
  })

  test('tell a description that is removed from one that is left as it is', () => {
    const suppliedBy = (members: object) => {
      const parsed = parseStreamUpdateRequest({ stream_id: 's', ...members })
      return parsed.ok ? parsed.value.supplied : undefined
    }
    expect(suppliedBy({ description: null })).toEqual({ description: null })
    expect(suppliedBy({ events_requested: null })).toEqual({})
  })

  test('may repeat members of the transmitter, but not change them', () => {
    const current = { stream_id: 's', iss: 'i', aud: ['a', 'b'], events_delivered: ['x', 'y'] }
    expect(findChangedTransmitterMember(current, current)).toBeUndefined()
    expect(findChangedTransmitterMember({ events_delivered: ['y', 'x'] }, current)).toBeUndefined()
    expect(findChangedTransmitterMember({ aud: 'a' }, current)).toBe('aud')
    expect(findChangedTransmitterMember({ events_delivered: [] }, current)).toBe('events_delivered')
    expect(findChangedTransmitterMember({ inactivity_timeout: 5 }, current)).toBe(
      'inactivity_timeout',
    )
  })

  test('may repeat the one audience in the other of its two forms', () => {
    const current = { stream_id: 's', iss: 'i', aud: 'a', events_delivered: [] }
    expect(findChangedTransmitterMember({ aud: ['a'] }, current)).toBeUndefined()
    expect(findChangedTransmitterMember({ aud: 'a' }, { ...current, aud: ['a'] })).toBeUndefined()
    for (const aud of [['a', 'b'], [], ['b'], 'b', [['a']], null]) {
      expect(findChangedTransmitterMember({ aud }, current)).toBe('aud')
    }
  })
})

test('a stream configuration is read with extra members and without events_delivered', () => {
  const body = { stream_id: 's', iss: 'i', aud: 'a', delivery: push, name: 'extra' }
  expect(parseStreamConfiguration(body)).toEqual({
    ok: true,
    value: { ...body, events_delivered: [] },
  })
})

test('status, subject and verification requests are read by SSF 1.0 section 8.1', () => {
  expect(parseStreamStatusMessage({ stream_id: 's', status: 'paused' }).ok).toBe(true)
  expect(parseStreamStatusMessage({ stream_id: 's', status: 'asleep' }).ok).toBe(false)
  expect(parseVerificationRequest(ssf.verificationRequest)).toEqual({
    ok: true,
    value: ssf.verificationRequest,
  })
  const subject = { format: 'email', email: 'user@example.com' }
  expect(parseStreamSubjectRequest({ stream_id: 's', subject })).toEqual({
    ok: true,
    value: { stream_id: 's', subject, verified: true },
  })
  expect(parseStreamSubjectRequest({ stream_id: 's', subject: {} })).toMatchObject({
    ok: false,
    issues: [{ path: 'subject.format' }],
  })
})

describe('discovery', () => {
  test('puts the well-known part between host and path', () => {
    const at = 'https://tr.example.com/.well-known/ssf-configuration'
    expect(wellKnownConfigurationUrl('https://tr.example.com')).toBe(at)
    expect(wellKnownConfigurationUrl('https://tr.example.com/')).toBe(at)
    expect(wellKnownConfigurationUrl('https://tr.example.com/issuer1')).toBe(`${at}/issuer1`)
    expect(wellKnownConfigurationUrl('https://tr.example.com/issuer1/')).toBe(`${at}/issuer1`)
    expect(() => wellKnownConfigurationUrl('https://tr.example.com/?a=b')).toThrow(RangeError)
    expect(() => wellKnownConfigurationUrl('tr.example.com')).toThrow(RangeError)
  })

  test('documents leave out empty arrays and may carry extra members', () => {
    const document = {
      issuer: 'https://tr.example.com',
      critical_subject_members: [],
      authorization_schemes: [{ spec_urn: 'urn:ietf:rfc:6749' }],
      events_supported: [DEVICE_COMPLIANCE_CHANGE],
    }
    expect(withoutEmptyArrays(document)).not.toHaveProperty('critical_subject_members')
    expect(parseTransmitterConfiguration(document).ok).toBe(true)
    expect(parseTransmitterConfiguration({ ...document, default_subjects: 'SOME' }).ok).toBe(false)
  })
})

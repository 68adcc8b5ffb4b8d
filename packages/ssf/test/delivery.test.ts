import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  buildPollResponse,
  isPushAccepted,
  isRecoverableSetError,
  parsePollRequest,
  parsePollResponse,
  parsePushError,
  SET_ERROR_CODES,
  SET_MEDIA_TYPE,
} from '../src/index.ts'
import push from '../vectors/rfc8935-2.json' with { type: 'json' }
import poll from '../vectors/rfc8936-2.4.json' with { type: 'json' }

const limits = { acknowledgementsMax: 3 }
const noErrors = new Map()

describe('poll requests', () => {
  test('of RFC 8936 section 2.4 are read with their meaning', () => {
    const ack = ['3d0c3cf797584bd193bd0fb1bd4e7d30']
    const read = (body: unknown) => parsePollRequest(body, limits)
    expect(read(poll.defaultPoll)).toEqual({ ok: true, value: { ack: [], setErrs: noErrors } })
    expect(read(poll.pollOnly)).toMatchObject({ value: { returnImmediately: true } })
    expect(read(poll.acknowledgeOnly)).toMatchObject({ value: { ack, maxEvents: 0 } })
    expect(read(poll.pollWithAcknowledgement)).toMatchObject({
      value: { ack, returnImmediately: false },
    })
    expect(read(poll.pollWithErrors)).toMatchObject({
      value: { ack, setErrs: new Map(Object.entries(poll.pollWithErrors.setErrs)) },
    })
  })

  test('of clients in the field are understood: max_events, stream_id, timeoutSecs, nulls', () => {
    const body = { max_events: 5, stream_id: 's1', timeoutSecs: 10, ack: null, setErrs: null }
    expect(parsePollRequest(body, limits)).toEqual({
      ok: true,
      value: { maxEvents: 5, ack: [], setErrs: noErrors, timeoutSecs: 10 },
    })
    expect(parsePollRequest({ maxEvents: 1, max_events: 5 }, limits)).toMatchObject({
      value: { maxEvents: 1 },
    })
  })

  test('with a repeated acknowledgement count it once', () => {
    expect(parsePollRequest({ ack: ['a', 'a', 'b'] }, limits)).toMatchObject({
      value: { ack: ['a', 'b'] },
    })
  })

  test.each([
    ['no object', []],
    ['a negative maxEvents', { maxEvents: -1 }],
    ['a fractional maxEvents', { maxEvents: 1.5 }],
    ['acknowledgements that are no strings', { ack: [1] }],
    ['an error without a code', { setErrs: { a: { description: 'x' } } }],
    ['too many ids', { ack: ['a', 'b'], setErrs: { c: { err: 'x' }, d: { err: 'x' } } }],
  ])('with %s are refused', (_title, body) => {
    expect(parsePollRequest(body, limits).ok).toBe(false)
  })
})

test('a refused error is named by the id that it was sent for', () => {
  const parsed = parsePollRequest({ setErrs: { 'id-1': { description: 'x' } } }, limits)
  expect(parsed).toMatchObject({
    ok: false,
    issues: [{ path: 'setErrs.id-1.err', message: 'this is required: a string' }],
  })
})

describe('poll responses', () => {
  test('carry sets always and moreAvailable only when true', () => {
    expect(buildPollResponse([], false)).toEqual({ sets: {} })
    expect(buildPollResponse([['a', 't']], true)).toEqual({ sets: { a: 't' }, moreAvailable: true })
  })

  test('keep an id that is also the name of an object member', () => {
    const body: unknown = JSON.parse('{"sets":{"__proto__":"t","constructor":"u"}}')
    const sets = new Map([
      ['__proto__', 't'],
      ['constructor', 'u'],
    ])
    expect(parsePollResponse(body)).toMatchObject({ value: { sets } })
    expect(JSON.stringify(buildPollResponse(sets, false))).toBe(JSON.stringify(body))
  })

  test('are read although some of their entries are none', () => {
    const sets = { a: 't', b: null, c: 1, d: { e: 'f' }, '': 't', g: 'u' }
    expect(parsePollResponse({ sets })).toMatchObject({
      value: {
        sets: new Map([
          ['a', 't'],
          ['g', 'u'],
        ]),
        malformed: ['b', 'c', 'd'],
      },
    })
    expect(parsePollResponse({ sets: [] }).ok).toBe(false)
  })

  test('are read back as they were built', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ minLength: 1 }), fc.string()),
        fc.boolean(),
        (sets, isMoreAvailable) => {
          const response = buildPollResponse(Object.entries(sets), isMoreAvailable)
          const read = parsePollResponse(JSON.parse(JSON.stringify(response)))
          expect(read).toEqual({
            ok: true,
            value: { sets: new Map(Object.entries(sets)), malformed: [], isMoreAvailable },
          })
        },
      ),
    )
  })
})

describe('push answers', () => {
  test('ssf-T120 of RFC 8935 section 2 are read', () => {
    expect(SET_MEDIA_TYPE).toBe(push.contentType)
    expect(isPushAccepted(push.successStatus)).toBe(true)
    for (const error of push.errors) {
      expect(parsePushError(400, 'application/json', JSON.stringify(error))).toEqual({
        status: 400,
        code: error.err,
        err: error.err,
        description: error.description,
      })
    }
  })

  test('are accepted with any 2xx and nothing else', () => {
    expect([200, 202, 204, 299].every(isPushAccepted)).toBe(true)
    expect([100, 301, 400, 500].some(isPushAccepted)).toBe(false)
  })

  test('with an unregistered word keep it without taking it for a code', () => {
    expect(parsePushError(400, undefined, '{"err":"jwtAud","description":"x"}')).toEqual({
      status: 400,
      err: 'jwtAud',
      description: 'x',
    })
  })

  test('with a problem document, text, markup or nothing give what can be shown', () => {
    expect(parsePushError(503, 'application/problem+json', '{"title":"Busy"}')).toEqual({
      status: 503,
      description: 'Busy',
    })
    expect(parsePushError(500, 'text/plain', ' broken \u0000')).toEqual({
      status: 500,
      description: 'broken',
    })
    expect(parsePushError(502, 'text/html', '<html></html>')).toEqual({ status: 502 })
    expect(parsePushError(400, undefined, '')).toEqual({ status: 400 })
  })

  test('never make the reader throw, and what is kept is bounded and storable', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (body) => {
        const error = parsePushError(400, 'application/json', body)
        expect(error.status).toBe(400)
        expect((error.description ?? '').length).toBeLessThanOrEqual(1024)
        expect(error.description ?? '').not.toContain('\u0000')
      }),
    )
  })
})

test('only refusals that new keys or credentials can mend are worth another try', () => {
  expect(SET_ERROR_CODES.filter(isRecoverableSetError)).toEqual([
    'invalid_key',
    'authentication_failed',
    'access_denied',
  ])
})

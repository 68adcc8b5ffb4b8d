import { describe, expect, it } from 'vitest'
import { parseEventQuery } from './parse-event-query.ts'

const UUID = '5b0f6a6e-6a0e-4d0c-9d53-0d0f3a3f7c11'
const ULID = '01ARZ3NDEKTSV4RRFFQ69G5FAV'
const REQUEST = `req_${'a'.repeat(32)}`

describe('what an event is looked for by', () => {
  it.each([
    [UUID, ['event_id']],
    [ULID, ['txn', 'event_id']],
    [REQUEST, ['request_id']],
    ['17', ['device_id']],
    ['ada@example.com', ['email']],
    [`jti:${UUID}`, ['event_id']],
    ['person_id:3', ['person_id']],
    ['device_id: "3"', ['device_id']],
    [`txn:"${ULID}"`, ['txn']],
  ])('is told by the form of %s', (text, kinds) => {
    expect(parseEventQuery(text).map(({ kind }) => kind)).toEqual(kinds)
  })

  it.each(['', 'hello', 'device_id:x', 'name:Ada', 'device_id:', 'a\0b', 'x'.repeat(300)])(
    'cannot be %j',
    (text) => {
      expect(() => parseEventQuery(text)).toThrow(
        expect.objectContaining({ code: 'invalid_search' }) as Error,
      )
    },
  )
})

import { describe, expect, test } from 'vitest'
import {
  parseStreamReplayAnswer,
  parseStreamReplayRequest,
  parseStreamState,
  readStreamSequence,
  streamReplayUrl,
  streamStateUrl,
} from '../src/index.ts'

const ENDPOINT = 'https://transmitter.example.com/ssf/streams'

describe('the number of a SET', () => {
  test('is read when it is a positive whole number, and nothing else is one', () => {
    expect(readStreamSequence({ heliograph_sequence: 7 })).toBe(7)
    for (const value of [undefined, null, '7', 0, -1, 1.5, 2 ** 53]) {
      expect(readStreamSequence({ heliograph_sequence: value })).toBeUndefined()
    }
  })
})

describe('the state of a stream', () => {
  const entry = {
    sub_id: { format: 'iss_sub', iss: 'https://transmitter.example.com', sub: '17' },
    status: 'not-compliant',
    event_timestamp: 1_700_000_000,
    jti: 'a',
    sequence: 3,
  }
  const page = { as_of_sequence: 3, as_of: 1_700_000_001, subjects: [entry], next_cursor: null }

  test('is read with its subjects, told by a SET or by none', () => {
    const untold = { ...entry, jti: null, sequence: null }
    const body = { ...page, subjects: [entry, untold], next_cursor: 'x', later: true }
    expect(parseStreamState(body)).toEqual({
      ok: true,
      value: { ...page, subjects: [entry, untold], next_cursor: 'x' },
    })
  })

  test.each([
    ['subjects.0.sub_id', { subjects: [{ ...entry, sub_id: { format: 'complex' } }] }],
    [
      'subjects.0.sub_id.sub',
      { subjects: [{ ...entry, sub_id: { format: 'iss_sub', iss: 'x' } }] },
    ],
    ['subjects.0.status', { subjects: [{ ...entry, status: 'good' }] }],
    ['subjects.0.sequence', { subjects: [{ ...entry, sequence: 0 }] }],
    ['as_of_sequence', { as_of_sequence: -1 }],
    ['next_cursor', { next_cursor: undefined }],
  ])('is refused for its %s', (path, change) => {
    const parsed = parseStreamState({ ...page, ...change })
    expect(parsed).toMatchObject({ ok: false, issues: [{ path }] })
  })

  test('and its replay are beside the configuration endpoint', () => {
    expect(streamStateUrl(ENDPOINT, 'a/b')).toBe(`${ENDPOINT}/a%2Fb/state`)
    expect(streamReplayUrl(`${ENDPOINT}/`, 'a')).toBe(`${ENDPOINT}/a/replay`)
  })
})

describe('a replay', () => {
  test.each([{ from_sequence: 1 }, { from_jti: 'a' }, { from_time: 0 }])('begins at %j', (body) => {
    expect(parseStreamReplayRequest(body)).toEqual({ ok: true, value: body })
  })

  test.each([
    {},
    { from_sequence: 1, from_jti: 'a' },
    { from_sequence: 0 },
    { from_jti: '' },
    { from_time: -1 },
    null,
  ])('cannot begin at %j', (body) => {
    expect(parseStreamReplayRequest(body)).toMatchObject({ ok: false })
  })

  test('is answered with what is sent again', () => {
    const answer = { queued: 2, first_sequence: 1, last_sequence: 2, complete: false }
    expect(parseStreamReplayAnswer(answer)).toEqual({ ok: true, value: answer })
    expect(parseStreamReplayAnswer({ ...answer, complete: 'no' }).ok).toBe(false)
  })
})

import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { toWire } from './to-wire.ts'

const schema = z.object({
  id: z.string(),
  stream_id: z.string(),
  seen_at: z.string().nullable(),
  country: z.string().optional(),
  count: z.int(),
})

const row = {
  id: '1',
  streamId: 'abc',
  seenAt: new Date('2026-01-02T03:04:05.678Z'),
  country: null,
  count: '7',
  secret: 'never shown',
}

describe('the wire form of a row', () => {
  it('has what the schema names and nothing else, in the order of the schema', () => {
    const json = toWire(schema, row, { count: Number(row.count) })
    expect(JSON.stringify(json)).toBe(
      '{"id":"1","stream_id":"abc","seen_at":"2026-01-02T03:04:05.678Z","count":7}',
    )
    expect(schema.parse(json)).toEqual(json)
  })

  it('keeps null where the schema takes it, and leaves it out where it does not', () => {
    const json = toWire(schema, { ...row, seenAt: null }, { count: 1 })
    expect(json).toEqual({ id: '1', stream_id: 'abc', seen_at: null, count: 1 })
  })

  it('prefers what is worked out to what the row has', () => {
    expect(toWire(schema, row, { count: 1, stream_id: 'other' }).stream_id).toBe('other')
  })

  it('does not compile without a member that the row does not have as it is shown', () => {
    // @ts-expect-error the row has a text for the count
    toWire(schema, row)
    // @ts-expect-error the row has no id
    toWire(schema, { streamId: 'abc', seenAt: null, country: null }, { count: 1 })
    // @ts-expect-error a count is a number
    toWire(schema, row, { count: '7' })
    // @ts-expect-error there is no such member
    toWire(schema, row, { count: 1, secret: 'x' })
    const whole = { ...row, count: 1 }
    expect(toWire(schema, whole).count).toBe(1)
  })
})

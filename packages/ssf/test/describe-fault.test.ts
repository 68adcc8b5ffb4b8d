import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { describeFault, parseWithSchema } from '@heliograph/ssf'

const CASES: readonly (readonly [words: string, schema: z.ZodType, value: unknown])[] = [
  ['this is required: a string', z.string(), undefined],
  ['this is required: an array', z.array(z.string()), undefined],
  ['this is required', z.object({ subject: z.unknown() }), {}],
  ['must be a string', z.string(), 5],
  ['must be a number', z.number(), Number.NaN],
  ['must be a whole number', z.int(), 0.5],
  ['must be a boolean', z.boolean(), 'yes'],
  ['must be an object', z.record(z.string(), z.string()), []],
  ['must be null', z.null(), 1],
  ['must be "push"', z.literal('push'), 'poll'],
  ['must be one of "push", "poll"', z.enum(['push', 'poll']), 'mail'],
  ['must not be empty', z.string().min(1), ''],
  ['must have at least 2 characters', z.string().min(2), 'a'],
  ['must have at most 1 character', z.string().max(1), 'ab'],
  ['must have at least 1 item', z.array(z.string()).min(1), []],
  ['must be at most 10', z.number().max(10), 11],
  ['must be less than 10', z.number().lt(10), 10],
  ['must be at least 1', z.number().min(1), 0],
  ['must be more than 0', z.number().positive(), 0],
  ['must be a multiple of 5', z.number().multipleOf(5), 3],
  ['must be an email address', z.email(), 'ada'],
  ['must be an ISO 8601 time', z.iso.datetime(), 'today'],
  ['must begin with acct:', z.string().startsWith('acct:'), 'ada'],
  ['must not have the members colour', z.strictObject({}), { colour: 'red' }],
  ['has a form that is not allowed here', z.string().regex(/^a$/), 'b'],
  ['has a form that is not allowed here', z.union([z.string(), z.number()]), true],
]

describe('a fault of a value', () => {
  it.each(CASES)('is told as "%s"', (words, schema, value) => {
    const parsed = parseWithSchema(schema, value)
    expect(parsed).toMatchObject({ ok: false, issues: [{ message: words }] })
  })

  it('of a type is told alone: what else holds for the right type is not about the value', () => {
    const schema = z.object({ types: z.array(z.string()).max(3), name: z.string().max(3) })
    expect(parseWithSchema(schema, { types: 'compliance', name: ['a', 'b', 'c', 'd'] })).toEqual({
      ok: false,
      issues: [
        { path: 'types', message: 'must be an array' },
        { path: 'name', message: 'must be a string' },
      ],
    })
  })

  it('is told in the words of the schema where it has some', () => {
    const parsed = parseWithSchema(z.string().min(1, 'must have a name'), '')
    expect(parsed).toMatchObject({ issues: [{ message: 'must have a name' }] })
  })

  it('of a union that is told apart by a member names what that may be', () => {
    const schema = z.discriminatedUnion('format', [
      z.object({ format: z.literal('email') }),
      z.object({ format: z.literal('opaque') }),
    ])
    expect(parseWithSchema(schema, { format: 'did' })).toEqual({
      ok: false,
      issues: [{ path: 'format', message: 'must be one of "email", "opaque"' }],
    })
  })

  it('names of a long choice the beginning', () => {
    const schema = z.enum(Array.from({ length: 60 }, (_, index) => `c${index}`))
    const { error } = schema.safeParse('x', { error: describeFault })
    expect(error?.issues[0]?.message).toMatch(/"c49", \.\.\.$/)
  })
})

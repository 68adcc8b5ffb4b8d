import fc from 'fast-check'
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
} from 'kysely'
import { describe, expect, it } from 'vitest'
import { AppError } from '../app-error.ts'
import { evaluateSearch, type SearchableRecord } from '../../../test/support/evaluate-search.ts'
import { parseSearch, SEARCH_BYTES_MAX } from './parse-search.ts'
import type { SearchExpression, SearchField } from './search-field.ts'
import { searchToSql } from './search-to-sql.ts'
import { parseTimestamp } from './search-value.ts'

const fields: SearchField[] = [
  { name: 'id', type: 'id', operators: [':', '~'], list: true },
  { name: 'name', aliases: ['device_name'], type: 'text', operators: [':', '~'] },
  { name: 'seen_at', type: 'timestamp', operators: ['>', '<'] },
  { name: 'exempted', type: 'boolean', operators: [':'] },
  { name: 'result', type: 'enum', operators: [':'], values: ['Success', 'Fail'] },
  { name: 'count', type: 'integer', operators: [':', '>', '<'] },
]

/** A readable form of an expression: every combination in parentheses. */
function show(expression: SearchExpression | undefined): string {
  if (expression === undefined) return ''
  if (expression.kind !== 'clause')
    return `(${expression.operands.map(show).join(` ${expression.kind} `)})`
  const values = expression.values.map((value) =>
    value instanceof Date ? value.toISOString() : value,
  )
  return `${expression.field.name}${expression.operator}${values.join('|')}`
}

function refusal(text: string): AppError {
  try {
    parseSearch(text, fields)
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error(`"${text}" was accepted`)
}

describe('the search language', () => {
  it.each([
    ['', ''],
    ['   ', ''],
    ['name:ABC', 'name:ABC'],
    ['name:"ABC D"', 'name:ABC D'],
    ['device_name:x', 'name:x'],
    ['name:a:b:c', 'name:a:b:c'],
    ['name : "x"', 'name:x'],
    [String.raw`name:"a \"quoted\" \\ word C:\Users"`, String.raw`name:a "quoted" \ word C:\Users`],
    ['name:""', 'name:'],
    ['name~(x)', 'name~(x)'],
    ['(name:x)', 'name:x'],
    ['seen_at>2024-01-02T03:04:05Z', 'seen_at>2024-01-02T03:04:05.000Z'],
    ['seen_at<"2024-01-02"', 'seen_at<2024-01-02T00:00:00.000Z'],
    ['exempted:TRUE', 'exempted:true'],
    ['result:success', 'result:Success'],
    ['id:["a","b"]', 'id:a|b'],
    ['id:[1, 2 ,3]', 'id:1|2|3'],
    ['name:[1]', 'name:[1]'],
    ['id:1 AND name:x OR name:y', '((id:1 and name:x) or name:y)'],
    ['id:1 or name:x and name:y', '(id:1 or (name:x and name:y))'],
    ['(id:1 OR name:x) AND name:y', '((id:1 or name:x) and name:y)'],
    ['id:1 AND id:2 AND id:3', '(id:1 and id:2 and id:3)'],
    ['((id:1))', 'id:1'],
    ['name:AND AND name:OR', '(name:AND and name:OR)'],
    ['id:1 AND(id:2)', '(id:1 and id:2)'],
  ])('reads %s', (text, meaning) => {
    expect(show(parseSearch(text, fields))).toBe(meaning)
  })

  it.each([
    ['colour:red', 'character 1', '"colour" is not a field'],
    ['name>x', 'character 5', 'It takes : ~'],
    ['name', 'character 5', 'an operator is missing'],
    ['name:', 'character 6', 'a value is missing'],
    ['name:x name:y', 'character 8', 'AND or OR is missing'],
    ['name:John Smith', 'character 11', 'double quotes'],
    ['name:x AND', 'character 11', 'a field is missing'],
    ['AND name:x', 'character 1', '"AND" is not a field'],
    ['(name:x', 'character 8', '")" is missing'],
    ['name:"x', 'character 6', 'closing double quote'],
    ['id:[]', 'character 5', 'list item is missing'],
    ['id:[1', 'character 6', '"]" is missing'],
    ['seen_at>yesterday', 'character 9', 'ISO 8601'],
    ['seen_at>2024-02-30', 'character 9', 'ISO 8601'],
    ['exempted:maybe', 'character 10', 'true or false'],
    ['result:Perhaps', 'character 8', 'one of Success, Fail'],
    ['count:many', 'character 7', 'an integer'],
    ['name:\0', 'character 6', 'null character'],
  ])('refuses %s and says where and what is allowed', (text, place, reason) => {
    const error = refusal(text)
    expect(error.code).toBe('invalid_search')
    expect(error.message).toContain(`${place}.`)
    expect(error.message).toContain(reason)
  })

  it('names the fields and their operators when one is unknown', () => {
    expect(refusal('colour:red').message).toContain('id (: ~), name (: ~), seen_at (> <)')
  })

  it('bounds length, clauses, nesting and lists', () => {
    const clauses = (count: number) => Array.from({ length: count }, () => 'id:1').join(' OR ')
    expect(show(parseSearch(clauses(50), fields))).toContain('id:1')
    expect(refusal(clauses(51)).message).toContain('50 clauses')
    const nested = (depth: number) => `${'('.repeat(depth)}id:1${')'.repeat(depth)}`
    expect(show(parseSearch(nested(10), fields))).toBe('id:1')
    expect(refusal(nested(11)).message).toContain('10 deep')
    const list = (count: number) => `id:[${Array.from({ length: count }, () => '1').join(',')}]`
    expect(refusal(list(101)).message).toContain('100 items')
    expect(refusal(`name:${'x'.repeat(SEARCH_BYTES_MAX)}`).message).toContain('4096 bytes')
  })

  it('answers every text with an expression or with invalid_search', () => {
    const piece = fc.constantFrom(
      'name',
      'id',
      'seen_at',
      ':',
      '~',
      '>',
      '<',
      '"',
      '\\',
      '[',
      ']',
      ',',
      '(',
      ')',
      ' AND ',
      ' or ',
      ' ',
      'x',
      '2024-01-02',
    )
    const text = fc.oneof(
      fc.string(),
      fc.array(piece).map((pieces) => pieces.join('')),
    )
    fc.assert(
      fc.property(text, (candidate) => {
        try {
          parseSearch(candidate, fields)
        } catch (error) {
          expect(error).toBeInstanceOf(AppError)
          expect((error as AppError).code).toBe('invalid_search')
        }
      }),
      { numRuns: 3_000 },
    )
  })

  it('finds every value that is quoted with its quotes and backslashes escaped', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 100 }).filter((value) => !value.includes('\0')),
        (value) => {
          const quoted = `"${value.replace(/["\\]/g, '\\$&')}"`
          const expression = parseSearch(`name:${quoted}`, fields)
          expect(evaluateSearch(expression!, { name: value })).toBe(true)
        },
      ),
    )
  })
})

describe('timestamps', () => {
  it.each([
    ['2024-01-02', '2024-01-02T00:00:00.000Z'],
    ['2024-01-02T03:04', '2024-01-02T03:04:00.000Z'],
    ['2024-01-02T03:04:05.678912Z', '2024-01-02T03:04:05.678Z'],
    ['2024-01-02T03:04:05.6Z', '2024-01-02T03:04:05.600Z'],
    ['2024-01-02T03:04:05+02:00', '2024-01-02T01:04:05.000Z'],
    ['2024-01-02T03:04:05 02:00', '2024-01-02T01:04:05.000Z'],
    ['2024-01-02T03:04:05+02', '2024-01-02T01:04:05.000Z'],
    ['2024-01-02T03:04:05-0530', '2024-01-02T08:34:05.000Z'],
  ])('reads %s', (text, time) => {
    expect(parseTimestamp(text)?.toISOString()).toBe(time)
  })

  it.each([
    '2024-13-01',
    '0000-01-01',
    '2023-02-29',
    '2024-01-02T24:00:00Z',
    '2024-01-02T03:60Z',
    '2024',
    'now',
  ])('does not read %s', (text) => {
    expect(parseTimestamp(text)).toBeUndefined()
  })
})

describe('evaluation', () => {
  const record: SearchableRecord = {
    id: '42',
    name: 'Build Machine',
    seen_at: new Date('2024-01-02T03:04:05.678Z'),
    exempted: false,
    result: null,
    count: 3,
  }

  it.each([
    ['name:"Build Machine"', true],
    ['name:"build machine"', false],
    ['name~MACHINE', true],
    ['id:[1,42]', true],
    ['id~2', true],
    ['seen_at>"2024-01-02T03:04:05.677Z"', true],
    ['seen_at>"2024-01-02T03:04:05.678Z"', false],
    ['exempted:false AND count:3', true],
    ['result:Success', false],
    ['result:Success OR count<4', true],
  ])('%s: %s', (text, met) => {
    expect(evaluateSearch(parseSearch(text, fields)!, record)).toBe(met)
  })
})

describe('translation to SQL', () => {
  const db = new Kysely<Record<string, never>>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (instance) => new PostgresIntrospector(instance),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
  const columns = Object.fromEntries(
    fields.map((field) => [field.name, sql.ref(`device.${field.name}`)]),
  )

  function toStatement(text: string) {
    const { sql: statement, parameters } =
      sql`${searchToSql(parseSearch(text, fields)!, columns)}`.compile(db)
    return [statement, parameters]
  }

  it('binds every value and escapes what LIKE gives a meaning to', () => {
    expect(toStatement(String.raw`name~"50%_\\ off"`)).toEqual([
      '"device"."name" ilike $1',
      [String.raw`%50\%\_\\ off%`],
    ])
    expect(toStatement(`name:"'; drop table device; --"`)).toEqual([
      '"device"."name" = $1',
      [`'; drop table device; --`],
    ])
  })

  it('keeps the grouping of the expression', () => {
    expect(toStatement('(id:1 OR name:x) AND count>2')).toEqual([
      '(("device"."id" in ($1) or "device"."name" = $2) and "device"."count" > $3)',
      ['1', 'x', 2],
    ])
  })

  it('lets a text that is no id match nothing, and compares ids by their decimal text with ~', () => {
    expect(toStatement('id:abc')).toEqual(['false', []])
    expect(toStatement('id:["7","x","9223372036854775808","07"]')).toEqual([
      '"device"."id" in ($1)',
      ['7'],
    ])
    expect(toStatement('id~4')).toEqual(['"device"."id"::text ilike $1', ['%4%']])
  })
})

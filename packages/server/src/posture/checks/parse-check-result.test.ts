import { describe, expect, test } from 'vitest'
import { parseCheckResult, RESULT_ROW_LENGTH_MAX, RESULT_ROWS_MAX } from './parse-check-result.ts'

const row = (status: string, more: Record<string, unknown> = {}) => ({
  KOLIDE_CHECK_STATUS: status,
  ...more,
})
const answer = (rows: unknown[], statusCode = 0, message = '') => ({ rows, statusCode, message })

describe('the verdict of an answer', () => {
  test.each([
    ['one passing row', [row('PASS')], 'passing'],
    ['one failing row', [row('FAIL')], 'failing'],
    ['lower case and white space', [row(' fail ')], 'failing'],
    ['a failure among everything else', [row('PASS'), row('ERROR'), row('FAIL')], 'failing'],
    ['an error without a failure', [row('PASS'), row('ERROR'), row('UNKNOWN')], 'errored'],
    ['unknown beside a pass', [row('PASS'), row('UNKNOWN')], 'unknown'],
    ['a pass beside inapplicable', [row('INAPPLICABLE'), row('PASS')], 'passing'],
    ['only inapplicable', [row('INAPPLICABLE'), row('INAPPLICABLE')], 'inapplicable'],
    ['no row', [], 'errored'],
    ['a row without a status', [{ path: '/' }], 'errored'],
    ['a status nobody knows', [row('MAYBE')], 'errored'],
    ['a status in another column', [{ kolide_check_status: 'FAIL' }], 'errored'],
    ['rows that are no objects', ['FAIL', null, 3, ['FAIL']], 'errored'],
  ])('%s', (_name, rows, expected) => {
    expect(parseCheckResult(answer(rows), null).status).toBe(expected)
  })

  test('an SQL error is errored with the words of the agent, even beside failing rows', () => {
    const parsed = parseCheckResult(
      answer([row('FAIL')], 1, 'distributed query is denylisted'),
      null,
    )
    expect(parsed).toMatchObject({
      status: 'errored',
      errorMessage: 'distributed query is denylisted',
      failures: [],
    })
  })

  test('an SQL error without words names its status', () => {
    expect(parseCheckResult(answer([], 1), null).errorMessage).toBe(
      'The query failed with status 1.',
    )
  })
})

describe('the issues of an answer', () => {
  test('without a primary key all failing rows are one issue', () => {
    const parsed = parseCheckResult(
      answer([row('FAIL', { a: '1' }), row('FAIL', { a: '2' })]),
      null,
    )
    expect(parsed.failures).toEqual([{ issueValue: null, row: row('FAIL', { a: '1' }) }])
  })

  test('with a primary key each value is one issue and duplicates are merged', () => {
    const rows = [
      row('FAIL', { path: '/a' }),
      row('FAIL', { path: '/b' }),
      row('FAIL', { path: '/a' }),
    ]
    const parsed = parseCheckResult(answer(rows), 'path')
    expect(parsed.failures.map((failure) => failure.issueValue)).toEqual(['/a', '/b'])
  })

  test('rows that cannot tell leave their values undecided', () => {
    const rows = [
      row('FAIL', { path: '/a' }),
      row('ERROR', { path: '/b' }),
      row('UNKNOWN', { path: '/c' }),
    ]
    expect([...parseCheckResult(answer(rows), 'path').undecidedValues]).toEqual(['/b', '/c'])
  })

  test('long values stay distinct and short enough to be indexed', () => {
    const rows = ['x', 'y'].map((end) => row('FAIL', { path: 'p'.repeat(5_000) + end }))
    const values = parseCheckResult(answer(rows), 'path').failures.map((f) => f.issueValue)
    expect(new Set(values).size).toBe(2)
    for (const value of values) expect(value?.length).toBeLessThan(450)
  })

  test('no result opens or stores more than the limit, and values beyond it stay undecided', () => {
    const rows = [
      ...Array.from({ length: RESULT_ROWS_MAX }, (_, index) => row('PASS', { path: `ok${index}` })),
      ...Array.from({ length: RESULT_ROWS_MAX + 1 }, (_, index) =>
        row('FAIL', { path: `p${index}` }),
      ),
    ]
    const parsed = parseCheckResult(answer(rows), 'path')
    expect(parsed.status).toBe('failing')
    expect(parsed.rows).toHaveLength(RESULT_ROWS_MAX)
    expect(parsed.rows.every((kept) => kept['KOLIDE_CHECK_STATUS'] === 'FAIL')).toBe(true)
    expect(parsed.failures).toHaveLength(RESULT_ROWS_MAX)
    expect([...parsed.undecidedValues]).toEqual([`p${RESULT_ROWS_MAX}`])
  })
})

describe('the rows of an answer', () => {
  test('a row that is too long keeps its verdict and its primary key', () => {
    const rows = [{ blob: 'x'.repeat(50_000), path: '/a', KOLIDE_CHECK_STATUS: 'FAIL' }]
    const [kept] = parseCheckResult(answer(rows), 'path').rows
    expect(kept).toMatchObject({ path: '/a', KOLIDE_CHECK_STATUS: 'FAIL' })
    expect(JSON.stringify(kept).length).toBeLessThan(RESULT_ROW_LENGTH_MAX + 100)
  })

  test('numbers and null become text, and what PostgreSQL cannot store is replaced', () => {
    const [kept] = parseCheckResult(
      answer([row('PASS', { n: 3, gone: null, text: 'a\0b' })]),
      null,
    ).rows
    expect(kept).toEqual({ KOLIDE_CHECK_STATUS: 'PASS', n: '3', gone: '', text: 'a\uFFFDb' })
  })
})

import { describe, expect, it } from 'vitest'
import { judgeLiveResult } from './judge-live-result.ts'
import { LIVE_RESULT_LENGTH_MAX, LIVE_RESULT_ROWS_MAX } from './live-query.ts'

const answer = (rows: readonly unknown[]) => ({ rows, statusCode: 0, message: '' })

describe('an answer to a live query', () => {
  it('keeps every row of a successful one, none included', () => {
    expect(judgeLiveResult(answer([]))).toEqual({
      state: 'successful',
      rows: [],
      errorMessage: null,
      warningMessage: null,
    })
    expect(judgeLiveResult(answer([{ pid: '1' }, { pid: '2' }])).rows).toHaveLength(2)
  })

  it('keeps values as text, whatever an agent sends', () => {
    const row = {
      text: 'a',
      number: 5,
      truth: true,
      nothing: null,
      odd: { a: 1 },
      bad: 'a\0b\ud800',
    }
    expect(judgeLiveResult(answer([row, 'no row'])).rows).toEqual([
      { text: 'a', number: '5', truth: 'true', nothing: '', odd: '{"a":1}', bad: 'a\ufffdb\ufffd' },
      {},
    ])
  })

  it('is an error in the words of the agent, without rows', () => {
    const message = 'distributed query is denylisted'
    expect(judgeLiveResult({ rows: [{ a: '1' }], statusCode: 1, message })).toEqual({
      state: 'errored',
      rows: [],
      errorMessage: message,
      warningMessage: null,
    })
    expect(judgeLiveResult({ rows: [], statusCode: 21, message: ' ' }).errorMessage).toContain('21')
  })

  it('is cut after the most rows that are kept, with a warning', () => {
    const rows = Array.from({ length: LIVE_RESULT_ROWS_MAX + 1 }, (_, index) => ({ n: `${index}` }))
    const whole = judgeLiveResult(answer(rows.slice(1)))
    expect(whole).toMatchObject({ warningMessage: null })
    const cut = judgeLiveResult(answer(rows))
    expect(cut.rows).toHaveLength(LIVE_RESULT_ROWS_MAX)
    expect(cut).toMatchObject({
      state: 'successful',
      warningMessage: expect.stringContaining('1000 rows') as string,
    })
  })

  it('is cut before it grows too long, with a warning', () => {
    const rows = Array.from({ length: 10 }, () => ({
      text: 'x'.repeat(LIVE_RESULT_LENGTH_MAX / 4),
    }))
    const cut = judgeLiveResult(answer(rows))
    expect(cut.rows).toHaveLength(3)
    expect(JSON.stringify(cut.rows).length).toBeLessThanOrEqual(LIVE_RESULT_LENGTH_MAX)
    expect(cut.warningMessage).toContain(`${LIVE_RESULT_LENGTH_MAX} characters`)
  })
})

import { describe, expect, it } from 'vitest'
import { toCsvLine } from './csv.ts'

describe('a line of CSV', () => {
  it('holds every value in quotes, with quotes doubled and line breaks kept', () => {
    expect(toCsvLine(['a "b"', 'c,d', 'e\nf', null, undefined, 7, true])).toBe(
      '"a ""b""","c,d","e\nf","","","7","true"\r\n',
    )
  })

  it.each([
    ...['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n', ' =1', '\u200B=1', '\u2060=1'],
    ...['＝1', '＋1', '－1', '＠A1', '|x', '%x', '=HYPERLINK("http://x")', `\t\t`],
  ])('makes no formula of %j', (text) => {
    expect(toCsvLine([text]).startsWith(`"'`)).toBe(true)
  })

  it.each([
    ['a;=1', "a;'=1"],
    ['a; "=1";2', `a; ""'=1"";2`],
    ["x;=cmd|'/c calc'!A1;", "x;'=cmd|'/c calc'!A1;"],
    ['a\n=1', "a\n'=1"],
    ['a\r\n @A1', "a\r\n '@A1"],
    ['a\t-1', "a\t'-1"],
    ['a;＝1', "a;'＝1"],
    ['a;b-c; d=e', 'a;b-c; d=e'],
  ])('makes none of %j either where fields are separated by other signs', (text, safe) => {
    expect(toCsvLine([text])).toBe(`"${safe}"\r\n`)
  })

  it.each(['\t', '\n ', ';"', 'a; '])(
    'costs no more where 200,000 signs are %j than for other text',
    (part) => {
      const cpuMs = (text: string) => {
        const before = process.cpuUsage()
        toCsvLine([text])
        const { user, system } = process.cpuUsage(before)
        return (user + system) / 1000
      }
      const textOf = (sign: string) => sign.repeat(200_000 / sign.length)
      expect(cpuMs(textOf(part))).toBeLessThan(300 + 50 * cpuMs(textOf('a')))
    },
  )

  it('leaves numbers and harmless texts as they are', () => {
    expect(toCsvLine([-5, 'a=b', '2026-01-02', 'x-1'])).toBe('"-5","a=b","2026-01-02","x-1"\r\n')
  })

  it('writes what has members as JSON', () => {
    expect(toCsvLine([{ a: '=1' }, ['=1'], ['a;=1']])).toBe(
      `"{""a"":""=1""}","[""=1""]","[""a;'=1""]"\r\n`,
    )
  })
})

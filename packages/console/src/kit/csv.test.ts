import { describe, expect, it } from 'vitest'
import { toCsv } from './csv.ts'

const toLine = (value: unknown) => toCsv(['value'], [{ value }]).split('\r\n').slice(1).join('\r\n')

describe('a table as CSV', () => {
  it('holds every value in quotes, with quotes doubled and line breaks kept', () => {
    expect(toCsv(['a', 'b'], [{ a: 'x "y"', b: 'c,d\ne' }, { a: null }])).toBe(
      '\uFEFF"a","b"\r\n"x ""y""","c,d\ne"\r\n"",""\r\n',
    )
  })

  it.each(['=1+1', '+x', '-x', '@SUM(A1)', '\t=1', ' =1', '\u200B=1', '＝1', '＠A1', '|x', '%x'])(
    'makes no formula of %j',
    (text) => {
      expect(toLine(text).startsWith(`"'`)).toBe(true)
    },
  )

  it.each([
    ['a;=1', "a;'=1"],
    ['a; "=1";2', `a; ""'=1"";2`],
    ["x;=cmd|'/c calc'!A1;", "x;'=cmd|'/c calc'!A1;"],
    ['a\t-1', "a\t'-1"],
    ['a;b-c; d=e', 'a;b-c; d=e'],
  ])('makes none of %j either where cells are separated by other signs', (text, safe) => {
    expect(toLine(text)).toBe(`"${safe}"\r\n`)
  })

  it.each(['\t', '\n ', ';"', 'a; '])(
    'costs no more where 200,000 signs are %j than for other text',
    (part) => {
      const cpuMs = (text: string) => {
        const before = process.cpuUsage()
        toLine(text)
        const { user, system } = process.cpuUsage(before)
        return (user + system) / 1000
      }
      const textOf = (sign: string) => sign.repeat(200_000 / sign.length)
      expect(cpuMs(textOf(part))).toBeLessThan(300 + 50 * cpuMs(textOf('a')))
    },
  )

  it.each(['-5', '1.5', -7])('leaves the number %j as it is', (value) => {
    expect(toLine(value)).toBe(`"${value}"\r\n`)
  })
})

import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { printJson, printLine, toTable, type CommandIo } from './command-io.ts'

/** Clears the screen, rings, goes back to the beginning of the line, and turns what follows round. */
const HOSTILE = 'a\u001b[2J\u009b1m\u0007\rb\u202ec\u2028d'

function collect() {
  const stdout = new PassThrough()
  return { io: { stdout } as unknown as CommandIo, read: () => String(stdout.read()) }
}

it('shows what a terminal would carry out', () => {
  const { io, read } = collect()
  printLine(io, `The device ${HOSTILE} is Blocked, not\nZoë 👩‍💻`)
  expect(read()).toBe(
    'The device a\\u001b[2J\\u009b1m\\u0007\\u000db\\u202ec\\u2028d is Blocked, not\\u000aZoë 👩‍💻\n',
  )
})

it('keeps a row of a table on its line, and aligned', () => {
  const items = [{ name: 'one\ntwo\t' }, { name: 'three' }]
  expect(toTable(items, { NAME: ({ name }) => name, ENDS: () => '-' })).toEqual([
    'NAME                ENDS',
    'one\\u000atwo\\u0009  -',
    'three               -',
  ])
})

it('prints JSON that reads as the same values', () => {
  const { io, read } = collect()
  printJson(io, { name: HOSTILE })
  const text = read()
  expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u)
  expect(JSON.parse(text)).toEqual({ name: HOSTILE })
})

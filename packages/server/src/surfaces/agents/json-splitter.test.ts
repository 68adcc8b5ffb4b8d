import { describe, expect, test } from 'vitest'
import { JsonSplitter, type JsonPlace } from './json-splitter.ts'

/** What is told of a message that arrives in pieces of this many bytes. */
function split(message: string, pieceBytes = 7, valueBytesMax = 1_000) {
  const told: [string, string | undefined][] = []
  const splitter = new JsonSplitter({
    cutMembers: new Set(['data', 'queries']),
    valueBytesMax,
    onValue: (place, text) => told.push([toPath(place), text]),
  })
  const bytes = Buffer.from(message)
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    splitter.write(bytes.subarray(at, at + pieceBytes))
  }
  splitter.end()
  return told
}

function toPath({ member, name, isPart }: JsonPlace): string {
  return isPart ? `${member}/${name ?? '*'}` : member
}

describe('the pieces of a message', () => {
  const message =
    ' { "node_key" : "k\\"ey" , "n":-1.5e3,"t" :true, "o":{"a":[1,"]}"]},\n' +
    '"data":[ {"a":"}"} , 2,"x" ,[] ],"queries" : {"q\\u0031":[{"é":"ü"}],"empty":""} , "data2":[1] } '
  const expected = [
    ['node_key', '"k\\"ey"'],
    ['n', '-1.5e3'],
    ['t', 'true'],
    ['o', '{"a":[1,"]}"]}'],
    ['data/*', '{"a":"}"}'],
    ['data/*', '2'],
    ['data/*', '"x"'],
    ['data/*', '[]'],
    ['queries/q1', '[{"é":"ü"}]'],
    ['queries/empty', '""'],
    ['data2', '[1]'],
  ]

  test.each([1, 2, 3, 5, 64, 1_000])('are the same in pieces of %i bytes', (pieceBytes) => {
    expect(split(message, pieceBytes)).toEqual(expected)
  })

  test('of empty containers there are none', () => {
    expect(split('{}')).toEqual([])
    expect(split('{"data":[],"queries":{}}')).toEqual([])
  })

  test('a member that should be cut and is no container is told as it is', () => {
    expect(split('{"data":"x","queries":null}')).toEqual([
      ['data', '"x"'],
      ['queries', 'null'],
    ])
  })

  test('values that are too long are told without their text, and what follows is read', () => {
    const long = `"${'x'.repeat(50)}"`
    expect(split(`{"data":[${long},1],"a":${long},"b":2}`, 16, 40)).toEqual([
      ['data/*', undefined],
      ['data/*', '1'],
      ['a', undefined],
      ['b', '2'],
    ])
  })

  test('are held until their end, and no longer than they may be', () => {
    const splitter = new JsonSplitter({
      cutMembers: new Set(),
      valueBytesMax: 20,
      onValue: () => undefined,
    })
    const heldAfter = ['{"a":"', 'xxxx', 'xxxxx",', '"b":"xxxxxxxxxx', 'xxxxxxxxxx', '"}'].map(
      (text) => {
        splitter.write(Buffer.from(text))
        return splitter.heldBytes
      },
    )
    expect(heldAfter).toEqual([1, 5, 0, 11, 0, 0])
  })

  test.each([
    '',
    '[]',
    'null',
    '{',
    '{"a"',
    '{"a":1',
    '{"a":1]',
    '{"a" 1}',
    '{a:1}',
    '{"a":1,}',
    '{,}',
    '{"a":}',
    '{"data":[1,]}',
    '{"data":[1}',
    '{"queries":{"a":1]}',
    '{"data":[1,2',
    '{"a":"x',
    '{} {}',
    `{"a":${'['.repeat(101)}`,
  ])('%j is refused', (message) => {
    expect(() => split(message)).toThrow(expect.objectContaining({ code: 'malformed_json' }))
  })

  test('agree with JSON.parse on whatever JSON.stringify writes', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const value = randomObject(seed)
      const told = split(JSON.stringify(value, null, seed % 3), 1 + (seed % 11), 100_000)
      const read = Object.fromEntries(
        told.map(([name, text]): [string, unknown] => [name, JSON.parse(text ?? '')]),
      )
      expect(read).toEqual(value)
    }
  })
})

function randomObject(seed: number): Record<string, unknown> {
  let state = seed
  const next = (bound: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * bound)
  }
  const words = ['', 'a"b', '\\', '\\"', '{', ']', 'ü', '\n', '\u2028', ',', ': ']
  const value = (depth: number): unknown => {
    const kind = next(depth > 3 ? 4 : 6)
    if (kind === 0) return next(1_000) - 500
    if (kind === 1) return words[next(words.length)]
    if (kind === 2) return next(2) === 0
    if (kind === 3) return null
    const items = Array.from({ length: next(4) }, () => value(depth + 1))
    return kind === 4
      ? items
      : Object.fromEntries(items.map((item, n) => [`${n}${words[n]}`, item]))
  }
  return Object.fromEntries(Array.from({ length: next(6) }, (_, n) => [`m${n}"`, value(0)]))
}

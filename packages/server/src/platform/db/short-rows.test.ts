import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RowCutter } from './short-rows.ts'

type Fields = readonly (string | null)[]

function toMessage(kind: string, content: Buffer): Buffer {
  const header = Buffer.from(`${kind}0000`)
  header.writeUInt32BE(content.length + 4, 1)
  return Buffer.concat([header, content])
}

function toRowMessage(fields: Fields): Buffer {
  const parts = fields.map((field) => {
    const text = Buffer.from(field ?? '')
    const length = Buffer.alloc(4)
    length.writeInt32BE(field === null ? -1 : text.length)
    return Buffer.concat([length, text])
  })
  const count = Buffer.alloc(2)
  count.writeInt16BE(fields.length)
  return toMessage('D', Buffer.concat([count, ...parts]))
}

/** What comes of bytes that arrive in these parts: rows, and between them what is left to the driver. */
function cut(parts: readonly Buffer[]): (Fields | Buffer)[] {
  const heard: (Fields | Buffer)[] = []
  const cutter = new RowCutter({
    onRow: ({ fields }) => heard.push(fields),
    onOthers: (bytes) => {
      const last = heard.at(-1)
      if (Buffer.isBuffer(last)) heard[heard.length - 1] = Buffer.concat([last, bytes])
      else heard.push(Buffer.from(bytes))
    },
  })
  for (const part of parts) cutter.take(part)
  return heard
}

const rows = fc.array(fc.option(fc.string({ unit: 'grapheme', maxLength: 30 })), { maxLength: 6 })
const messages = fc.array(
  fc.oneof(
    rows.map(toRowMessage),
    fc.uint8Array({ maxLength: 20 }).map((content) => toMessage('C', Buffer.from(content))),
  ),
  { minLength: 1, maxLength: 8 },
)

describe('rows of a server', () => {
  it('are read as they are, whatever the parts in which they arrive; nothing else is lost or moved', () => {
    fc.assert(
      fc.property(messages, fc.array(fc.nat({ max: 400 }), { maxLength: 6 }), (sent, cuts) => {
        const bytes = Buffer.concat(sent)
        const ends = [...new Set([...cuts, bytes.length])]
          .filter((end) => end <= bytes.length)
          .sort((left, right) => left - right)
        const parts = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
        const heard = cut(parts).map((one) => (Buffer.isBuffer(one) ? one : toRowMessage(one)))
        expect(Buffer.concat(heard)).toEqual(bytes)
      }),
    )
  })

  it('have their texts and nulls', () => {
    expect(
      cut([toRowMessage(['7', null, '', 'a text']), toMessage('Z', Buffer.from('I'))]),
    ).toEqual([['7', null, '', 'a text'], toMessage('Z', Buffer.from('I'))])
  })

  it('are left to the driver with other letters than those of ASCII, and when they are long', () => {
    const letters = toRowMessage(['Zoë'])
    const long = toRowMessage(['x'.repeat(5_000)])
    expect(cut([letters, long])).toEqual([Buffer.concat([letters, long])])
  })
})

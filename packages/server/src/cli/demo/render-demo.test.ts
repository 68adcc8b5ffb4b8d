import { describe, expect, it } from 'vitest'
import { createGuide, toGuideLines } from './demo-guide.ts'
import { compareDevices, type BoardDevice } from './device-board.ts'
import { EventTally } from './event-tally.ts'
import { renderDemo, rowsOf, type DemoSnapshot } from './render-demo.ts'
import { cell, lineWidth, span, toText } from './styled-text.ts'
import { toFrame } from './terminal-screen.ts'

const GUIDE = createGuide('http://127.0.0.1:8080', `k2sk_v1_${'a'.repeat(44)}`)
const SIZES = [
  { columns: 20, rows: 5 },
  { columns: 40, rows: 12 },
  { columns: 80, rows: 24 },
  { columns: 100, rows: 40 },
  { columns: 149, rows: 60 },
  { columns: 220, rows: 50 },
  { columns: 300, rows: 120 },
]

function aDevice(index: number, changes: Partial<BoardDevice> = {}): BoardDevice {
  return {
    id: String(index),
    name: `ada-macbook-${String(index).padStart(4, '0')}.example.com`,
    platform: 'Mac',
    owner: 'Ada Okafor',
    authState: 'Good',
    openIssues: [],
    isThisMachine: false,
    ...changes,
  }
}

function aSnapshot(changes: Partial<DemoSnapshot> = {}): DemoSnapshot {
  const tally = new EventTally()
  for (const method of ['push', 'poll'] as const) {
    tally.addVerified({
      method,
      receivedAtMs: 1_767_323_045_000,
      jti: `event-${method}`,
      deviceId: '1',
      previousStatus: 'compliant',
      currentStatus: 'not-compliant',
      kind: 'device-compliance-change',
      latencyMs: 24,
    })
  }
  const blocked = aDevice(1, { authState: 'Blocked', openIssues: ['The firewall is off'] })
  const devices = [blocked, ...Array.from({ length: 30 }, (_, index) => aDevice(index + 2))]
  return {
    guide: GUIDE,
    elapsedMs: 65_000,
    durationMs: undefined,
    devices,
    deviceName: (id) => devices.find((device) => device.id === id)?.name,
    counts: { checkIns: 1_234, results: 5_678 },
    tally: tally.summarise(),
    notice: undefined,
    ...changes,
  }
}

function textOf(snapshot: DemoSnapshot, size: { columns: number; rows: number }): string {
  return renderDemo(snapshot, size)
    .map((line) => toText(line, false))
    .join('\n')
}

describe('the view of the demo', () => {
  it.each(SIZES)('fits a terminal of $columns by $rows', (size) => {
    const lines = renderDemo(aSnapshot(), size)
    const rows = lines.reduce((sum, line) => sum + rowsOf(line, size.columns), 0)
    expect(rows).toBeLessThanOrEqual(size.rows)
  })

  it('shows status, reason, counts, events and latency', () => {
    const text = textOf(aSnapshot(), { columns: 120, rows: 50 })
    expect(text).toMatch(/ada-macbook-0001 +Mac +Ada Okafor +Blocked +The firewall is off/)
    expect(text).toMatch(/31 devices +30 Good +0 Notified +0 Will Block +1 Blocked/)
    expect(text).toMatch(/Events verified +push 1 +poll 1 +bad signatures 0/)
    expect(text).toMatch(/Latency +push p50 24 ms, p99 24 ms +poll p50 24 ms, p99 24 ms/)
    expect(text).toMatch(/push ada-macbook-0001 +compliant → not-compliant +24 ms +✓ signature/)
    expect(text).toContain('1,234 check-ins, 5,678 check results')
  })

  it('says what it leaves out where there is no room for every device', () => {
    expect(textOf(aSnapshot(), { columns: 80, rows: 24 })).toMatch(/… and \d+ more: \d+ Good/)
  })

  it('keeps every command in one piece, so that it can be copied', () => {
    const lines = renderDemo(aSnapshot(), { columns: 80, rows: 40 }).map((line) =>
      toText(line, false),
    )
    for (const command of GUIDE.curlLines) expect(lines).toContain(command)
  })

  it('shows how far a demo with an end has come', () => {
    expect(textOf(aSnapshot({ durationMs: 90_000 }), { columns: 80, rows: 24 })).toContain(
      '1:05 of 1:30',
    )
  })

  it('lets no text of a device reach the terminal as an escape sequence', () => {
    const devices = [aDevice(1, { name: 'evil\u001b[2J\u202ename', authState: 'Blocked' })]
    const frame = toFrame(
      renderDemo(aSnapshot({ devices }), { columns: 100, rows: 40 }),
      { columns: 100, rows: 40 },
      true,
    )
    expect(frame).not.toContain('\u001b[2J')
    expect(frame).not.toContain('\u202e')
  })
})

describe('a frame', () => {
  it('has no colours when none are wanted', () => {
    const size = { columns: 100, rows: 40 }
    const frame = toFrame(renderDemo(aSnapshot(), size), size, false)
    const cursorMoves = new Set(['[H', '[K', '[J'])
    const sequences = frame
      .split('\u001b')
      .slice(1)
      .map((part) => part.slice(0, 2))
    expect(sequences.filter((sequence) => !cursorMoves.has(sequence))).toEqual([])
  })

  it('erases nothing at the right edge, where the cursor stands on the last character', () => {
    const size = { columns: 10, rows: 3 }
    expect(toFrame([[span('0123456789')]], size, false)).toContain('0123456789\r\n')
  })

  it('never scrolls: it ends without a line feed when it fills the terminal', () => {
    const size = { columns: 10, rows: 2 }
    const frame = toFrame([[span('a')], [span('b')], [span('c')]], size, false)
    expect(frame.endsWith('b\u001b[K')).toBe(true)
  })
})

describe('cells', () => {
  it('have exactly their width', () => {
    expect(cell('abc', 5).text).toBe('abc  ')
    expect(cell('abcdef', 5).text).toBe('abcd…')
    expect(lineWidth([cell('💻💻💻', 2), cell('', 3)])).toBe(5)
  })
})

describe('the order of the devices', () => {
  it('is worst first, then by name', () => {
    const devices = [
      aDevice(3),
      aDevice(1),
      aDevice(2, { authState: 'Will Block' }),
      aDevice(9, { authState: 'Blocked' }),
    ]
    expect(devices.toSorted(compareDevices).map(({ id }) => id)).toEqual(['9', '2', '1', '3'])
  })
})

describe('the guide', () => {
  it('gives the addresses, the key and three commands of curl', () => {
    const lines = toGuideLines(GUIDE)
    expect(lines.filter((line) => line.startsWith('curl '))).toHaveLength(3)
    expect(lines.join('\n')).toContain(GUIDE.key)
    expect(lines.join('\n')).toContain('http://127.0.0.1:8080/docs')
  })
})

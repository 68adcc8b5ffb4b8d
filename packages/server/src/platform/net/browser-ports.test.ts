import { expect, it } from 'vitest'
import { listPorts, readPortRange } from './browser-ports.ts'

const BOUNDS = { countMin: 8, countMax: 1_000 }
const reasonOf = (text: string) => {
  const read = readPortRange(text, BOUNDS)
  return read.ok ? undefined : read.reason
}

it('reads a range', () => {
  const read = readPortRange(' 42000-42063 ', BOUNDS)
  expect(read).toEqual({ ok: true, range: { first: 42_000, last: 42_063 } })
  expect(listPorts({ first: 7, last: 9 })).toEqual([7, 8, 9])
})

it('refuses what is no range, too few or too many ports', () => {
  for (const text of ['42000', '42063-42000', '80-500', '65530-65600', '1,2', '-', 'on']) {
    expect(reasonOf(text), text).toContain('must be two ports')
  }
  expect(reasonOf('42000-42006')).toContain('these are 7')
  expect(reasonOf('42000-43000')).toContain('these are 1001')
})

it('refuses ports that browsers refuse, and names them', () => {
  expect(reasonOf('6660-6680')).toContain('6665, 6666, 6667, 6668, 6669, 6679')
})

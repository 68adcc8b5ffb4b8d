import { describe, expect, it } from 'vitest'
import { StatementNames } from './statement-names.ts'

const UNUSED_MAX_MS = 1_000

function nameAfterUses(names: StatementNames, text: string, nowMs: number): string | undefined {
  for (let use = 0; use < 2; use += 1) expect(names.nameOf(text, nowMs)).toBeUndefined()
  return names.nameOf(text, nowMs)
}

function fill(names: StatementNames, nowMs: number): string[] {
  const texts = Array.from({ length: 400 }, (_, index) => `select ${index}`)
  for (const text of texts) expect(nameAfterUses(names, text, nowMs)).toMatch(/^heliograph_0_/)
  return texts
}

describe('the names of statements', () => {
  it('are given to what is repeated and planned, and stay', () => {
    const names = new StatementNames(UNUSED_MAX_MS)
    const name = nameAfterUses(names, 'select 1', 0)
    expect(names.nameOf('select 1', 5_000)).toBe(name)
    for (let use = 0; use < 5; use += 1) expect(names.nameOf('commit', 0)).toBeUndefined()
  })

  it('make room for others when they were not used for as long as a connection lives', () => {
    const names = new StatementNames(UNUSED_MAX_MS)
    const [first = '', second = ''] = fill(names, 0)
    expect(nameAfterUses(names, 'select new', 1_000)).toBeUndefined()
    const kept = names.nameOf(first, 1_000)
    expect(names.nameOf('select new', 1_001)).toMatch(/^heliograph_0_/)
    expect(names.nameOf(first, 1_001)).toBe(kept)
    expect(names.nameOf(second, 1_001)).toBeUndefined()
  })

  it('are others after what the connections know is outdated, and none for a time after they are abandoned', () => {
    const names = new StatementNames(UNUSED_MAX_MS)
    const name = nameAfterUses(names, 'select 1', 0)
    names.renew()
    const renewed = nameAfterUses(names, 'select 1', 0)
    expect(renewed).toMatch(/^heliograph_1_/)
    expect(renewed).not.toBe(name)
    expect(names.abandon(0)).toEqual({ afterMs: UNUSED_MAX_MS })
    for (let use = 0; use < 5; use += 1) expect(names.nameOf('select 1', 999)).toBeUndefined()
    expect(names.abandon(999)).toBeUndefined()
    expect(nameAfterUses(names, 'select 1', 1_000)).toMatch(/^heliograph_3_/)
  })
})

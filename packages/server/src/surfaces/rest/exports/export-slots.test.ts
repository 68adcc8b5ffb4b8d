import { describe, expect, it } from 'vitest'
import { ExportSlots } from './export-slots.ts'

const REFUSED = expect.objectContaining({ code: 'rate_limited' }) as Error

describe('the places for exports', () => {
  it('are few for a caller, and few for all', () => {
    const slots = new ExportSlots({ max: 3, perCallerMax: 2 })
    slots.take('key:1')
    const second = slots.take('key:1')
    expect(() => slots.take('key:1')).toThrow(REFUSED)
    slots.take('key:2')
    expect(() => slots.take('key:3')).toThrow(REFUSED)
    second()
    slots.take('key:3')
  })

  it('are given back once, however often that is said', () => {
    const slots = new ExportSlots({ max: 2, perCallerMax: 2 })
    const first = slots.take('key:1')
    slots.take('key:1')
    first()
    first()
    slots.take('key:2')
    expect(() => slots.take('key:3')).toThrow(REFUSED)
  })
})

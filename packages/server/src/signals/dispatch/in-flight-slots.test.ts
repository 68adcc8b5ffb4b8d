import { describe, expect, it } from 'vitest'
import { InFlightSlots, type SlotUser } from './in-flight-slots.ts'

class User implements SlotUser {
  inFlightCount = 0
  freeCount = 0
  onSlotFree(): void {
    this.freeCount += 1
  }
}

function takeAll(slots: InFlightSlots, user: User): number {
  while (slots.take(user)) user.inFlightCount += 1
  return user.inFlightCount
}

describe('in-flight slots', () => {
  it('gives a destination its reserve though the others hold everything', () => {
    const slots = new InFlightSlots({ inFlightMax: 10, reservedPerDestination: 2 })
    expect(takeAll(slots, new User())).toBe(10)
    expect(takeAll(slots, new User())).toBe(2)
    expect(slots.inFlightCount).toBe(12)
  })

  it('tells those who wait in the order in which they came, until one takes the slot', () => {
    const slots = new InFlightSlots({ inFlightMax: 1, reservedPerDestination: 0 })
    const told: string[] = []
    const waiter = (name: string, isTaking: boolean): SlotUser => ({
      inFlightCount: 0,
      onSlotFree() {
        told.push(name)
        if (isTaking) slots.take(this)
      },
    })
    slots.take(new User())
    for (const user of [waiter('idle', false), waiter('eager', true), waiter('late', true)]) {
      slots.take(user)
    }
    slots.release()
    expect(told).toEqual(['idle', 'eager'])
    slots.release()
    expect(told).toEqual(['idle', 'eager', 'late'])
  })

  it('does not tell who no longer waits', () => {
    const slots = new InFlightSlots({ inFlightMax: 1, reservedPerDestination: 0 })
    const [holder, leaver] = [new User(), new User()]
    takeAll(slots, holder)
    takeAll(slots, leaver)
    slots.forget(leaver)
    slots.release()
    expect(leaver.freeCount).toBe(0)
  })
})

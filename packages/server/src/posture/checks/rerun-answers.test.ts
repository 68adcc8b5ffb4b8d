import { describe, expect, it } from 'vitest'
import { MINUTE_MS } from '../../platform/clock.ts'
import { createRerunAnswers } from './rerun-answers.ts'

/** Counts how often somebody looks, who is answered after so many times. */
function answeredAfter(looksNeeded: number) {
  const looked = { count: 0, isAnswered: async () => (looked.count += 1) >= looksNeeded }
  return looked
}

describe('whoever waits for a device', () => {
  it('looks when it has answered, and at no other time', async () => {
    const answers = createRerunAnswers(MINUTE_MS)
    const looked = answeredAfter(2)
    const answered = answers.begin('7').until(looked.isAnswered, MINUTE_MS)
    answers.hear('8 77')
    answers.hear('7 8')
    await expect.poll(() => looked.count).toBe(1)
    answers.hear('8')
    answers.hear('7')
    expect(await answered).toBe(true)
    expect(looked.count).toBe(2)
  })

  it('misses nothing that came between the beginning and the wait, nor while it looked', async () => {
    const answers = createRerunAnswers(MINUTE_MS)
    const early = answers.begin('7')
    answers.hear('7')
    expect(await early.until(async () => true, MINUTE_MS)).toBe(true)
    const during = answers.begin('7')
    answers.hear('7')
    let looks = 0
    const isAnswered = async () => {
      looks += 1
      if (looks === 1) answers.hear('7')
      return looks === 2
    }
    expect(await during.until(isAnswered, MINUTE_MS)).toBe(true)
  })

  it('looks when notifications may have been missed, and by itself now and then', async () => {
    const deaf = createRerunAnswers(MINUTE_MS)
    const waiting = deaf.begin('7').until(async () => true, MINUTE_MS)
    deaf.hearAll()
    expect(await waiting).toBe(true)
    const looked = answeredAfter(3)
    expect(await createRerunAnswers(1).begin('7').until(looked.isAnswered, MINUTE_MS)).toBe(true)
  })

  it('gives up when the time is over', async () => {
    const wait = createRerunAnswers(MINUTE_MS).begin('7')
    expect(await wait.until(async () => false, 5)).toBe(false)
  })
})

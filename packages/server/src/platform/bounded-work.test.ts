import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createBoundedWork } from './bounded-work.ts'

function newPiece() {
  const piece = { isRunning: false, finish: () => undefined as void, fail: () => undefined as void }
  const work = () =>
    new Promise<void>((resolve, reject) => {
      piece.isRunning = true
      piece.finish = resolve
      piece.fail = () => reject(new Error('failed'))
    })
  return Object.assign(piece, { work })
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('bounded work', () => {
  it('runs so many pieces at once, and the others in the order in which they came', async () => {
    const bounds = createBoundedWork({ runningMax: 2, waitingMax: 10 })
    const pieces = Array.from({ length: 5 }, newPiece)
    const done = pieces.map(({ work }) => bounds.run(work))
    const whichRun = async () => {
      await settle()
      return pieces.map(({ isRunning }) => isRunning)
    }
    expect(await whichRun()).toEqual([true, true, false, false, false])
    pieces[1]?.finish()
    expect(await whichRun()).toEqual([true, true, true, false, false])
    pieces[0]?.finish()
    pieces[2]?.finish()
    expect(await whichRun()).toEqual([true, true, true, true, true])
    pieces[3]?.finish()
    pieces[4]?.finish()
    await Promise.all(done)
  })

  it('refuses what has waited too long, and gives its place to whoever waits behind it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const bounds = createBoundedWork({ runningMax: 1, waitingMax: 2, waitMaxMs: 10_000 })
    const [first, second, third] = [newPiece(), newPiece(), newPiece()]
    const done = [bounds.run(first.work)]
    const refused = expect(bounds.run(second.work)).rejects.toMatchObject({ code: 'unavailable' })
    vi.advanceTimersByTime(9_999)
    done.push(bounds.run(third.work))
    vi.advanceTimersByTime(1)
    await refused
    first.finish()
    await settle()
    expect([second.isRunning, third.isRunning]).toEqual([false, true])
    vi.advanceTimersByTime(20_000)
    third.finish()
    await Promise.all(done)
  })

  it('refuses at once what would wait behind too many', async () => {
    const bounds = createBoundedWork({ runningMax: 1, waitingMax: 1 })
    const [first, second] = [newPiece(), newPiece()]
    const done = [bounds.run(first.work), bounds.run(second.work)]
    await expect(bounds.run(newPiece().work)).rejects.toMatchObject({
      code: 'unavailable',
      retryAfterSeconds: 2,
    })
    first.finish()
    await settle()
    second.finish()
    await Promise.all(done)
    const third = newPiece()
    const last = bounds.run(third.work)
    await settle()
    third.finish()
    await last
  })

  it('gives the place of a piece that failed to the next one', async () => {
    const bounds = createBoundedWork({ runningMax: 1, waitingMax: 1 })
    const [first, second] = [newPiece(), newPiece()]
    const failed = bounds.run(first.work)
    const done = bounds.run(second.work)
    await settle()
    first.fail()
    await expect(failed).rejects.toThrow('failed')
    await settle()
    expect(second.isRunning).toBe(true)
    second.finish()
    await done
  })
})

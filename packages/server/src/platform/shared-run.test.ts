import { expect, test } from 'vitest'
import { SharedRun } from './shared-run.ts'

/** Work of which each run ends when it is told to. */
function createWork() {
  const runs: PromiseWithResolvers<void>[] = []
  const run = new SharedRun(async () => {
    const ended = Promise.withResolvers<void>()
    runs.push(ended)
    return ended.promise
  })
  return { run, runs }
}

/** What has nothing to wait for is done by then. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('who asks while it runs shares one more run, which begins after that', async () => {
  const { run, runs } = createWork()
  const first = run.again()
  const later = [run.again(), run.again(), run.again()]
  expect(runs).toHaveLength(1)
  runs[0]?.resolve()
  await first
  await turn()
  expect(runs).toHaveLength(2)
  let isDone = false
  void Promise.all(later).then(() => (isDone = true))
  await turn()
  expect(isDone).toBe(false)
  runs[1]?.resolve()
  await Promise.all(later)
  expect(runs).toHaveLength(2)
})

test('runs never overlap, whoever asks at the very end of one', async () => {
  let running = 0
  let runsAtOnce = 0
  const run = new SharedRun(async () => {
    running += 1
    runsAtOnce = Math.max(runsAtOnce, running)
    await turn()
    running -= 1
  })
  const first = run.again()
  const asked = [run.again(), first.then(() => run.again()), first.finally(() => run.again())]
  await Promise.all(asked)
  await run.settle()
  expect(runsAtOnce).toBe(1)
})

test('a run that fails is told to those who share it alone, and the next one begins all the same', async () => {
  const { run, runs } = createWork()
  const first = run.again()
  const second = run.again()
  runs[0]?.reject(new Error('the first'))
  await expect(first).rejects.toThrow('the first')
  await turn()
  runs[1]?.resolve()
  await expect(second).resolves.toBeUndefined()
})

test('what is waited for at an end is all that was asked for', async () => {
  const { run, runs } = createWork()
  const asked = Promise.allSettled([run.again(), run.again()])
  let isSettled = false
  const settled = run.settle().then(() => (isSettled = true))
  runs[0]?.reject(new Error('the first'))
  await turn()
  expect(isSettled).toBe(false)
  runs[1]?.resolve()
  await Promise.all([settled, asked])
})

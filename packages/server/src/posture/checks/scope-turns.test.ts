import { expect, onTestFinished, test, vi } from 'vitest'
import type { Change, ChangeOrigin, RunChange } from '../../changes/change.ts'
import { runInScopeTurns } from './scope-turns.ts'

test('a change waits for its turn as long as the one before it may take', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const runChange: RunChange = (_origin, work) => work({} as Change)
  const runInTurn = runInScopeTurns(runChange)
  const run = <Result>(work: () => Promise<Result>) => runInTurn({} as ChangeOrigin, work)
  const end = Promise.withResolvers<string>()
  const first = run(() => end.promise)
  const late = run(() => Promise.resolve('late'))
  await vi.advanceTimersByTimeAsync(29_000)
  const second = run(() => Promise.resolve('second'))
  const refused = expect(late).rejects.toMatchObject({ code: 'unavailable' })
  await vi.advanceTimersByTimeAsync(1_000)
  await refused
  end.resolve('first')
  expect(await Promise.all([first, second])).toEqual(['first', 'second'])
})

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
  const refuse = vi.fn()
  void run(() => Promise.resolve('late')).catch(refuse)
  await vi.advanceTimersByTimeAsync(29_999)
  expect(refuse).not.toHaveBeenCalled()
  const second = run(() => Promise.resolve('second'))
  await vi.advanceTimersByTimeAsync(1)
  expect(refuse.mock.calls).toMatchObject([[{ code: 'unavailable' }]])
  end.resolve('first')
  expect(await Promise.all([first, second])).toEqual(['first', 'second'])
})

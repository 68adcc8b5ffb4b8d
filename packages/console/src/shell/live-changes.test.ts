import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { LiveChanges } from './live-changes.ts'

let queryClient: QueryClient
let changes: LiveChanges
let answers: ((names: readonly string[]) => void)[]

beforeEach(() => {
  vi.stubGlobal('document', Object.assign(new EventTarget(), { hidden: false }))
  queryClient = new QueryClient()
  changes = new LiveChanges(queryClient)
  answers = []
})
afterEach(() => {
  changes.end()
  queryClient.clear()
  vi.unstubAllGlobals()
})

/** A list that is shown; each reading of it ends when its answer is given. */
function showDevices(): { readonly shown: () => unknown; readonly close: () => void } {
  const observer = new QueryObserver(queryClient, {
    queryKey: ['devices', 'list'],
    queryFn: async () => new Promise<readonly string[]>((resolve) => answers.push(resolve)),
  })
  const close = observer.subscribe(() => undefined)
  return { shown: () => observer.getCurrentResult().data, close }
}

describe('a change that is heard', () => {
  it('while a page reads for the first time is read once that reading has ended', async () => {
    const { shown, close } = showDevices()
    await vi.waitFor(() => expect(answers).toHaveLength(1))
    changes.hear(['devices:7'])
    answers[0]?.([])
    await vi.waitFor(() => expect(answers).toHaveLength(2))
    answers[1]?.(['laptop'])
    await vi.waitFor(() => expect(shown()).toEqual(['laptop']))
    expect(answers).toHaveLength(2)
    close()
  })

  it('while nothing is read is read at once, and one of other resources never', async () => {
    const { shown, close } = showDevices()
    await vi.waitFor(() => expect(answers).toHaveLength(1))
    answers[0]?.([])
    await vi.waitFor(() => expect(shown()).toEqual([]))
    changes.hear(['people'])
    expect(answers).toHaveLength(1)
    changes.end()
    changes = new LiveChanges(queryClient)
    changes.hear(['devices'])
    expect(answers).toHaveLength(2)
    answers[1]?.(['laptop'])
    await vi.waitFor(() => expect(shown()).toEqual(['laptop']))
    close()
  })
})

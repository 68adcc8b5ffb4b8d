import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { AppError } from './app-error.ts'
import { GroupCommitter, LEFT_FOR_LATER, type GroupLimits } from './group-committer.ts'

const AWAY = 'the database is away'

// What waits, pauses and lasts does so by this clock, which stands still while a busy machine takes its time.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => void vi.useRealTimers())

interface Group {
  readonly members: readonly string[]
  /** Commits all members but those that are `left`. */
  readonly end: (left?: string) => Promise<unknown>
  readonly fail: (message: string) => Promise<unknown>
}

function settle() {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Groups stay open until the test ends them, in `groups`. */
function setUp(limits: Partial<GroupLimits> = {}) {
  const groups: Group[] = []
  const committer = new GroupCommitter<string, string>({
    limits: {
      membersMax: 3,
      bytesMax: 100,
      runningMax: 2,
      waitingMax: 10,
      waitMaxMs: 10_000,
      ...limits,
    },
    commit: (members) =>
      new Promise((resolve, reject) => {
        groups.push({
          members,
          end: (left = '') => {
            resolve(
              members.map((member) => (left.includes(member) ? LEFT_FOR_LATER : `${member} done`)),
            )
            return settle()
          },
          fail: (message) => {
            reject(new Error(message))
            return settle()
          },
        })
      }),
    isFaultOfAll: (error) => error instanceof Error && error.message === AWAY,
  })
  const add = (member: string, bytes = 1) => {
    const result = committer.add(member, bytes)
    result.catch(() => undefined)
    return result
  }
  const membersOf = () => groups.map(({ members }) => members.join(''))
  const group = async (index: number) => {
    for (let ms = 0; ms < 1_000 && groups.length <= index; ms += 1) {
      await vi.advanceTimersByTimeAsync(1)
    }
    const found = groups[index]
    if (found === undefined) throw new Error('no such group')
    return found
  }
  return { committer, add, group, groups, membersOf }
}

describe('what comes together', () => {
  test('begins at once with the first, and what comes meanwhile is one group', async () => {
    const { add, group, membersOf } = setUp()
    const results = [add('a'), add('b'), add('c')]
    expect(membersOf()).toEqual(['a'])
    await (await group(0)).end()
    await (await group(1)).end()
    expect(membersOf()).toEqual(['a', 'bc'])
    expect(await Promise.all(results)).toEqual(['a done', 'b done', 'c done'])
  })

  test('goes beside a group that runs once it fills one, and no further than the bound', async () => {
    const { add, membersOf } = setUp()
    for (const member of 'abcdefgh') void add(member)
    await settle()
    expect(membersOf()).toEqual(['a', 'bcd'])
  })

  test.each([
    { size: 1, pauseMs: 0 },
    { size: 3, pauseMs: 10 },
    { size: 20, pauseMs: 60 },
  ])('waits for others after a group of $size, no longer than the bound', async (example) => {
    const begins: number[] = []
    const committer = new GroupCommitter<number, number>({
      limits: { membersMax: 64, bytesMax: 1e6, runningMax: 1, waitingMax: 64, waitMaxMs: 10_000 },
      commit: (members) => {
        begins.push(performance.now())
        return Promise.resolve(members)
      },
      isFaultOfAll: () => false,
      pauseMaxMs: 60,
    })
    const addAll = (count: number) =>
      Promise.all(Array.from({ length: count }, (_, index) => committer.add(index, 1)))
    void addAll(1 + example.size)
    await vi.advanceTimersByTimeAsync(0)
    void addAll(1)
    await vi.advanceTimersByTimeAsync(1_000)
    const [, second = NaN, third = NaN] = begins
    expect(third - second).toBe(example.pauseMs)
  })

  test('holds no more bytes than a group may; what is larger goes alone', async () => {
    const { add, group, membersOf } = setUp()
    void add('a')
    void add('b', 60)
    void add('c', 60)
    await (await group(0)).end()
    await (await group(1)).end()
    void add('d', 500)
    await (await group(2)).end()
    await (await group(3)).end()
    expect(membersOf()).toEqual(['a', 'b', 'c', 'd'])
  })

  test('passes a group that does not end, as for a lock that another holds', async () => {
    const { add, group, membersOf } = setUp()
    void add('a')
    const second = add('b')
    await (await group(1)).end()
    expect(await second).toBe('b done')
    expect(membersOf()).toEqual(['a', 'b'])
  })

  test('is refused beyond what may wait, and when its group does not begin in time', async () => {
    const { add } = setUp({ runningMax: 1, waitingMax: 1, waitMaxMs: 20 })
    void add('a')
    const second = add('b')
    await expect(add('c')).rejects.toMatchObject({ code: 'unavailable' })
    await vi.advanceTimersByTimeAsync(20)
    await expect(second).rejects.toMatchObject({ code: 'unavailable' })
  })
})

describe('what a group leaves', () => {
  test('goes with a later one, behind those that wait', async () => {
    const { add, group, membersOf } = setUp({ membersMax: 4, runningMax: 1 })
    const results = [add('a'), add('b'), add('c'), add('d')]
    await (await group(0)).end()
    const second = await group(1)
    results.push(add('e'))
    await second.end('bd')
    await (await group(2)).end('e')
    await (await group(3)).end()
    expect(membersOf()).toEqual(['a', 'bcd', 'ebd', 'e'])
    expect(await Promise.all(results)).toEqual(['a', 'b', 'c', 'd', 'e'].map((m) => `${m} done`))
  })

  test('is refused when no group takes it in time', async () => {
    const { add, group, membersOf } = setUp({ waitMaxMs: 700 })
    const first = add('a')
    await (await group(0)).end('a')
    const again = await group(1)
    await vi.advanceTimersByTimeAsync(700)
    await again.end('a')
    await expect(first).rejects.toMatchObject({ code: 'unavailable' })
    expect(membersOf()).toEqual(['a', 'a'])
  })

  test('is committed before the end', async () => {
    const { add, committer, group, membersOf } = setUp()
    const result = add('a')
    const ended = committer.close()
    await (await group(0)).end('a')
    await (await group(1)).end()
    await ended
    expect(await result).toBe('a done')
    expect(membersOf()).toEqual(['a', 'a'])
  })
})

describe('a group that fails', () => {
  test('is committed member by member, so that only the poisoned one fails', async () => {
    const { add, group, membersOf } = setUp()
    const [first, second, third, fourth] = ['a', 'b', 'c', 'd'].map((member) => add(member))
    await (await group(0)).end()
    await (await group(1)).fail('poison')
    await (await group(2)).end()
    await (await group(3)).fail('poison')
    await (await group(4)).end()
    expect(membersOf()).toEqual(['a', 'bcd', 'b', 'c', 'd'])
    expect(await first).toBe('a done')
    expect(await second).toBe('b done')
    await expect(third).rejects.toThrow('poison')
    expect(await fourth).toBe('d done')
  })

  describe.each([
    ['one', 'y', 16],
    ['the first', 'b', 16],
    ['the last', 'z', 16],
    ['every', 'bcdefghijklmnopqrstuvwxyz', 41],
    ['every second', 'bdfhjlnprtvxz', 41],
  ])('of 25 members of which %s is poisoned', (_, poisoned, commitsMax) => {
    test('fails those alone, in few commits', async () => {
      const { results, commits } = await commitPoisoned((group) =>
        [...group].some((member) => poisoned.includes(member)),
      )
      expect(results).toEqual(
        [...REST].map((member) => (poisoned.includes(member) ? 'poison' : `${member} done`)),
      )
      expect(commits.length).toBeLessThanOrEqual(commitsMax)
    })
  })

  const REST = 'bcdefghijklmnopqrstuvwxyz'

  /** What becomes of a group, and the groups that it took. */
  async function commitPoisoned(
    isPoisoned: (group: string) => boolean,
    { lastingMs = 0, waitMaxMs = 10_000 } = {},
  ) {
    const commits: string[] = []
    const committer = new GroupCommitter<string, string>({
      limits: { membersMax: 100, bytesMax: 100, runningMax: 1, waitingMax: 100, waitMaxMs },
      commit: async (members) => {
        const group = members.join('')
        commits.push(group)
        await new Promise((resolve) => setTimeout(resolve, isPoisoned(group) ? lastingMs : 0))
        if (isPoisoned(group)) throw new Error('poison')
        return members.map((member) => `${member} done`)
      },
      isFaultOfAll: () => false,
    })
    const ends = Promise.all(
      [...`a${REST}`].map((member) =>
        committer.add(member, 1).catch((error: unknown) => {
          return error instanceof AppError ? error.code : (error as Error).message
        }),
      ),
    )
    await vi.runAllTimersAsync()
    const [, ...results] = await ends
    return { results, commits }
  }

  test('for long is taken apart at once: what it waited for is not waited for in every half', async () => {
    const { results, commits } = await commitPoisoned((group) => group.includes('c'), {
      lastingMs: 1_050,
    })
    expect(results.filter((result) => result === 'poison')).toHaveLength(1)
    expect(commits).toEqual(['a', REST, ...REST])
  })

  test('is refused as far as no commit of it has begun in time', async () => {
    const { results, commits } = await commitPoisoned((group) => group.includes('b'), {
      lastingMs: 60,
      waitMaxMs: 100,
    })
    const ends = new Set(results)
    expect(ends).toContain('unavailable')
    expect(ends).not.toContain('poison')
    expect(commits.length).toBeLessThan(6)
  })

  test('fails whole when no member would fare better', async () => {
    const { add, group, membersOf } = setUp()
    const results = ['a', 'b', 'c'].map((member) => add(member))
    await (await group(0)).end()
    await (await group(1)).fail(AWAY)
    const ends = await Promise.allSettled(results)
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect(membersOf()).toEqual(['a', 'bc'])
  })

  test('ends with the first member that shows that no other would fare better', async () => {
    const { add, group, membersOf } = setUp()
    const results = ['a', 'b', 'c', 'd'].map((member) => add(member))
    await (await group(0)).end()
    await (await group(1)).fail('poison')
    await (await group(2)).fail(AWAY)
    expect((await Promise.allSettled(results)).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'rejected',
    ])
    expect(membersOf()).toEqual(['a', 'bcd', 'b'])
  })
})

describe('the end', () => {
  test('waits for what was taken, begins it without a pause, and takes no more', async () => {
    const { add, committer, group, membersOf } = setUp({ membersMax: 10 })
    const results = [add('a'), add('b'), add('c'), add('d')]
    let isEnded = false
    const ended = committer.close().then(() => {
      isEnded = true
    })
    await expect(add('e')).rejects.toBeInstanceOf(AppError)
    await (await group(0)).end()
    await settle()
    expect(isEnded).toBe(false)
    await (await group(1)).end()
    await ended
    expect(membersOf()).toEqual(['a', 'bcd'])
    expect(await Promise.all(results)).toHaveLength(4)
  })
})

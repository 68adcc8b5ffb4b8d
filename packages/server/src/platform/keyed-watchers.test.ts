import { expect, it } from 'vitest'
import { KeyedWatchers } from './keyed-watchers.ts'

it('tells those who watch a key, or all, and nobody after the end of the watch', () => {
  const watchers = new KeyedWatchers()
  const heard: string[] = []
  const ends = ['a', 'a', 'b'].map((key, at) => watchers.watch(key, () => heard.push(key + at)))
  watchers.hear('a')
  watchers.hear('c')
  expect(heard.splice(0)).toEqual(['a0', 'a1'])
  ends[0]?.()
  watchers.hear('a')
  watchers.hearAll()
  expect(heard.splice(0)).toEqual(['a1', 'a1', 'b2'])
  for (const end of ends) end()
  watchers.hearAll()
  expect(heard).toEqual([])
})

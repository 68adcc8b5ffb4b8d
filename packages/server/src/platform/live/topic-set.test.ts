import { describe, expect, it } from 'vitest'
import { TopicSet } from './topic-set.ts'

describe('a set of topics', () => {
  it('names every record once, and no record of a collection that is named', () => {
    const topics = new TopicSet(['devices:7', 'issues:1', 'devices:7', 'issues', 'issues:2'])
    expect(topics.list()).toEqual(['devices:7', 'issues'])
    expect(topics.isEmpty).toBe(false)
    expect(new TopicSet().isEmpty).toBe(true)
  })

  it('tells of the collection where too many of its records have changed, and keeps the others', () => {
    const many = Array.from({ length: 101 }, (_each, index) => `devices:${index}`)
    const topics = new TopicSet(['issues:1', ...many])
    expect(topics.list()).toEqual(['devices', 'issues:1'])
    topics.addAll(['devices:5', 'issues:2'])
    expect(topics.list()).toEqual(['devices', 'issues:1', 'issues:2'])
  })

  it('tells of everything where that is told, or where there are too many collections', () => {
    expect(new TopicSet(['devices:7', 'all', 'issues']).list()).toEqual(['all'])
    const many = Array.from({ length: 61 }, (_each, index) => `collection${index}`)
    expect(new TopicSet(many).list()).toEqual(['all'])
  })

  it('tells of the collection of a record with an endless id', () => {
    expect(new TopicSet([`devices:${'9'.repeat(65)}`]).list()).toEqual(['devices'])
  })
})

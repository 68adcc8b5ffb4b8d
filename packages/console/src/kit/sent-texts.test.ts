import { describe, expect, it } from 'vitest'
import { SentTexts } from './sent-texts.ts'

function sentTexts(...texts: readonly string[]): SentTexts {
  const sent = new SentTexts()
  for (const text of texts) sent.add(text)
  return sent
}

describe('texts that were sent', () => {
  it('are followed by the value, which stays where nothing is under way', () => {
    expect(sentTexts().follow('a')).toBe('a')
    // What is typed and erased before it comes back has to be sent as well.
    expect(sentTexts('x').follow('')).toBe('x')
    expect(sentTexts('x', '').follow('')).toBe('')
  })

  it('come back each in its turn, also a text that is sent twice', () => {
    const sent = sentTexts('a', 'ab', 'a')
    expect(['a', 'ab', 'a'].map((text) => sent.takeBack(text))).toEqual([true, true, true])
    expect(sent.takeBack('a')).toBe(false)
  })

  it('may come back as the last of them alone', () => {
    const sent = sentTexts('a', 'ab', 'abc')
    expect(sent.takeBack('abc')).toBe(true)
    expect(sent.takeBack('ab')).toBe(false)
  })

  it('are given up for what comes from elsewhere', () => {
    const sent = sentTexts('a', 'ab')
    expect(sent.takeBack('elsewhere')).toBe(false)
    expect(sent.follow('elsewhere')).toBe('elsewhere')
  })
})

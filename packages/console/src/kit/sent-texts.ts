/*
 * Texts that are typed here and come back from elsewhere a little later, as by way of the address: what comes back is
 * older than what has been typed since, and must not take its place.
 */
import { useEffect, useRef, useState } from 'react'

/** What was sent and has not come back. */
export class SentTexts {
  #texts: string[] = []

  add(text: string): void {
    this.#texts.push(text)
  }

  /** What a value becomes once all that was sent has come back. */
  follow(value: string): string {
    return this.#texts.at(-1) ?? value
  }

  /** Whether a text that comes was sent from here; what was sent before it comes back no more. */
  takeBack(text: string): boolean {
    const place = this.#texts.indexOf(text)
    this.#texts = place === -1 ? [] : this.#texts.slice(place + 1)
    return place !== -1
  }
}

interface TypedText {
  /** What the input shows. */
  readonly text: string
  readonly setText: (text: string) => void
  /** Sends a text to where it comes back from as the value. */
  readonly send: (text: string) => void
}

/** The text of an input that follows a value, which follows what is sent from here. */
export function useTypedText(value: string, onChange: (text: string) => void): TypedText {
  const [text, setText] = useState(value)
  const sent = useRef(new SentTexts())
  useEffect(() => {
    if (!sent.current.takeBack(value)) setText(value)
  }, [value])
  const send = (next: string) => {
    if (next === sent.current.follow(value)) return
    sent.current.add(next)
    onChange(next)
  }
  return { text, setText, send }
}

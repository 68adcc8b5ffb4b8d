/* `g` and a letter lead to a page, from anywhere but an input. */
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { PLACES } from './navigation.ts'

/** The second key must follow within this time. */
const PAUSE_MS = 1_200

const TARGETS = new Map(
  PLACES.flatMap(({ places }) =>
    places.flatMap(({ key, to }) => (key === undefined ? [] : [[key, to] as const])),
  ),
)

export function useGoToKeys(): void {
  const navigate = useNavigate()
  useEffect(() => {
    let pressedAt = Number.NEGATIVE_INFINITY
    const listen = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return
      const target = TARGETS.get(event.key)
      if (event.timeStamp - pressedAt < PAUSE_MS && target !== undefined) {
        event.preventDefault()
        pressedAt = Number.NEGATIVE_INFINITY
        void navigate({ to: target })
        return
      }
      pressedAt = event.key === 'g' ? event.timeStamp : Number.NEGATIVE_INFINITY
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [navigate])
}

/** Whether what is typed belongs to an input. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest('input, textarea, select, [contenteditable], [role=dialog]') !== null
  )
}

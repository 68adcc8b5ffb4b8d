/* `g` and a letter lead to a page, from anywhere but an input, unless a dialog lies over the page. */
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { isForPage } from '../kit/shortcut-scope.ts'
import { usePlaces } from './navigation.ts'

/** The second key must follow within this time. */
const PAUSE_MS = 1_200

export function useGoToKeys(): void {
  const navigate = useNavigate()
  const groups = usePlaces()
  useEffect(() => {
    const targets = new Map(
      groups.flatMap(({ places }) =>
        places.flatMap(({ key, to }) => (key === undefined ? [] : [[key, to] as const])),
      ),
    )
    let pressedAt = Number.NEGATIVE_INFINITY
    const listen = (event: KeyboardEvent) => {
      if (!isForPage(event)) return
      const target = targets.get(event.key)
      if (event.timeStamp - pressedAt < PAUSE_MS && target !== undefined) {
        event.preventDefault()
        // The same letter means something to a row that has the focus.
        event.stopPropagation()
        pressedAt = Number.NEGATIVE_INFINITY
        void navigate({ to: target })
        return
      }
      pressedAt = event.key === 'g' ? event.timeStamp : Number.NEGATIVE_INFINITY
    }
    document.addEventListener('keydown', listen, { capture: true })
    return () => document.removeEventListener('keydown', listen, { capture: true })
  }, [navigate, groups])
}

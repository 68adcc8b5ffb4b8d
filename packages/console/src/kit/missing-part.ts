/*
 * Parts of the console that come when they are shown, and could not: an upgrade of the service takes away those that an
 * open page would load.
 */
import { useEffect } from 'react'

const missing = new WeakSet<object>()

/** Vite tells so of whatever could not be loaded: a script or the styles of one. */
window.addEventListener('vite:preloadError', ({ payload }) => void missing.add(payload))

/**
 * Whether a part of the console is missing. The page is then loaded anew, which brings the parts of the version that is
 * there; once for each part, so that one that is missing for good makes no circle.
 */
export function useMissingPart(error: unknown): boolean {
  const isMissing = error instanceof Error && missing.has(error)
  const key = isMissing ? `heliograph-missing:${error.message}` : undefined
  useEffect(() => {
    if (key === undefined || sessionStorage.getItem(key) !== null) return
    sessionStorage.setItem(key, '')
    globalThis.location.reload()
  }, [key])
  return isMissing
}

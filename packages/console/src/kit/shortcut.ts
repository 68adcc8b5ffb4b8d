const isApple = /Mac OS|iPhone|iPad/.test(navigator.userAgent)

/** A key with the modifier of shortcuts, as the keyboard of the reader names it: `⌘K`, or `Ctrl K`. */
export function nameShortcut(key: string): string {
  return isApple ? `⌘${key}` : `Ctrl ${key}`
}

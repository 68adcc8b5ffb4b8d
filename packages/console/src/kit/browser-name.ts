import { texts } from './texts.ts'

const BROWSERS = ['Edg', 'Firefox', 'Chrome', 'Safari'] as const
const SYSTEMS = ['Windows', 'Android', 'iPhone', 'Mac OS X', 'Linux'] as const

/** What a browser calls itself, in two words. */
export function browserOf(userAgent: string | null): string {
  const browser = BROWSERS.find((name) => userAgent?.includes(name) === true)
  const system = SYSTEMS.find((name) => userAgent?.includes(name) === true)
  if (browser === undefined) return texts.unknownBrowser
  const name = browser === 'Edg' ? 'Edge' : browser
  return system === undefined ? name : `${name}, ${system === 'Mac OS X' ? 'macOS' : system}`
}

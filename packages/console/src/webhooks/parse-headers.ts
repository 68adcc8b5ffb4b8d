/** Headers from lines of `Name: value`; undefined when a line is none. */
export function parseHeaders(text: string): Readonly<Record<string, string>> | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const pairs = lines.map((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, Math.max(0, colon)).trim(), line.slice(colon + 1).trim()] as const
  })
  if (pairs.some(([name, value]) => name === '' || value === '')) return undefined
  return Object.fromEntries(pairs)
}

/** The time spans of the course, by their length in days. */
export const RANGES = { day: 1, week: 7, month: 30, quarter: 90 } as const

export type Range = keyof typeof RANGES

/** What stands in the address of the page; a week when it is left out. */
export interface NowSearch {
  readonly range?: Range
}

export function readNowSearch({ range }: Readonly<Record<string, unknown>>): NowSearch {
  return typeof range === 'string' && Object.hasOwn(RANGES, range) ? { range: range as Range } : {}
}

/* What somebody has chosen for a list, kept in their browser: which columns are shown, and the order of the rows. */
import { useSyncExternalStore } from 'react'

/** What has been chosen; what is left out is as the page has it. */
export interface TableChoices {
  /** Whether a column is shown, by its id. */
  readonly columns?: Readonly<Record<string, boolean>>
  /** The columns that a view shows, and no others; until somebody chooses columns again. */
  readonly only?: readonly string[] | undefined
  readonly order?: 'asc' | 'desc'
}

const NOTHING: TableChoices = {}
const listeners = new Set<() => void>()
const known = new Map<string, TableChoices>()

/** The choices for a list, by its path in the API or its name; changes join those before. */
export function useTableChoices(
  list: string,
): readonly [TableChoices, (change: TableChoices) => void] {
  const choices = useSyncExternalStore(subscribe, () => readChoices(list))
  return [choices, (change) => chooseForTable(list, { ...choices, ...change })]
}

/** Chooses everything for a list anew. */
export function chooseForTable(list: string, choices: TableChoices): void {
  known.set(list, choices)
  localStorage.setItem(keyOf(list), JSON.stringify(choices))
  for (const listener of listeners) listener()
}

function readChoices(list: string): TableChoices {
  const found = known.get(list) ?? parse(localStorage.getItem(keyOf(list)))
  known.set(list, found)
  return found
}

function parse(text: string | null): TableChoices {
  if (text === null) return NOTHING
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : NOTHING
  } catch {
    return NOTHING
  }
}

function keyOf(list: string): string {
  return `heliograph.table.${list}`
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

import { CHECK_PLATFORMS, type CheckDefinition } from '../check-definition.ts'

const HOUR_SECONDS = 60 * 60

const SHELF_LIFE_SECONDS = { setting: HOUR_SECONDS, software: 24 * HOUR_SECONDS } as const

/** A check as its file in the catalogue declares it. */
export interface CatalogueEntry extends Omit<
  CheckDefinition,
  'platforms' | 'graceDays' | 'authCheckRunShelfLifeSeconds'
> {
  /** Of the strategy `warn_then_block` only. */
  readonly graceDays?: number
  /**
   * `setting` is what a user changes on the spot: a sign-in right after the fix must see it. `software` is
   * what changes slowly, such as installed software and versions.
   */
  readonly shelfLife: keyof typeof SHELF_LIFE_SECONDS
}

/** The check that an entry declares. Its platforms are those that it has SQL for. */
export function toCheckDefinition({ shelfLife, ...entry }: CatalogueEntry): CheckDefinition {
  return {
    graceDays: 0,
    ...entry,
    platforms: CHECK_PLATFORMS.filter((platform) => entry.queries[platform] !== undefined),
    authCheckRunShelfLifeSeconds: SHELF_LIFE_SECONDS[shelfLife],
  }
}

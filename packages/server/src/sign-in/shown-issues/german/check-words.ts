import type { CatalogueEntry } from '../../../posture/checks/catalogue/catalogue-entry.ts'

/**
 * What a built-in check says to people in another language than English; `rationale` and `steps` are Markdown with
 * Liquid.
 */
export interface CheckWords {
  readonly name: string
  readonly title: string
  /** What of a device the check tells, and what not. */
  readonly privacy: string
  readonly rationale: string
  readonly steps: CatalogueEntry['fix']
}

/** By the slug of the check. */
export type CheckWordsBySlug = Readonly<Record<string, CheckWords>>

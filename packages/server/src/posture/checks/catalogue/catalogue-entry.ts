import { CHECK_PLATFORMS, type CheckDefinition, type CheckPlatform } from '../check-definition.ts'

const HOUR_SECONDS = 60 * 60

const SHELF_LIFE_SECONDS = { setting: HOUR_SECONDS, software: 24 * HOUR_SECONDS } as const

/** Markdown with Liquid, or the items of a numbered list. */
type FixText = string | readonly string[]

/** A check as its file in the catalogue declares it. */
export interface CatalogueEntry extends Omit<
  CheckDefinition,
  | 'revision'
  | 'platforms'
  | 'fixInstructionsTemplate'
  | 'graceDays'
  | 'authCheckRunShelfLifeSeconds'
> {
  /** 1 when left out. */
  readonly revision?: number
  /** The instructions for the end user, for each platform where they differ. */
  readonly fix: FixText | Readonly<Partial<Record<CheckPlatform, FixText>>>
  /** Of the strategy `warn_then_block` only. */
  readonly graceDays?: number
  /**
   * `setting` is what a user changes on the spot: a sign-in right after the fix must see it. `software` is
   * what changes slowly, such as installed software and versions.
   */
  readonly shelfLife: keyof typeof SHELF_LIFE_SECONDS
}

/** The check that an entry declares. Its platforms are those that it has SQL for. */
export function toCheckDefinition({ fix, shelfLife, ...entry }: CatalogueEntry): CheckDefinition {
  return {
    revision: 1,
    graceDays: 0,
    ...entry,
    platforms: CHECK_PLATFORMS.filter((platform) => entry.queries[platform] !== undefined),
    fixInstructionsTemplate: toFixTemplate(fix),
    authCheckRunShelfLifeSeconds: SHELF_LIFE_SECONDS[shelfLife],
  }
}

/** Instructions as one text: Liquid shows each platform its own, and nothing to a platform without any. */
export function toFixTemplate(fix: CatalogueEntry['fix']): string {
  if (typeof fix === 'string' || isList(fix)) return toFixText(fix)
  const branches = CHECK_PLATFORMS.flatMap((platform) => {
    const text = fix[platform]
    return text === undefined ? [] : [`{% when '${platform}' %}\n${toFixText(text)}\n`]
  })
  return `{% case device.platform %}${branches.join('')}{% endcase %}`
}

function toFixText(text: FixText): string {
  return typeof text === 'string' ? text : numberSteps(text)
}

/** A numbered Markdown list. */
export function numberSteps(steps: readonly string[]): string {
  return steps.map((step, index) => `${index + 1}. ${step}`).join('\n')
}

function isList(fix: CatalogueEntry['fix']): fix is readonly string[] {
  return Array.isArray(fix)
}

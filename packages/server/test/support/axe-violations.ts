/*
 * What axe finds on a page of a browser. Its script is told to a page once, however often it is asked: a page that is
 * left without being loaded anew still has it.
 */
import axe from 'axe-core'
import type { Page } from 'playwright-core'

interface Violation {
  readonly id: string
  readonly impact: string | null
  readonly nodes: readonly { readonly html: string }[]
}

/** Which rules are looked at; all where it is left out. */
export type AxeRules =
  | { readonly type: 'rule'; readonly values: readonly string[] }
  | { readonly type: 'tag'; readonly values: readonly string[] }

/** What of a page another theme can break that changes nothing but colours. */
export const COLOUR_RULES = {
  type: 'rule',
  values: ['color-contrast', 'link-in-text-block'],
} as const satisfies AxeRules

/** Of what axe leaves undecided: texts in the colour of what is behind them. It thinks that somebody may want that. */
const OF_INVISIBLE = `({ id, nodes }) => {
  const invisible = nodes.filter(({ any }) => any.some(({ data }) => data?.messageKey === 'equalRatio'))
  return invisible.length === 0 ? [] : [{ id, impact: 'serious', nodes: invisible }]
}`

/** What breaks a rule, without a description of everything that is well: that costs four times as much. */
export async function findViolations(
  page: Page,
  runOnly?: AxeRules,
): Promise<readonly Violation[]> {
  // Run from outside: the policy of the page lets nobody add a script to it.
  if (!(await page.evaluate<boolean>('globalThis.axe !== undefined'))) {
    await page.evaluate(axe.source)
  }
  const options = {
    resultTypes: ['violations', 'incomplete'],
    selectors: false,
    ...(runOnly === undefined ? {} : { runOnly }),
  }
  return page.evaluate<readonly Violation[]>(
    `globalThis.axe.run(document, ${JSON.stringify(options)})
      .then(({ violations, incomplete }) => [...violations, ...incomplete.flatMap(${OF_INVISIBLE})])`,
  )
}

/** A finding in words, for the message of a test that fails. */
export function toFinding({ id, nodes }: Violation): string {
  return `${id}: ${nodes.map(({ html }) => html).join(' ')}`
}

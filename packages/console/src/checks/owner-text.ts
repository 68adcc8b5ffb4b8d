/* The texts of a check as the owner of a device reads them. What differs from device to device stands in brackets. */
import {
  listTemplateVariables,
  renderTemplate,
} from '../../../server/src/posture/checks/render-template.ts'

/** Names that say nothing to a reader: `issue.value.path` is shown as `[path]`. */
const UNSAID = new Set(['issue', 'value'])

interface Branch {
  [name: string]: string | Branch
}

export interface OwnerText {
  readonly text: string
  /** Whether it shows what differs from device to device of one platform. */
  readonly isFilled: boolean
}

/**
 * The template filled in for a platform, by the names of what is filled in for each device.
 *
 * @throws Error that says what is wrong with the template
 */
export function renderOwnerText(template: string, platform: string): OwnerText {
  const root = newBranch()
  const variables = listTemplateVariables(template)
  // The shorter first: where a template reads a list and something of it, the list stands.
  for (const path of variables.toSorted((one, other) => one.length - other.length)) {
    fillIn(root, path, toPlaceholder(path))
  }
  fillIn(root, ['device', 'platform'], platform)
  const text = renderTemplate(template, root).trim()
  // A value that is only compared is not shown. What Markdown would read as its own has a backslash before it.
  const shown = text.replaceAll('\\', '')
  const isFilled = variables.some(
    (path) => path.join('.') !== 'device.platform' && shown.includes(toPlaceholder(path)),
  )
  return { text, isFilled }
}

/** Without what objects inherit: a template may name `__proto__`. */
function newBranch(): Branch {
  return Object.create(null) as Branch
}

function fillIn(root: Branch, path: readonly string[], value: string): void {
  const last = path.at(-1)
  if (last === undefined) return
  let branch = root
  for (const name of path.slice(0, -1)) {
    const next = (branch[name] ??= newBranch())
    if (typeof next === 'string') return
    branch = next
  }
  branch[last] = value
}

function toPlaceholder(path: readonly string[]): string {
  const said = path.filter((name) => !UNSAID.has(name))
  return `[${(said.length === 0 ? path : said).join(' ').replaceAll('_', ' ')}]`
}

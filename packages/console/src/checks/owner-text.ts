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

/**
 * The template filled in for a platform, by the names of what is filled in for each device.
 *
 * @throws Error that says what is wrong with the template
 */
export function renderOwnerText(template: string, platform: string): string {
  const root = newBranch()
  const variables = listTemplateVariables(template)
  // The longer first: where a template reads a list and a member of it, the members stand.
  for (const path of variables.toSorted((one, other) => other.length - one.length)) {
    fillIn(root, path, toPlaceholder(path))
  }
  fillIn(root, ['device', 'platform'], platform)
  return renderTemplate(template, root).trim()
}

/** Whether a template differs from device to device of one platform. */
export function isFilledIn(template: string): boolean {
  return listTemplateVariables(template).some((path) => path.join('.') !== 'device.platform')
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
    const next = branch[name]
    if (typeof next === 'object') branch = next
    else branch = branch[name] = newBranch()
  }
  if (typeof branch[last] !== 'object') branch[last] = value
}

function toPlaceholder(path: readonly string[]): string {
  const said = path.filter((name) => !UNSAID.has(name))
  return `[${(said.length === 0 ? path : said).join(' ').replaceAll('_', ' ')}]`
}

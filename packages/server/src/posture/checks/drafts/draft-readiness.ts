/*
 * Whether a draft may be published, section by section. Owns the rules and their words; pure.
 */
import type { StoredRecord } from '../../../schema/define-table.ts'
import { toOwnName } from '../../../platform/db/record-table.ts'
import { AppError } from '../../../platform/app-error.ts'
import type { DraftProblem } from '../../../schema/tables/check-tables.ts'
import {
  parseTemplateProblems,
  renderTemplate,
  type TemplateVariables,
} from '../render-template.ts'
import { listQueryProblems } from './draft-sql.ts'

/** A draft as it is stored. */
export type CustomCheckDraft = StoredRecord<'custom_check_draft'>

/** What the author of a draft writes, as it is before anything is written. */
export const EMPTY_DRAFT = {
  name: '',
  slug: '',
  description: '',
  issueTitle: '',
  checkType: 'osquery',
  targetType: 'devices',
  osquerySql: '',
  platforms: [],
  requiresPrimaryKey: false,
  primaryKeyColumn: '',
  rationaleTemplate: '',
  fixInstructionsTemplate: '',
  privacyInfo: '',
  templateDataExamples: {},
  privacyCenterExampleData: {},
} satisfies Partial<CustomCheckDraft>

/** What of a draft its author writes. */
export type DraftContent = Pick<CustomCheckDraft, keyof typeof EMPTY_DRAFT>

/** What the author of a draft wrote. */
export function contentOf(draft: DraftContent): DraftContent {
  const names = Object.keys(EMPTY_DRAFT) as (keyof DraftContent)[]
  return Object.fromEntries(names.map((name) => [name, draft[name]])) as unknown as DraftContent
}

/** How ready a section is. */
export type SectionStatus = 'missing' | 'bad' | 'good'

/** The readiness of a section: the worst of its problems, what is bad before what is missing. */
export function toSectionStatus(
  problems: readonly DraftProblem[],
  section: DraftProblem['section'],
): SectionStatus {
  const states = new Set(
    problems.filter((problem) => problem.section === section).map((problem) => problem.state),
  )
  if (states.has('bad')) return 'bad'
  return states.has('missing') ? 'missing' : 'good'
}

/** Everything that keeps a draft from being published; empty for one that is ready. */
export function listDraftProblems(draft: DraftContent): DraftProblem[] {
  return [
    ...listSqlProblems(draft),
    ...listTemplateProblems(draft),
    ...listDetailProblems(draft),
    ...listPrivacyProblems(draft),
  ]
}

/** Checks that other systems report need no query. */
function listSqlProblems(draft: DraftContent): DraftProblem[] {
  if (draft.checkType === 'external') return []
  const place = { section: 'osquery_sql', field: 'osquery_sql' } as const
  if (draft.osquerySql.trim() === '') return [missing(place)]
  const primaryKeyColumn =
    draft.requiresPrimaryKey && draft.primaryKeyColumn !== '' ? draft.primaryKeyColumn : null
  return listQueryProblems(draft.osquerySql, primaryKeyColumn).map((message) => bad(place, message))
}

function listTemplateProblems(draft: DraftContent): DraftProblem[] {
  return (['rationale_template', 'fix_instructions_template'] as const).flatMap((field) => {
    const place = { section: 'notification_templates', field } as const
    const template = draft[toOwnName(field)]
    if (template.trim() === '') return [missing(place)]
    const problems = parseTemplateProblems(template)
    if (problems.length > 0) return problems.map((message) => bad(place, message))
    return tryExamples(draft, template).map((message) => bad(place, message))
  })
}

/** A template that parses can still exceed a bound once there is data. */
function tryExamples(draft: DraftContent, template: string): string[] {
  try {
    renderTemplate(template, draft.templateDataExamples as TemplateVariables)
    return []
  } catch (error) {
    if (error instanceof AppError) return [`With the example data: ${error.message}`]
    throw error
  }
}

const COLUMN = /^[A-Za-z_][A-Za-z0-9_]*$/

function listDetailProblems(draft: DraftContent): DraftProblem[] {
  const section = 'details'
  const problems: DraftProblem[] = []
  for (const field of ['name', 'description', 'issue_title'] as const) {
    if (draft[toOwnName(field)].trim() === '') problems.push(missing({ section, field }))
  }
  if (draft.checkType === 'osquery') {
    if (draft.platforms.length === 0) problems.push(missing({ section, field: 'platforms' }))
    if (draft.targetType === 'people') {
      const place = { section, field: 'target_type' } as const
      problems.push(bad(place, 'Only external checks can target people.'))
    }
  }
  if (draft.requiresPrimaryKey) problems.push(...listPrimaryKeyProblems(draft))
  return problems
}

function listPrimaryKeyProblems({ primaryKeyColumn: column }: DraftContent): DraftProblem[] {
  const place = { section: 'details', field: 'primary_key_column' } as const
  if (column === '') return [missing(place)]
  return COLUMN.test(column) ? [] : [bad(place, 'Must be the name of a column.')]
}

function listPrivacyProblems(draft: DraftContent): DraftProblem[] {
  const section = 'privacy_center_details'
  const problems: DraftProblem[] = []
  if (draft.privacyInfo.trim() === '') problems.push(missing({ section, field: 'privacy_info' }))
  const strays = Object.keys(draft.privacyCenterExampleData).filter(
    (platform) => !draft.platforms.includes(platform),
  )
  if (strays.length > 0 && draft.checkType === 'osquery') {
    const place = { section, field: 'privacy_center_example_data' } as const
    problems.push(bad(place, `The check does not run on: ${strays.join(', ')}.`))
  }
  return problems
}

type Place = Pick<DraftProblem, 'section' | 'field'>

function missing(place: Place): DraftProblem {
  return { ...place, state: 'missing', message: 'Must not be empty.' }
}

function bad(place: Place, message: string): DraftProblem {
  return { ...place, state: 'bad', message }
}

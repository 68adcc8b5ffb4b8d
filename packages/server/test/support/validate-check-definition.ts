/* The rules of the catalogue, which a test holds its checks to. */
import {
  CHECK_PLATFORMS,
  CHECK_STATUS_COLUMN,
  CUSTOM_SLUG_PREFIX,
  type CheckDefinition,
} from '../../src/posture/checks/check-definition.ts'
import { parseTemplateProblems } from '../../src/posture/checks/render-template.ts'

const SLUG = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/
const COLUMN = /^[a-z][a-z0-9_]*$/
const GRACE_DAYS_MAX = 90
const SHELF_LIFE_SECONDS_MIN = 60
const SHELF_LIFE_SECONDS_MAX = 7 * 24 * 60 * 60
const QUERY_LENGTH_MAX = 16 * 1024

const TEXT_LENGTH_MAX = {
  name: 100,
  description: 500,
  issueTitle: 150,
  rationaleTemplate: 8_000,
  fixInstructionsTemplate: 16_000,
  privacyInfo: 1_000,
  strategyReason: 300,
} as const

/** Everything that breaks a rule of `CheckDefinition`, in plain words; empty when nothing does. */
export function validateCheckDefinition(definition: CheckDefinition): readonly string[] {
  return [
    ...listIdentityProblems(definition),
    ...listTextProblems(definition),
    ...listPlatformProblems(definition),
    ...listStrategyProblems(definition),
  ]
}

function listIdentityProblems(definition: CheckDefinition): string[] {
  const problems: string[] = []
  if (!SLUG.test(definition.slug)) problems.push('slug: must be kebab-case')
  if (definition.slug.startsWith(CUSTOM_SLUG_PREFIX)) {
    problems.push(`slug: must not begin with ${CUSTOM_SLUG_PREFIX}`)
  }
  if (!Number.isSafeInteger(definition.revision) || definition.revision < 1) {
    problems.push('revision: must be a positive integer')
  }
  if (definition.topics.length === 0) problems.push('topics: at least one is needed')
  if (hasDuplicates(definition.topics)) problems.push('topics: must not repeat')
  if (definition.tags.length === 0) problems.push('tags: at least one is needed')
  if (hasDuplicates(definition.tags)) problems.push('tags: must not repeat')
  return problems
}

function listTextProblems(definition: CheckDefinition): string[] {
  const problems: string[] = []
  for (const [field, lengthMax] of Object.entries(TEXT_LENGTH_MAX)) {
    const text = definition[field as keyof typeof TEXT_LENGTH_MAX]
    if (text.trim() === '') problems.push(`${field}: must not be empty`)
    if (text.length > lengthMax) problems.push(`${field}: longer than ${lengthMax} characters`)
  }
  for (const field of ['rationaleTemplate', 'fixInstructionsTemplate'] as const) {
    problems.push(...parseTemplateProblems(definition[field]).map((text) => `${field}: ${text}`))
  }
  return problems
}

function listPlatformProblems(definition: CheckDefinition): string[] {
  const problems: string[] = []
  if (definition.platforms.length === 0) problems.push('platforms: at least one is needed')
  if (hasDuplicates(definition.platforms)) problems.push('platforms: must not repeat')
  for (const platform of CHECK_PLATFORMS) {
    const sql = definition.queries[platform]
    const isListed = definition.platforms.includes(platform)
    if (isListed !== (sql !== undefined)) {
      problems.push(`queries.${platform}: must be there exactly when the platform is listed`)
    }
    if (sql !== undefined) {
      const found = listQueryProblems(sql, definition.primaryKeyColumn)
      problems.push(...found.map((text) => `queries.${platform}: ${text}`))
    }
  }
  if (definition.primaryKeyColumn !== undefined && !COLUMN.test(definition.primaryKeyColumn)) {
    problems.push('primaryKeyColumn: must be a lower-case column name')
  }
  return problems
}

function listQueryProblems(sql: string, primaryKeyColumn: string | undefined): string[] {
  const problems: string[] = []
  if (!/^\s*(SELECT|WITH)\b/.test(sql)) problems.push('must be a SELECT')
  if (sql.length > QUERY_LENGTH_MAX) problems.push(`longer than ${QUERY_LENGTH_MAX} characters`)
  if (!sql.includes(CHECK_STATUS_COLUMN)) problems.push(`must answer ${CHECK_STATUS_COLUMN}`)
  if (primaryKeyColumn !== undefined && !sql.includes(primaryKeyColumn)) {
    problems.push(`must answer the primary key column ${primaryKeyColumn}`)
  }
  return problems
}

function listStrategyProblems(definition: CheckDefinition): string[] {
  const problems: string[] = []
  const { graceDays, authCheckRunShelfLifeSeconds: shelfLife } = definition
  const hasGrace = definition.defaultStrategy === 'warn_then_block'
  if (!Number.isSafeInteger(graceDays) || graceDays < 0 || graceDays > GRACE_DAYS_MAX) {
    problems.push(`graceDays: must be a whole number from 0 to ${GRACE_DAYS_MAX}`)
  } else if (hasGrace !== graceDays > 0) {
    problems.push('graceDays: must be above 0 exactly for warn_then_block')
  }
  if (
    !Number.isSafeInteger(shelfLife) ||
    shelfLife < SHELF_LIFE_SECONDS_MIN ||
    shelfLife > SHELF_LIFE_SECONDS_MAX
  ) {
    problems.push(
      `authCheckRunShelfLifeSeconds: must be from ${SHELF_LIFE_SECONDS_MIN} to ${SHELF_LIFE_SECONDS_MAX}`,
    )
  }
  return problems
}

function hasDuplicates(values: readonly string[]): boolean {
  return new Set(values).size !== values.length
}

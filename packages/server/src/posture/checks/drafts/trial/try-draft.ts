/*
 * Tries a draft out: what its query would be judged as, and what the person at a device would read. Pure; the
 * verdict is that of the intake, and texts are rendered as everywhere.
 */
import { AppError } from '../../../../platform/app-error.ts'
import { CHECK_PLATFORMS, type CheckPlatform } from '../../check-definition.ts'
import {
  parseCheckResult,
  type CheckAnswer,
  type ParsedCheckResult,
} from '../../parse-check-result.ts'
import {
  renderTemplate,
  type TemplateValue,
  type TemplateVariables,
} from '../../render-template.ts'
import { DEVICE_TYPES } from '../../../devices/device-read.ts'
import type { CustomCheckDraft } from '../draft-readiness.ts'

/** What somebody at a device of a platform would read. */
export interface ReaderView {
  readonly platform: CheckPlatform
  readonly title: string
  /** Markdown; null where the template cannot be rendered. */
  readonly rationale: string | null
  readonly fixInstructions: string | null
  readonly problems: readonly string[]
  readonly privacyInfo: string
  /** What the draft gives as an example of what is collected. */
  readonly privacyExample: unknown
}

/** Judges an answer as if the draft were a check. */
export function judgeDraft(draft: CustomCheckDraft, answer: CheckAnswer): ParsedCheckResult {
  const { requiresPrimaryKey: hasKey, primaryKeyColumn: column } = draft
  return parseCheckResult(answer, hasKey && column !== '' ? column : null)
}

/**
 * What is read on each platform of the draft. The example data of the draft is what templates read, under what
 * is known: the check, the platform, and the first row that failed, where there is one.
 */
export function renderForReaders(
  draft: CustomCheckDraft,
  verdict: ParsedCheckResult | undefined,
): ReaderView[] {
  const platforms = CHECK_PLATFORMS.filter(
    (platform) => draft.platforms.length === 0 || draft.platforms.includes(platform),
  )
  return platforms.map((platform) => {
    const variables = toVariables(draft, platform, verdict)
    const problems: string[] = []
    const render = (template: string) => tryRender(template, variables, problems)
    return {
      platform,
      title: draft.issueTitle,
      rationale: render(draft.rationaleTemplate),
      fixInstructions: render(draft.fixInstructionsTemplate),
      problems,
      privacyInfo: draft.privacyInfo,
      privacyExample: draft.privacyCenterExampleData[platform] ?? null,
    }
  })
}

function tryRender(
  template: string,
  variables: TemplateVariables,
  problems: string[],
): string | null {
  try {
    return renderTemplate(template, variables)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    problems.push(error.message)
    return null
  }
}

function toVariables(
  draft: CustomCheckDraft,
  platform: CheckPlatform,
  verdict: ParsedCheckResult | undefined,
): TemplateVariables {
  const examples = draft.templateDataExamples as TemplateVariables
  const [failure] = verdict?.failures ?? []
  const issue = failure === undefined ? {} : { value: failure.row }
  return {
    ...examples,
    check: { ...toObject(examples['check']), name: draft.name, issue_title: draft.issueTitle },
    device: { ...toObject(examples['device']), platform: DEVICE_TYPES[platform] },
    issue: { ...toObject(examples['issue']), title: draft.issueTitle, ...issue },
  }
}

function toObject(value: TemplateValue): Readonly<Record<string, TemplateValue>> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as Readonly<Record<string, TemplateValue>>) : {}
}

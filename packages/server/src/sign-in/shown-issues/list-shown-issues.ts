/*
 * Issues as their person sees them, in a sign-in and outside of one: in which order, why each matters, what was found,
 * what to do on this operating system, and what may be asked for.
 */
import type { Kysely } from 'kysely'
import { AppError } from '../../platform/app-error.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import { renderTemplate, type TemplateVariables } from '../../posture/checks/render-template.ts'
import type { Schema } from '../../schema/schema.ts'
import type { AttemptIssue } from '../attempts/attempt-view.ts'
import { maskRow } from './mask-row.ts'
import { listIssueFacts, type IssueFacts, type IssuesWanted } from './shown-issue-read.ts'

/** An issue with what helps to fix it. */
export interface ShownIssue extends AttemptIssue {
  readonly checkSlug: string
  readonly checkName: string
  readonly platform: IssueFacts['devicePlatform']
}

/** An answer as young as this is told as one to the question that was just asked. */
const JUST_ANSWERED_MS = MINUTE_MS

/** More than anybody reads; what is left out are the least urgent ones. */
const SHOWN_MAX = 100

/** The issues of a device for its person: what blocks first, then by deadline; exempted ones last. */
export async function listShownIssues(
  db: Kysely<Schema>,
  wanted: IssuesWanted,
): Promise<ShownIssue[]> {
  const facts = await listIssueFacts(db, wanted)
  return facts
    .map((each) => toShownIssue(each, wanted.at))
    .toSorted(byUrgency)
    .slice(0, SHOWN_MAX)
}

function byUrgency(one: ShownIssue, other: ShownIssue): number {
  return urgencyOf(one) - urgencyOf(other) || Number(one.id) - Number(other.id)
}

function urgencyOf({ blocksAt, isBlocking, exemption, recheck }: ShownIssue): number {
  if (recheck === 'passing') return Infinity
  if (isBlocking) return 0
  if (exemption === 'approved') return Number.MAX_VALUE
  return blocksAt === null ? Number.MAX_SAFE_INTEGER : blocksAt.getTime()
}

/** An issue as it is shown. */
export function toShownIssue(facts: IssueFacts, at: Date): ShownIssue {
  const { blocksDeviceAt, isExempted, resolvedAt, areExemptionsDisallowed, exemptionStatus } = facts
  const row = maskRow(facts.value)
  const blocksAt = isExempted || resolvedAt !== null ? null : blocksDeviceAt
  const isBlocking = blocksAt !== null && blocksAt <= at
  return {
    id: facts.id,
    checkId: facts.checkId,
    checkSlug: facts.checkSlug,
    checkName: facts.checkName,
    platform: facts.devicePlatform,
    title: facts.title,
    rationale: renderText(facts.rationaleTemplate, facts),
    foundInWords: toWords(row),
    rows: Object.keys(row).length === 0 ? [] : [row],
    steps: renderText(facts.fixTemplate, facts),
    blocksAt,
    isBlocking,
    recheck: toRecheck(facts, at),
    lastCheckedAt: facts.lastRecheckedAt,
    isSnoozeAllowed: !facts.isSnoozeDisallowed && !isBlocking,
    isExemptionAllowed: !areExemptionsDisallowed && !isExempted && exemptionStatus !== 'open',
    exemption: isExempted
      ? 'approved'
      : exemptionStatus === 'open' || exemptionStatus === 'denied'
        ? exemptionStatus
        : null,
  }
}

function toRecheck(
  { isAsked, resolvedAt, lastRecheckedAt }: IssueFacts,
  at: Date,
): AttemptIssue['recheck'] {
  if (resolvedAt !== null) return 'passing'
  if (isAsked) return 'asking'
  return at.getTime() - lastRecheckedAt.getTime() < JUST_ANSWERED_MS ? 'failing' : 'idle'
}

/** Names of columns as words: `filevault_status` is "filevault status". */
function toWords(row: Readonly<Record<string, string>>): string {
  return Object.entries(row)
    .map(([name, value]) => `${name.replaceAll('_', ' ')}: ${value}`)
    .join('; ')
}

/** A text that cannot be rendered is left out: the issue is shown all the same. */
function renderText(template: string, facts: IssueFacts): string | null {
  try {
    const text = renderTemplate(template, toVariables(facts)).trim()
    return text === '' ? null : text
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

function toVariables(facts: IssueFacts): TemplateVariables {
  return {
    check: { name: facts.checkName },
    device: { name: facts.deviceName, platform: facts.devicePlatform },
    issue: { title: facts.title, value: facts.value },
    organisation: { name: facts.organisationName },
    person: { name: facts.ownerName },
  }
}

/*
 * Issues as their person sees them, in a sign-in and outside of one: in which order, why each matters, what was found,
 * what to do on this operating system, and what may be asked for.
 */
import type { Kysely } from 'kysely'
import { AppError } from '../../platform/app-error.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import { renderTemplate, type TemplateVariables } from '../../posture/checks/render-template.ts'
import { toFixTemplate } from '../../posture/checks/catalogue/catalogue-entry.ts'
import { listSnoozeDays } from '../../posture/issues/snooze/snooze-rule.ts'
import type { Schema } from '../../schema/schema.ts'
import type { AttemptIssue } from '../attempts/attempt-view.ts'
import type { CheckWords } from './german/check-words.ts'
import { findCheckWords } from './find-check-words.ts'
import { maskRow } from './mask-row.ts'
import { listIssueFacts, type IssueFacts, type IssuesWanted } from './shown-issue-read.ts'

/** An issue with what helps to fix it. */
export interface ShownIssue extends AttemptIssue {
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
    .map((each) => toShownIssue(each, wanted))
    .toSorted(byUrgency)
    .slice(0, SHOWN_MAX)
}

function byUrgency(one: ShownIssue, other: ShownIssue): number {
  return (
    rankOf(one) - rankOf(other) ||
    deadlineOf(one) - deadlineOf(other) ||
    Number(one.id) - Number(other.id)
  )
}

/** What blocks stands before what does not yet; then what is put off, what does not count, and what is fixed. */
function rankOf({ isBlocking, snoozedUntil, exemption, recheck }: ShownIssue): number {
  if (recheck === 'passing') return 4
  if (isBlocking) return 0
  if (exemption === 'approved') return 3
  return snoozedUntil === null ? 1 : 2
}

function deadlineOf({ blocksAt }: ShownIssue): number {
  return blocksAt === null ? Number.MAX_SAFE_INTEGER : blocksAt.getTime()
}

/**
 * Whether everything is put off that will block a device: a sign-in then goes on without a warning. One that is decided
 * to block, or whose time to be shown has come, is never passed over.
 */
export async function isEveryWarningSnoozed(
  db: Kysely<Schema>,
  wanted: Pick<IssuesWanted, 'deviceId' | 'at'>,
): Promise<boolean> {
  const facts = await listIssueFacts(db, wanted)
  const warnings = facts.filter((each) => each.blocksDeviceAt !== null && !each.isExempted)
  return warnings.length > 0 && warnings.every((each) => isSnoozed(each, wanted.at))
}

function isSnoozed({ snoozedUntil, resolvedAt }: IssueFacts, at: Date): boolean {
  return snoozedUntil !== null && snoozedUntil > at && resolvedAt === null
}

/** An issue as it is shown. */
function toShownIssue(facts: IssueFacts, { at, language }: IssuesWanted): ShownIssue {
  const { blocksDeviceAt, isExempted, resolvedAt } = facts
  const row = maskRow(facts.value)
  const words = findCheckWords(facts.checkSlug, language)
  const blocksAt = isExempted || resolvedAt !== null ? null : blocksDeviceAt
  const isBlocking = blocksAt !== null && blocksAt <= at
  return {
    id: facts.id,
    checkId: facts.checkId,
    checkSlug: facts.checkSlug,
    checkName: facts.checkName,
    platform: facts.devicePlatform,
    title: words?.title ?? facts.title,
    rationale: renderText(toRationale(facts, words), facts),
    rows: Object.keys(row).length === 0 ? [] : [row],
    steps: renderText(toSteps(facts, words), facts),
    blocksAt,
    isBlocking,
    recheck: toRecheck(facts, at),
    lastCheckedAt: facts.lastRecheckedAt,
    snoozeDays: listSnoozeDays(facts, at),
    snoozedUntil: isSnoozed(facts, at) ? facts.snoozedUntil : null,
    ...toExemption(facts),
  }
}

/** What became of asking for an exemption. Devices are exempted, and not people. */
function toExemption(
  facts: IssueFacts,
): Pick<
  AttemptIssue,
  'isExemptionAllowed' | 'exemption' | 'exemptedUntil' | 'exemptionDenial' | 'withdrawableRequestId'
> {
  const { isExempted, exemptionStatus, areExemptionsDisallowed, isAboutPerson } = facts
  const isOpen = exemptionStatus === 'open' && !isExempted
  const isDenied = exemptionStatus === 'denied' && !isExempted
  return {
    isExemptionAllowed: !areExemptionsDisallowed && !isAboutPerson && !isExempted && !isOpen,
    exemption: isExempted ? 'approved' : isOpen ? 'open' : isDenied ? 'denied' : null,
    exemptedUntil: isExempted ? facts.exemptionExpiresAt : null,
    exemptionDenial: isDenied && facts.ownDenial !== '' ? facts.ownDenial : null,
    withdrawableRequestId: isOpen ? facts.ownRequestId : null,
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

/** What an admin has written stays as it is. */
function toRationale(
  { rationaleTemplate, isRationaleCustom }: IssueFacts,
  words: CheckWords | undefined,
): string {
  return words === undefined || isRationaleCustom ? rationaleTemplate : words.rationale
}

function toSteps({ fixTemplate, isFixCustom }: IssueFacts, words: CheckWords | undefined): string {
  return words === undefined || isFixCustom ? fixTemplate : toFixTemplate(words.steps)
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

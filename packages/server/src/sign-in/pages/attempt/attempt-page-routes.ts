/*
 * The page of a sign-in, and what of its forms belongs to no other step: asking for an exemption, and putting an issue
 * off. Every one is for the browser that began the sign-in.
 */
import { SYSTEM_ACTOR } from '../../../changes/audit/audit-entry.ts'
import type { Foundation } from '../../../changes/foundation.ts'
import { AppError, conflict, notFound } from '../../../platform/app-error.ts'
import type { RerunAnswers } from '../../../posture/checks/rerun-answers.ts'
import { createExemptionRequest } from '../../../posture/issues/exemptions/create-exemption-request.ts'
import { getHeldAttempt } from '../../attempts/attempt-cookie-input.ts'
import { findAttemptPerson } from '../../attempts/attempt-facts-read.ts'
import { findAttempt, type Attempt } from '../../attempts/attempt-store.ts'
import { proceedAttempt, runPosture, settleRegistration } from '../../attempts/run-posture.ts'
import { viewOfAttempt } from '../../attempts/view-attempt.ts'
import { toKeyRequest } from '../../browser-keys/browser-key-input.ts'
import { readReason } from '../issue/exemption-form.ts'
import { takeSnoozeForm } from '../issue/snooze-form.ts'
import type { PageAnswer, PageRequest, PageRoute } from '../page-surface.ts'
import { attemptPath } from './attempt-path.ts'
import { showAttempt } from './show-attempt.ts'

export interface AttemptPageContext extends Pick<Foundation, 'db' | 'runChange' | 'clock' | 'log'> {
  readonly baseUrl: string
  readonly reruns: RerunAnswers
}

export function attemptPageRoutes(context: AttemptPageContext): PageRoute[] {
  return [
    {
      method: 'GET',
      path: attemptPath(':id'),
      handler: async (request) => answerPage(context, request),
    },
    {
      method: 'POST',
      path: attemptPath(':id', 'exemption'),
      handler: async (request) => answerExemption(context, request),
    },
    {
      method: 'POST',
      path: attemptPath(':id', 'snooze'),
      handler: async (request) => answerSnooze(context, request),
    },
  ]
}

async function hold(context: AttemptPageContext, { headers, params }: PageRequest) {
  const { attempt } = await getHeldAttempt(context, headers, params['id'] ?? '')
  return attempt
}

async function answerPage(context: AttemptPageContext, request: PageRequest): Promise<PageAnswer> {
  const { language, query } = request
  const attempt = await settle(context, await hold(context, request))
  const view = await viewOfAttempt(context, attempt, language)
  const isStaying = query['stay'] === 'yes'
  const shown = { view, language, now: context.clock.now(), isStaying }
  const content = showAttempt({ ...shown, keyRequest: toKeyRequest(attempt, context.baseUrl) })
  const policy = view.stage === 'device' ? { connectTo: [anyPortOf(context.baseUrl)] } : {}
  return { kind: 'page', content, policy }
}

/** A device that is in order meanwhile lets its sign-in through; one of which nobody decided yet is asked. */
async function settle(context: AttemptPageContext, held: Attempt): Promise<Attempt> {
  const attempt = await settleRegistration(context, held)
  const { id, stage } = attempt
  if (stage === 'posture') {
    // The page shows that it is asked, and hears of the answer.
    proceedAttempt(context, id).catch((error: unknown) => {
      context.log.debug({ err: error }, 'a sign-in did not go on')
    })
    return attempt
  }
  if (stage !== 'blocked' || attempt.endedAt !== null) return attempt
  const { choices } = await viewOfAttempt(context, attempt)
  if (!choices.mayContinue) return attempt
  const settled = runPosture(context, attempt, { isContinuing: false })
  return settled.catch(async (error: unknown) => {
    // Another page of the same sign-in was faster.
    if (error instanceof AppError && error.code === 'conflict') {
      return (await findAttempt(context.db, id)) ?? attempt
    }
    throw error
  })
}

/** The ports of the proof are on the host of the service. */
function anyPortOf(baseUrl: string): string {
  const { protocol, hostname } = new URL(baseUrl)
  return `${protocol}//${hostname}:*`
}

async function answerExemption(
  context: AttemptPageContext,
  request: PageRequest,
): Promise<PageAnswer> {
  const { attempt, choices, issue } = await holdIssue(context, request)
  if (!choices.mayRequestExemption || !issue.isExemptionAllowed) {
    throw conflict('No exemption can be asked for here.')
  }
  const message = readReason(request.form)
  await context.runChange(toOrigin(request), async (change) =>
    createExemptionRequest(change, {
      person_id: attempt.personId ?? undefined,
      issueIds: [issue.id],
      message,
      coversFutureIssues: false,
      expiresAt: null,
    }),
  )
  return { kind: 'see_other', to: attemptPath(attempt.id) }
}

/** The sign-in goes on as before: whoever is warned still says so. */
async function answerSnooze(
  context: AttemptPageContext,
  request: PageRequest,
): Promise<PageAnswer> {
  const { attempt, choices, issue } = await holdIssue(context, request)
  if (!choices.maySnooze) throw conflict('Nothing can be put off here.')
  const { personId } = attempt
  const person = personId === null ? undefined : await findAttemptPerson(context.db, personId)
  if (person === undefined) throw conflict('Nothing can be put off here.')
  const actor = { type: 'Person', ...person } as const
  await context.runChange({ ...toOrigin(request), actor }, async (change) =>
    takeSnoozeForm(change, issue.id, request.form),
  )
  return { kind: 'see_other', to: attemptPath(attempt.id) }
}

/** The issue that a form names, of those that its sign-in shows. @throws AppError `not_found` */
async function holdIssue(context: AttemptPageContext, request: PageRequest) {
  const attempt = await hold(context, request)
  const { choices, issues } = await viewOfAttempt(context, attempt)
  const issueId = request.form.get('issue_id') ?? ''
  const issue = issues.find(({ id }) => id === issueId)
  if (issue === undefined) throw notFound('issue', issueId)
  return { attempt, choices, issue }
}

function toOrigin({ requestId, address }: PageRequest) {
  return { actor: SYSTEM_ACTOR, requestId, ipAddress: address }
}

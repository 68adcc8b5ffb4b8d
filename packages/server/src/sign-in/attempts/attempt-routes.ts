/*
 * What a person does with an attempt: the actions of its page, its events, and the way back to whoever sent the
 * browser. Every one is for the browser that began the attempt. The page itself is in `pages`.
 */
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { conflict } from '../../platform/app-error.ts'
import type { RerunAnswers } from '../../posture/checks/rerun-answers.ts'
import type { PageAnswer, PageRequest, PageRoute } from '../pages/page-surface.ts'
import { getHeldAttempt, type HeldAttempt } from './attempt-cookie-input.ts'
import { streamAttempt, type AttemptWatch } from './attempt-events.ts'
import { findAttempt, findAttemptRevision, type Attempt } from './attempt-store.ts'
import { refuseAttempt } from './refuse-attempt.ts'
import type { RefusalCode } from './refusals.ts'
import { proceedAttempt, runPosture, settleRegistration } from './run-posture.ts'
import { viewOfAttempt } from './view-attempt.ts'

export interface AttemptRouteDependencies extends Pick<
  Foundation,
  'db' | 'runChange' | 'clock' | 'log'
> {
  readonly baseUrl: string
  readonly reruns: RerunAnswers
  readonly watch: AttemptWatch
  /** Ends an attempt that came from Entra, by the form that takes its answer there. */
  readonly answerEntra: (held: HeldAttempt) => Promise<PageAnswer>
}

const PATH = '/sign-in/attempts/:id'

/** The actions, the events and the way back. */
export function attemptRoutes(dependencies: AttemptRouteDependencies): PageRoute[] {
  const hold = async ({ headers, params }: PageRequest) =>
    getHeldAttempt(dependencies, headers, params['id'] ?? '')
  const act = (name: string, work: (attempt: Attempt) => Promise<unknown>): PageRoute => ({
    method: 'POST',
    path: `${PATH}/${name}`,
    handler: async (request) => {
      const { attempt } = await hold(request)
      await work(attempt)
      return backToPage(attempt)
    },
  })
  const refuse = async ({ id }: Attempt, code: RefusalCode) =>
    dependencies.runChange({ actor: SYSTEM_ACTOR }, async (change) =>
      refuseAttempt(change, id, code),
    )
  return [
    act('continue', async (attempt) => runPosture(dependencies, attempt, { isContinuing: true })),
    act('recheck', async (attempt) =>
      runPosture(dependencies, attempt, { isContinuing: false, isRecheck: true }),
    ),
    act('cancel', async (attempt) => refuse(attempt, 'cancelled')),
    act('not-my-device', async (attempt) => refuse(attempt, 'not_my_device')),
    {
      method: 'GET',
      path: `${PATH}/return`,
      handler: async (request) => goBack(dependencies, await hold(request)),
    },
    {
      method: 'GET',
      path: `${PATH}/events`,
      handler: async (request) => answerEvents(dependencies, await hold(request)),
    },
  ]
}

function backToPage({ id }: Attempt): PageAnswer {
  return { kind: 'see_other', to: `/sign-in/attempts/${id}` }
}

/** Sends the browser back with what the attempt came to. */
async function goBack(
  { answerEntra }: AttemptRouteDependencies,
  held: HeldAttempt,
): Promise<PageAnswer> {
  const { id, endedAt, interaction } = held.attempt
  if (endedAt === null) throw conflict('This sign-in is under way.')
  switch (interaction.kind) {
    case 'oidc':
      return {
        kind: 'see_other',
        to: `/sign-in/interaction/${encodeURIComponent(interaction.uid)}/finish?attempt=${id}`,
      }
    case 'entra':
      return answerEntra(held)
    case 'forward_auth':
      return { kind: 'see_other', to: `/sign-in/start/finish?attempt=${id}` }
    case 'person_pages':
      return { kind: 'see_other', to: `/sign-in/me/finish?attempt=${id}` }
  }
}

async function answerEvents(
  dependencies: AttemptRouteDependencies,
  { attempt: { id } }: HeldAttempt,
): Promise<PageAnswer> {
  const { watch, log } = dependencies
  const stream = streamAttempt(watch, id, {
    read: async () => {
      const found = await findAttempt(dependencies.db, id)
      if (found === undefined) return undefined
      const attempt = await settleRegistration(dependencies, found)
      const { revision, stage, endedAt } = attempt
      const json = await viewOfAttempt(dependencies, attempt)
      return { revision, json, isUndecided: stage === 'posture', isOver: endedAt !== null }
    },
    readRevision: async () => findAttemptRevision(dependencies.db, id),
    proceed: async () => {
      await proceedAttempt(dependencies, id).catch((error: unknown) => {
        log.debug({ err: error }, 'a sign-in did not go on')
      })
    },
  })
  return { kind: 'events', stream }
}

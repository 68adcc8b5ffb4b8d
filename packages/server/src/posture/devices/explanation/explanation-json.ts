/*
 * The wire form of why a device has its status, and of when it was last heard of.
 */
import { z } from 'zod'
import { toWire } from '../../../platform/wire/to-wire.ts'
import { timestampSchema, toTimestamp } from '../../../platform/wire/wire-values.ts'
import { REMEDIATION_STRATEGIES } from '../../checks/check-definition.ts'
import type { ExplainedIssue, StatusExplanation } from './explain-status.ts'

const authStateSchema = z.enum(['Good', 'Notified', 'Will Block', 'Blocked'])

const explainedIssueSchema = z.object({
  issue_id: z.string(),
  issue_title: z.string(),
  check_id: z.string(),
  check_slug: z.string(),
  check_name: z.string(),
  strategy: z
    .enum(REMEDIATION_STRATEGIES)
    .describe(
      'That holds for this device: of a check that is rolled out to others, `report_only`.',
    ),
  detected_at: timestampSchema.describe('Since when the check fails.'),
  blocks_device_at: timestampSchema.nullable(),
  exemption_expires_at: timestampSchema.nullable(),
  effect: z
    .enum(['decides', 'counts', 'exempted', 'reports'])
    .describe('Whether it makes the status what it is, counts less than others, or not at all.'),
  state_without: authStateSchema.describe('The status if this issue alone were resolved.'),
})

/** Why a device has its status, on the wire. */
export const statusExplanationSchema = z
  .object({
    device_id: z.string(),
    auth_state: authStateSchema,
    compliance: z.enum(['compliant', 'not-compliant']),
    sentence: z.string().describe('The state and why, in one sentence.'),
    since: timestampSchema.nullable().describe('Since when the device has this status.'),
    failing_since: timestampSchema
      .nullable()
      .describe('Since when the oldest issue exists that makes the status what it is.'),
    will_block_at: timestampSchema.nullable(),
    evaluated: z.boolean().describe('False until the device has answered its checks once.'),
    unanswered_checks_count: z.int(),
    issues: z.array(explainedIssueSchema),
    next_change: z
      .object({ at: timestampSchema, auth_state: authStateSchema })
      .nullable()
      .describe('What time alone will change next, if nothing else happens.'),
    what_changes_it: z.array(z.string()).describe('What would lead to a better status, in words.'),
  })
  .meta({ id: 'DeviceStatusExplanation' })

/** When a device was last heard of, on the wire. */
export const deviceCheckInsSchema = z
  .object({
    device_id: z.string(),
    last_contact_at: timestampSchema.nullable().describe('The agent sent anything at all.'),
    ip_address: z.string().nullable(),
    enrolled_at: timestampSchema.nullable(),
    last_round_at: timestampSchema.nullable().describe('It answered all its checks at once.'),
    last_result_at: timestampSchema.nullable().describe('It answered any check.'),
    last_report_at: timestampSchema.nullable().describe('It sent rows of a table of reporting.'),
    last_sign_in_at: timestampSchema.nullable().describe('A sign-in with it began.'),
    last_authenticated_at: timestampSchema.nullable().describe('A sign-in with it succeeded.'),
  })
  .meta({ id: 'DeviceCheckIns' })

/** The wire form of why a device has its status. */
export function toStatusExplanationJson(explanation: StatusExplanation) {
  const { nextChange } = explanation
  return toWire(statusExplanationSchema, explanation, {
    sentence: toSentence(explanation),
    evaluated: explanation.isEvaluated,
    unanswered_checks_count: explanation.owedCount,
    issues: explanation.issues.map((issue) => toWire(explainedIssueSchema, issue)),
    next_change:
      nextChange === null
        ? null
        : { at: toTimestamp(nextChange.at), auth_state: nextChange.authState },
    what_changes_it: listRemedies(explanation),
  })
}

/** What the first of the issues that decide does. */
const VERBS = {
  Blocked: 'blocks the device',
  'Will Block': 'will block the device',
  Notified: 'is told to the owner of the device',
  Good: 'counts against the device',
} as const

function toSentence({ authState, isEvaluated, issues }: StatusExplanation): string {
  if (!isEvaluated) return 'Blocked: the device has not answered its checks yet.'
  const deciding = issues.filter(({ effect }) => effect === 'decides')
  const [first] = deciding
  if (first === undefined) return `${authState}: no open issue counts against the device.`
  const others = deciding.length - 1
  const rest = others === 1 ? '; 1 more issue does' : `; ${others} more issues do`
  const main = `${authState}: "${first.issueTitle}" ${VERBS[authState]}`
  return others === 0 ? `${main}.` : `${main}${rest} so too.`
}

function listRemedies({ isEvaluated, owedCount, issues, ...status }: StatusExplanation): string[] {
  if (!isEvaluated) {
    return [
      `The device answers its checks; ${owedCount} of them ${owedCount === 1 ? 'waits' : 'wait'}.`,
    ]
  }
  const deciding = issues.filter(({ effect }) => effect === 'decides')
  const alone = deciding.filter(({ stateWithout }) => stateWithout !== status.authState)
  if (alone.length > 0) return alone.map((issue) => toRemedy(issue))
  if (deciding.length === 0) return []
  const titles = deciding.map(({ issueTitle }) => `"${issueTitle}"`)
  return [`All of these are resolved or exempted: ${titles.join(', ')}.`]
}

function toRemedy({ issueTitle, stateWithout }: ExplainedIssue): string {
  return `"${issueTitle}" is resolved or exempted: the status becomes ${stateWithout}.`
}

import { z } from 'zod'
import { toWire } from '../../../platform/wire/to-wire.ts'
import { timestampSchema } from '../../../platform/wire/wire-values.ts'
import type { SelfTestOutcome } from './run-self-test.ts'

const caseSchema = z
  .object({
    name: z.string().describe('The case, such as `good_set` or `wrong_audience`.'),
    sent: z.string().describe('What was sent, in words.'),
    expected: z.string().describe('What a receiver does with it by RFC 8935.'),
    verdict: z.enum([
      'ok',
      'accepted_bad_set',
      'wrong_error_code',
      'refused_good_set',
      'unreachable',
      'not_run',
    ]),
    advice: z.string(),
    jti: z.string().nullable(),
    status: z.int().nullable(),
    error_code: z.string().nullable().describe('The `err` of the answer.'),
    response_body: z.string().nullable().describe('The first 1,024 characters.'),
    duration_ms: z.int().nullable(),
  })
  .meta({ id: 'SelfTestCase', description: 'What a receiver made of one event of a self-test.' })

/** What a receiver made of a self-test. */
export const selfTestSchema = z
  .object({
    stream_id: z.string(),
    started_at: timestampSchema,
    finished_at: timestampSchema
      .nullable()
      .describe('Null while it runs, or if it was broken off.'),
    passed: z.boolean().describe('Whether no case that was sent went wrong.'),
    cases: z.array(caseSchema),
  })
  .meta({ id: 'SelfTest', description: 'What a receiver made of good and bad test events.' })

/** What a self-test does, for documents. */
export const SELF_TEST_DESCRIPTION =
  'Pushes one good verification event and a dozen that a receiver must handle otherwise, each marked with a `test` claim, and judges the answers. Push streams only, once a minute.'

/** The wire form of a self-test. */
export function toSelfTestJson({ stream, test }: SelfTestOutcome) {
  const { cases } = test
  const isGood = ({ verdict }: (typeof cases)[number]) => verdict === 'ok' || verdict === 'not_run'
  return toWire(selfTestSchema, test, {
    stream_id: stream.streamId,
    passed: cases[0]?.verdict === 'ok' && cases.every(isGood),
  })
}

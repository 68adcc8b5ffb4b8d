import { parsePushError } from '@heliograph/ssf'
import { singleHeader } from '../../dispatch/delivery-outcome.ts'
import type { SelfTestCaseRecord } from '../../../schema/tables/ssf-stream-tables.ts'
import type { OutboundResponse, OutboundResult } from '../../../platform/net/outbound-result.ts'
import { toStorableText } from '../../../platform/storable-text.ts'
import type { Expectation, SelfTestCase } from './self-test-case.ts'

const BODY_LENGTH_MAX = 1_024

/** What a receiver made of a case, with one sentence of advice. RFC 8935 sections 2.2 to 2.4. */
export function judgeSelfTestCase(
  testCase: SelfTestCase,
  result: OutboundResult,
): SelfTestCaseRecord {
  const basics = {
    name: testCase.name,
    sent: testCase.sent,
    expected: describeExpectation(testCase.expectation),
    jti: testCase.jti,
    duration_ms: Math.round(result.timings.totalMs),
  }
  if (result.kind === 'failed') {
    const isBrokenOff = testCase.name === 'oversize' && result.stage !== 'refused'
    return {
      ...basics,
      verdict: isBrokenOff ? 'ok' : 'unreachable',
      advice: isBrokenOff
        ? 'The receiver broke the transmission off; an answer with status 413 would tell the sender why.'
        : toStorableText(`${result.message}. Nothing can be said about this case.`),
      status: null,
      error_code: null,
      response_body: null,
    }
  }
  const body = result.body.toString('utf8')
  const error = parsePushError(result.status, singleHeader(result.headers['content-type']), body)
  const isAccepted = result.status >= 200 && result.status < 300
  return {
    ...basics,
    ...judgeAnswer(testCase, result, { isAccepted, errorCode: error.err }),
    status: result.status,
    error_code: isAccepted ? null : (error.err ?? null),
    response_body: body === '' ? null : toStorableText(body.slice(0, BODY_LENGTH_MAX)),
  }
}

/** A case that was not sent, and why. */
export function skipSelfTestCase(testCase: SelfTestCase, why: string): SelfTestCaseRecord {
  return {
    name: testCase.name,
    sent: testCase.sent,
    expected: describeExpectation(testCase.expectation),
    verdict: 'not_run',
    advice: why,
    jti: null,
    status: null,
    error_code: null,
    response_body: null,
    duration_ms: null,
  }
}

interface Answer {
  readonly isAccepted: boolean
  readonly errorCode: string | undefined
}

function judgeAnswer(
  { expectation, risk }: SelfTestCase,
  response: OutboundResponse,
  { isAccepted, errorCode }: Answer,
): Pick<SelfTestCaseRecord, 'verdict' | 'advice'> {
  const { status } = response
  if (expectation.kind === 'accept') {
    if (!isAccepted) {
      return { verdict: 'refused_good_set', advice: `Accept it with status 202. ${risk}` }
    }
    const advice =
      status === 202
        ? 'As it should be.'
        : `As it should be; 202 is the status by the book, ${status} is taken too.`
    return { verdict: 'ok', advice }
  }
  if (isAccepted) return { verdict: 'accepted_bad_set', advice: `Refuse it. ${risk}` }
  const isListed = expectation.statuses?.includes(status) === true
  const isNamed = expectation.errorCodes.some((code) => code === errorCode)
  if (isListed || (status === 400 && isNamed)) return { verdict: 'ok', advice: 'As it should be.' }
  return { verdict: 'wrong_error_code', advice: adviseOnError(expectation, status, errorCode) }
}

function adviseOnError(
  { errorCodes }: Extract<Expectation, { kind: 'refuse' }>,
  status: number,
  errorCode: string | undefined,
): string {
  const wanted = `Answer 400 with {"err": "${errorCodes[0] ?? 'invalid_request'}"}`
  if (status >= 500 || status === 429) {
    return `${wanted}: after ${status} the sender tries the same again and again.`
  }
  if (status !== 400) return `${wanted}: ${status} does not say that the event itself is wrong.`
  if (errorCode === undefined) return `${wanted}: the answer names no error code.`
  return `${wanted}: the code that was answered sends whoever looks into it the wrong way.`
}

function describeExpectation(expectation: Expectation): string {
  if (expectation.kind === 'accept') return 'accepted with 202'
  const codes = expectation.errorCodes.join(' or ')
  const others = (expectation.statuses ?? []).map((status) => `, or ${status}`).join('')
  return `refused with 400 and ${codes}${others}`
}

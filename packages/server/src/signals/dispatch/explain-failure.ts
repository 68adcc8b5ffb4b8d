/*
 * Why an attempt to deliver failed, and what helps: one sentence each, by the stable code of the failure. For
 * whoever looks at a delivery; decides nothing.
 */

import type { SetErrorCode } from '@heliograph/ssf'
import type { FailureCode } from '../../platform/net/outbound-result.ts'
import type { OUTCOME_REFUSED } from './delivery-outcome.ts'

/** What is known of a failed attempt. */
interface FailedAttempt {
  readonly errorCode: string | null
  readonly statusCode: number | null
}

/** In words. */
interface ExplainedFailure {
  readonly cause: string
  readonly remedy: string
}

/** What has been broken off is not recorded. */
type RecordedCode =
  Exclude<FailureCode, 'aborted' | 'client_closed'> | SetErrorCode | typeof OUTCOME_REFUSED

const CERTIFICATE =
  'Let the receiver present a certificate that is valid for its name, with its whole chain.'
const REACH =
  'Look whether the receiver runs, and whether a firewall lets the address of this service through.'

/** By the codes of the guarded client, of RFC 8935 section 2.4, and of this service. */
const EXPLAINED: Readonly<Record<RecordedCode, ExplainedFailure>> = {
  target_refused: {
    cause: 'The service may not send to this address.',
    remedy:
      'Use a public HTTPS URL, or let the operator allow-list it with `HELIOGRAPH_ALLOWED_TARGETS`.',
  },
  address_not_public: {
    cause: 'The name of the receiver leads to an address that is not public.',
    remedy:
      'Use a public address, or let the operator allow-list it with `HELIOGRAPH_ALLOWED_TARGETS`.',
  },
  request_invalid: {
    cause: 'The request could not be made from what is configured.',
    remedy: 'Look at the URL and the headers of the destination.',
  },
  authorization_failed: {
    cause: 'The authorization server gave no access token, so that nothing was sent.',
    remedy: 'Look at the token endpoint, the client id and the client secret of the destination.',
  },
  outcome_refused: {
    cause: 'The attempt failed, and the database refused to store what the receiver had answered.',
    remedy:
      'Look for the id of the delivery in the log of this service: it says what was refused, and why.',
  },
  name_not_found: {
    cause: 'The name of the receiver does not exist in the DNS.',
    remedy: 'Look for a slip in the URL, and whether the record has been deleted.',
  },
  dns_failed: {
    cause: 'The name of the receiver could not be looked up.',
    remedy:
      'Look at the name servers of the domain of the receiver and at the resolver of this machine.',
  },
  dns_timeout: {
    cause: 'The look-up of the name of the receiver took too long.',
    remedy:
      'Look at the name servers of the domain of the receiver and at the resolver of this machine.',
  },
  connection_refused: {
    cause: 'Nothing listens at the address and port of the receiver.',
    remedy: 'Start the receiver, or correct the port of the URL.',
  },
  connection_failed: { cause: 'The receiver could not be connected to.', remedy: REACH },
  connect_timeout: { cause: 'The receiver did not take the connection in time.', remedy: REACH },
  certificate_expired: {
    cause: 'The certificate of the receiver has expired.',
    remedy: 'Renew it; nothing has to be changed here.',
  },
  certificate_not_yet_valid: {
    cause: 'The certificate of the receiver is not valid yet.',
    remedy: 'Look at the clocks of both machines, and at the certificate.',
  },
  certificate_self_signed: {
    cause: 'The certificate of the receiver is signed by itself.',
    remedy: 'Use one of a public authority, or give the destination the authority of its own.',
  },
  certificate_untrusted: {
    cause: 'The certificate of the receiver is of an authority that is not trusted.',
    remedy: CERTIFICATE,
  },
  certificate_name_mismatch: {
    cause: 'The certificate of the receiver is for another name.',
    remedy: CERTIFICATE,
  },
  tls_failed: {
    cause: 'No TLS connection came about.',
    remedy: 'The receiver needs TLS 1.2 or later; look whether it asks for a client certificate.',
  },
  connection_closed: {
    cause: 'The receiver closed the connection before it answered.',
    remedy:
      'Look at the log of the receiver, and of the proxy before it, at the time of the attempt.',
  },
  connection_reset: {
    cause: 'The connection was reset before the receiver answered.',
    remedy:
      'Look at the log of the receiver, and of the proxy before it, at the time of the attempt.',
  },
  response_invalid: {
    cause: 'The answer of the receiver is no valid HTTP.',
    remedy: 'Look whether something else than the receiver listens at the address.',
  },
  headers_too_large: {
    cause: 'The headers of the answer are too large.',
    remedy: 'Let the receiver answer with fewer headers.',
  },
  headers_timeout: {
    cause: 'The receiver took the request and did not answer in time.',
    remedy: 'Let it store the event, answer at once, and do its work afterwards.',
  },
  body_timeout: {
    cause: 'The receiver began to answer and did not finish in time.',
    remedy: 'Let it answer without a body.',
  },
  deadline_exceeded: {
    cause: 'The attempt took longer than an attempt may take.',
    remedy: 'Let the receiver store the event, answer at once, and do its work afterwards.',
  },
  invalid_request: {
    cause: 'The receiver could not read the request as a SET (RFC 8935).',
    remedy: 'Let it read the body as the token itself, of the type `application/secevent+jwt`.',
  },
  invalid_key: {
    cause: 'The receiver does not accept the key that signed the SET.',
    remedy: 'Let it read the JWKS of the issuer again; the health of the stream tells of its keys.',
  },
  invalid_issuer: {
    cause: 'The receiver expects another issuer.',
    remedy: 'Configure the `iss` of the stream at the receiver.',
  },
  invalid_audience: {
    cause: 'The receiver expects another audience.',
    remedy: 'Configure the `aud` of the stream at the receiver.',
  },
  authentication_failed: {
    cause: 'The receiver could not authenticate this service.',
    remedy: 'Give the destination the credential that the receiver expects.',
  },
  invalid_state: {
    cause: 'The receiver did not expect the state of this verification.',
    remedy: 'Let the receiver compare it with the one that it asked for last.',
  },
  access_denied: {
    cause: 'The receiver knows this service and does not let it send.',
    remedy: 'Let the receiver permit the credential of the destination.',
  },
}

const CODES: ReadonlyMap<string, ExplainedFailure> = new Map(Object.entries(EXPLAINED))

const BY_STATUS: Readonly<Record<number, ExplainedFailure>> = {
  400: {
    cause: 'The receiver takes the request for wrong.',
    remedy: 'Its answer below may say what it expects.',
  },
  401: {
    cause: 'The receiver could not authenticate this service.',
    remedy: 'Give the destination the credential that the receiver expects.',
  },
  403: {
    cause: 'The receiver does not let this service send.',
    remedy:
      'Look at the credential of the destination, and whether a firewall for web requests stops it.',
  },
  404: {
    cause: 'There is nothing at the path of the URL.',
    remedy: 'Correct the URL of the destination, or the route of the receiver.',
  },
  405: {
    cause: 'The receiver takes no POST at this URL.',
    remedy: 'Correct the URL of the destination.',
  },
  410: {
    cause: 'The receiver says that it wants no more events.',
    remedy: 'Switch the destination on again when the receiver is back.',
  },
  413: {
    cause: 'The event is larger than the receiver takes.',
    remedy: 'Raise the limit of the receiver, or of the proxy before it.',
  },
  415: {
    cause: 'The receiver does not take the media type.',
    remedy: 'SETs come as `application/secevent+jwt`, webhooks as `application/json`.',
  },
  429: {
    cause: 'The receiver gets more than it takes.',
    remedy: 'Nothing has to be done: it is tried again later. A pace of the destination avoids it.',
  },
}

/** Why it failed and what helps; undefined for an attempt that did not fail. */
export function explainFailure({
  errorCode,
  statusCode,
}: FailedAttempt): ExplainedFailure | undefined {
  const byCode = errorCode === null ? undefined : CODES.get(errorCode)
  if (byCode !== undefined) return byCode
  if (statusCode === null) {
    return errorCode === null ? undefined : { cause: 'The attempt failed.', remedy: REACH }
  }
  const byStatus = BY_STATUS[statusCode]
  if (byStatus !== undefined) return byStatus
  if (statusCode >= 500) {
    return {
      cause: 'The receiver failed at the event.',
      remedy: 'Look at its log at the time of the attempt. The event is tried again.',
    }
  }
  if (statusCode >= 300 && statusCode < 400) {
    return {
      cause: 'The receiver sends elsewhere, and redirects are not followed.',
      remedy:
        'Use the address that the `Location` of the answer names as the URL of the destination.',
    }
  }
  return errorCode === null
    ? undefined
    : { cause: 'The receiver did not take the event.', remedy: 'Its answer may say why.' }
}

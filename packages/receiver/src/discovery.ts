import {
  appendedConfigurationUrl,
  describeIssues,
  parseTransmitterConfiguration,
  wellKnownConfigurationUrl,
  type TransmitterConfiguration,
} from '@heliograph/ssf'
import { TransmitterError } from './errors.ts'
import { requireAmounts } from './require-amounts.ts'
import type { CallOptions } from './stream-client/stream-client.ts'
import {
  defaultFetch,
  freshForMs,
  requestTransmitter,
  requireSecureUrl,
  type FetchFunction,
  type TransmitterResponse,
} from './transmitter-request.ts'
import { untilAborted } from './until-aborted.ts'

/** How the discovery document is fetched. */
export interface DiscoveryOptions {
  /** Longest wait for each answer in milliseconds. Default 10000. */
  readonly timeoutMs?: number
  /** Allows plain HTTP beyond the loopback interface. Default false. */
  readonly isHttpAllowed?: boolean
  readonly fetch?: FetchFunction
  readonly signal?: AbortSignal
}

/** A discovery document, and how long it stays fresh. */
interface DiscoveredDocument {
  readonly configuration: TransmitterConfiguration
  /** Undefined when the transmitter does not say. */
  readonly freshForMs: number | undefined
}

const DOCUMENT_BYTES_MAX = 256 * 1024

/**
 * Fetches the discovery document of an issuer and checks that it speaks for that issuer. Where the
 * URL with the well-known part inserted has no document (404, 410) or a wrong one, the one with the
 * part appended is tried, which some transmitters use. SSF 1.0 sections 7.2.1 and 7.2.4.
 *
 * @throws TransmitterError when it cannot be had; code `bad_response` when it is malformed or names
 *   another issuer.
 * @throws TypeError when the issuer is neither HTTPS nor loopback, or `timeoutMs` is none.
 */
export async function discoverTransmitter(
  issuer: string,
  options: DiscoveryOptions = {},
): Promise<TransmitterConfiguration> {
  requireAmounts({ timeoutMs: options.timeoutMs })
  return (await discover(issuer, options)).configuration
}

async function discover(issuer: string, options: DiscoveryOptions): Promise<DiscoveredDocument> {
  const appended = appendedConfigurationUrl(issuer)
  try {
    return await fetchDocument(issuer, wellKnownConfigurationUrl(issuer), options)
  } catch (error) {
    if (appended === undefined || !isOtherPlacePossible(error)) throw error
    try {
      return await fetchDocument(issuer, appended, options)
    } catch (other) {
      // What is wrong at the place of the specification says more, unless there is nothing at all.
      throw isNothingThere(error) ? other : error
    }
  }
}

function isOtherPlacePossible(error: unknown): boolean {
  if (isNothingThere(error)) return true
  if (!(error instanceof TransmitterError)) return false
  // Some answer 403 for what is not there.
  return error.code === 'bad_response' || error.status === 403
}

function isNothingThere(error: unknown): boolean {
  return error instanceof TransmitterError && (error.status === 404 || error.status === 410)
}

async function fetchDocument(
  issuer: string,
  url: string,
  options: DiscoveryOptions,
): Promise<DiscoveredDocument> {
  const response = await requestTransmitter({
    method: 'GET',
    url: requireSecureUrl(url, options.isHttpAllowed ?? false),
    headers: { accept: 'application/json' },
    timeoutMs: options.timeoutMs ?? 10_000,
    responseBytesMax: DOCUMENT_BYTES_MAX,
    signal: options.signal,
    fetch: options.fetch ?? defaultFetch,
  })
  return {
    configuration: readDocument(issuer, response),
    freshForMs: freshForMs(response.headers),
  }
}

function readDocument(
  issuer: string,
  { json, status, request }: TransmitterResponse,
): TransmitterConfiguration {
  const parsed = parseTransmitterConfiguration(json)
  if (!parsed.ok) {
    const message = `${request}: ${describeIssues(parsed.issues)}`
    throw new TransmitterError('bad_response', message, { status })
  }
  if (parsed.value.issuer === issuer) return parsed.value
  const message = `${request}: the discovery document names another issuer`
  throw new TransmitterError('bad_response', message, { status })
}

/** A discovery document that is kept. */
export interface DiscoveryCache {
  /**
   * The document: the kept one while it is fresh, else a new one. While a new one cannot be had,
   * the kept one serves on for a day.
   *
   * @param options What bounds this call; the default of `timeoutMs` is that of the cache.
   * @throws TransmitterError when there is none; TypeError when `timeoutMs` is none.
   */
  getConfiguration(options?: CallOptions): Promise<TransmitterConfiguration>
}

/** How long a document is kept when the transmitter does not say. */
const DEFAULT_FRESH_MS = 60 * 60_000
const FRESH_MS_MIN = 60_000
const FRESH_MS_MAX = 24 * 60 * 60_000
const STALE_MS_MAX = 24 * 60 * 60_000

/**
 * Creates a cache of one issuer's discovery document. `max-age` is honoured between a minute and a
 * day; requests at the same time share one fetch.
 *
 * @param options.nowMs Now, in milliseconds since the epoch.
 * @throws TypeError when `timeoutMs` is none.
 */
export function createDiscoveryCache(
  issuer: string,
  options: Omit<DiscoveryOptions, 'signal'> & { readonly nowMs?: () => number } = {},
): DiscoveryCache {
  requireAmounts({ timeoutMs: options.timeoutMs })
  const nowMs = options.nowMs ?? Date.now
  let kept: { configuration: TransmitterConfiguration; freshUntilMs: number } | undefined
  let fetching: Promise<TransmitterConfiguration> | undefined

  async function renew(timeoutMs: number | undefined): Promise<TransmitterConfiguration> {
    try {
      const limits = timeoutMs === undefined ? options : { ...options, timeoutMs }
      const found = await discover(issuer, limits)
      const freshMs = Math.min(
        FRESH_MS_MAX,
        Math.max(FRESH_MS_MIN, found.freshForMs ?? DEFAULT_FRESH_MS),
      )
      kept = { configuration: found.configuration, freshUntilMs: nowMs() + freshMs }
    } catch (error) {
      if (kept === undefined || nowMs() > kept.freshUntilMs + STALE_MS_MAX) throw error
    }
    return kept.configuration
  }

  return {
    async getConfiguration({ signal, timeoutMs } = {}) {
      requireAmounts({ timeoutMs })
      if (kept !== undefined && nowMs() < kept.freshUntilMs) return kept.configuration
      // Who begins a fetch bounds it; who joins one bounds the wait for it.
      if (fetching !== undefined) return untilAborted(fetching, signal, timeoutMs)
      fetching = renew(timeoutMs).finally(() => {
        fetching = undefined
      })
      return untilAborted(fetching, signal)
    },
  }
}

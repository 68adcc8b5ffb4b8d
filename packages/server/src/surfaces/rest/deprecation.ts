import { toEpochSeconds } from '../../platform/clock.ts'
import type { ApiVersion } from './api-version.ts'
import type { Deprecation, Operation } from '../../platform/http/operation.ts'

/**
 * Versions that clients should move away from. A version answers for at least 24 months after the
 * one that replaces it has appeared.
 */
const DEPRECATED_VERSIONS: Partial<Record<ApiVersion, Deprecation>> = {
  '2023-05-26': { since: new Date('2026-04-07'), sunset: new Date('2028-04-07') },
}

/** The announced end of a version, if there is one. */
export function deprecationOfVersion(version: ApiVersion): Deprecation | undefined {
  return DEPRECATED_VERSIONS[version]
}

/**
 * The headers that announce the end of a route or of the version it is asked in: `Deprecation`
 * (RFC 9745), `Sunset` (RFC 8594) and links to where it is explained. Of two ends the nearer counts.
 */
export function deprecationHeaders(
  route: Pick<Operation, 'deprecation'>,
  version: ApiVersion,
  baseUrl: string,
): Record<string, string> {
  const ends = [route.deprecation, deprecationOfVersion(version)].filter(
    (deprecation) => deprecation !== undefined,
  )
  if (ends.length === 0) return {}
  const since = earliest(ends.map((end) => end.since))
  const sunset = earliest(ends.flatMap((end) => end.sunset ?? []))
  const document = `<${baseUrl}/docs>`
  return {
    ...(since === undefined ? {} : { deprecation: `@${toEpochSeconds(since)}` }),
    ...(sunset === undefined ? {} : { sunset: sunset.toUTCString() }),
    link: ['deprecation', ...(sunset === undefined ? [] : ['sunset'])]
      .map((relation) => `${document}; rel="${relation}"; type="text/html"`)
      .join(', '),
  }
}

function earliest(times: readonly Date[]): Date | undefined {
  return times.toSorted((a, b) => a.getTime() - b.getTime())[0]
}

import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../platform/app-error.ts'

/** The dated versions of the API that answer, oldest first. */
export const API_VERSIONS = ['2023-05-26', '2026-04-07'] as const

export type ApiVersion = (typeof API_VERSIONS)[number]

export const LATEST_API_VERSION: ApiVersion = '2026-04-07'

/** The header in which a client asks for a version, and in which the resolved one is echoed. */
export const API_VERSION_HEADER = 'X-Service-Api-Version'

/** The spelling that clients of the K2 API send; both mean the same. */
export const COMPATIBLE_API_VERSION_HEADER = 'X-Kolide-Api-Version'

const SUPPORTED_TEXT = API_VERSIONS.join(', ')

/**
 * The version that a request asks for; the latest one when it names none.
 *
 * @throws AppError `unsupported_version` for a version that does not exist, a malformed value, or two
 * version headers that differ.
 */
export function resolveApiVersion(headers: IncomingHttpHeaders): ApiVersion {
  const own = readVersionHeader(headers, API_VERSION_HEADER)
  const compatible = readVersionHeader(headers, COMPATIBLE_API_VERSION_HEADER)
  if (own !== undefined && compatible !== undefined && own !== compatible) {
    throw unsupportedVersion(
      `${API_VERSION_HEADER} and ${COMPATIBLE_API_VERSION_HEADER} name different versions; send one of the two headers.`,
    )
  }
  const asked = own ?? compatible
  if (asked === undefined) return LATEST_API_VERSION
  const version = API_VERSIONS.find((candidate) => candidate === asked)
  if (version === undefined) throw unsupportedVersion('This API version does not exist.')
  return version
}

/** An empty header counts as absent: some clients send it whether or not a version is configured. */
function readVersionHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name.toLowerCase()]
  const text = (Array.isArray(value) ? value.join(',') : value)?.trim()
  return text === '' ? undefined : text
}

function unsupportedVersion(reason: string): AppError {
  return new AppError('unsupported_version', `${reason} Supported versions: ${SUPPORTED_TEXT}.`)
}

/** What every request to a stream needs. */
export const STREAM_ACCESS = {
  tags: ['Shared Signals'],
  permission: 'Manage Shared Signals Framework Streams',
  feature: 'ssf',
} as const

/** The longest text that names a stream. */
export const STREAM_IDENTIFIER_LENGTH_MAX = 64

/** The switches of the organisation; each closes a part of the API. */
export const FEATURES = ['ssf', 'api_writes'] as const

export type Feature = (typeof FEATURES)[number]

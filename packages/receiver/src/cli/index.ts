// The receiver's commands as functions: `listen` and `verifyToken`. They write to the streams they
// are given and never end the process; reading arguments is their caller's part.
export { listen } from './listen.ts'
export type { ListenOptions, ListenSource, ListenSummary } from './listen.ts'
export { verifyToken } from './verify-token.ts'
export type { VerifyTokenOptions, VerifyTokenResult } from './verify-token.ts'
export type { TextOutput } from './text-output.ts'

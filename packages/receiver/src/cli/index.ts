// The receiver's commands as functions: `listen`, `verifyToken`, `trigger` and `bench`. They write to
// the streams they are given and never end the process; reading arguments is their caller's part.
export { listen } from './listen.ts'
export type { ListenOptions, ListenSource, ListenSummary } from './listen.ts'
export { verifyToken } from './verify-token.ts'
export type { VerifyTokenOptions, VerifyTokenResult } from './verify-token.ts'
export { trigger } from './trigger.ts'
export type { TriggerOptions, TriggerResult } from './trigger.ts'
export { bench } from './bench.ts'
export type { BenchOptions } from './bench.ts'
export type { BenchReport, Spread } from './bench-report.ts'
export type { TextOutput } from './text-output.ts'

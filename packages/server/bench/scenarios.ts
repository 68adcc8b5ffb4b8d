/* The benchmarks by the words of `--only`, in the order in which they run. Each is loaded when it runs. */
import type { Scenario } from './scenario.ts'

export const SCENARIOS = {
  delivery: async () => (await import('./signed-delivery.ts')).signedDelivery,
  webhooks: async () => (await import('./webhook-delivery.ts')).webhookDelivery,
  latency: async () => (await import('./signal-latency.ts')).signalLatency,
  isolation: async () => (await import('./isolation.ts')).isolation,
  'webhook-isolation': async () => (await import('./isolation.ts')).webhookIsolation,
  'long-poll': async () => (await import('./long-poll.ts')).longPoll,
  'check-ins': async () => (await import('./idle-check-ins.ts')).idleCheckIns,
  held: async () => (await import('./held.ts')).held,
  'sign-ins': async () => (await import('./sign-ins.ts')).signIns,
  rounds: async () => (await import('./check-rounds.ts')).checkRounds,
  'single-answers': async () => (await import('./single-answers.ts')).singleAnswers,
  'live-answers': async () => (await import('./live-answers.ts')).liveAnswers,
  enrollments: async () => (await import('./enrollments.ts')).enrollments,
  'reporting-logs': async () => (await import('./reporting-logs.ts')).reportingLogs,
  start: async () => (await import('./start.ts')).start,
  reads: async () => (await import('./reads.ts')).reads,
  processes: async () => (await import('./processes.ts')).processes,
  backlog: async () => (await import('./backlog.ts')).backlog,
  lists: async () => (await import('./lists.ts')).lists,
  scale: async () => (await import('./scale.ts')).scale,
  retention: async () => (await import('./retention.ts')).retention,
  console: async () => (await import('./console.ts')).consoleInBrowser,
} satisfies Record<string, () => Promise<Scenario>>

export type ScenarioName = keyof typeof SCENARIOS

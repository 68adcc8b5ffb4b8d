/* Devices that turn good and bad with every answer, each waiting for the one before. */
import { ReportingAgent } from '../../packages/server/test/e2e/support/reporting-agent.ts'

export interface Workload {
  readonly agents: readonly ReportingAgent[]
  /** How many answers were acknowledged since the beginning, of each agent. */
  counts(): number[]
  /** Ends it; resolves when every answer that was begun was accepted. */
  stop(): Promise<void>
}

export interface WorkloadOptions {
  readonly baseUrl: string
  readonly count: number
  readonly enrollmentSecret: string
  /** The check that fails every other time. */
  readonly checkId: string
}

export async function startWorkload(options: WorkloadOptions): Promise<Workload> {
  const { baseUrl, count, checkId, enrollmentSecret } = options
  const agents: ReportingAgent[] = []
  for (let at = 0; at < count; at += 1) {
    const agent = new ReportingAgent(baseUrl, `agent-${at}`, new Set([checkId]))
    await agent.enroll(enrollmentSecret)
    agents.push(agent)
  }
  const stopping = new AbortController()
  const running = agents.map((agent) => agent.run(stopping.signal))
  return {
    agents,
    counts: () => agents.map(({ acknowledged }) => acknowledged.get(checkId) ?? 0),
    async stop() {
      stopping.abort()
      await Promise.all(running)
    },
  }
}

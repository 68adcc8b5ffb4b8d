/** One agent against the fake server, in a time that only moves when a test says so. */
import { setImmediate } from 'node:timers/promises'
import { startFakeOsqueryServer } from './fake-osquery-server.ts'
import type { FakeOsqueryServer } from './fake-osquery-server.ts'
import type { AgentTables, QueryOutcome, Row } from '../osquery-client/agent-tables.ts'
import { createNode } from '../osquery-client/create-node.ts'
import type { CreateNodeOptions, OsqueryNode } from '../osquery-client/create-node.ts'
import { createTransport } from '../osquery-client/transport.ts'
import type { Transport, TransportOptions } from '../osquery-client/transport.ts'
import { createManualScheduler } from '../scheduler.ts'
import type { ManualScheduler } from '../scheduler.ts'

export interface Harness {
  readonly server: FakeOsqueryServer
  readonly scheduler: ManualScheduler
  readonly transport: Transport
  readonly node: OsqueryNode
  /** Statements the agent ran, in order. */
  readonly statements: readonly string[]
  /** Another agent with other options on the same server and clock. */
  createNode(options: Partial<CreateNodeOptions>): OsqueryNode
  seconds(count: number): Promise<void>
  close(): Promise<void>
}

/** Rows per statement; a string is the message of an SQL error; unknown statements have no rows. */
export type Answers = Record<string, Row[] | string>

/** Tables that answer by statement. */
export function scriptedTables(answers: Answers, statements: string[] = []): AgentTables {
  return {
    query(sql): QueryOutcome {
      statements.push(sql)
      const answer = answers[sql] ?? []
      if (typeof answer === 'string') return { outcome: 'error', status: 1, message: answer }
      return { outcome: 'rows', rows: answer }
    },
  }
}

function countInFlight(transport: Transport): { transport: Transport; inFlight: () => number } {
  let count = 0
  return {
    inFlight: () => count,
    transport: {
      close: () => transport.close(),
      async post(request) {
        count += 1
        try {
          return await transport.post(request)
        } finally {
          count -= 1
        }
      },
    },
  }
}

/** Starts a server and an agent on it. The agent does not run before `node.start()`. */
export async function createHarness(
  options: Partial<CreateNodeOptions> & {
    answers?: Answers
    transportOptions?: Partial<TransportOptions>
  } = {},
): Promise<Harness> {
  const server = await startFakeOsqueryServer()
  const { answers, transportOptions, ...nodeOptions } = options
  const { transport, inFlight } = countInFlight(
    createTransport({ baseUrl: server.baseUrl, ...transportOptions }),
  )
  const scheduler = createManualScheduler(async () => {
    for (let idle = 0; idle < 3; idle += 1) {
      await setImmediate()
      if (inFlight() > 0) idle = -1
    }
  })
  const statements: string[] = []
  const base: CreateNodeOptions = {
    transport,
    scheduler,
    enrollSecret: 'secret',
    hostIdentifier: 'HOST-1',
    platform: 'linux',
    tables: scriptedTables(answers ?? {}, statements),
    random: () => 0.5,
    ...nodeOptions,
  }
  const nodes: OsqueryNode[] = []
  const create = (more: Partial<CreateNodeOptions>): OsqueryNode => {
    const node = createNode({ ...base, ...more })
    nodes.push(node)
    return node
  }
  return {
    server,
    scheduler,
    transport,
    node: create({}),
    statements,
    createNode: create,
    seconds: (count) => scheduler.advance(count * 1_000),
    async close() {
      for (const node of nodes) node.stop()
      await transport.close()
      await server.close()
    },
  }
}

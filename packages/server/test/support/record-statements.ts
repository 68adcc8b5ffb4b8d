import { DatabaseClient } from '../../src/platform/db/database-client.ts'

export interface RecordedStatement {
  readonly text: string
  /** By which a connection knows it again. */
  readonly name: string | undefined
}

/**
 * The statements that connections of the service send while something is done. Files that share a worker share the
 * class: nothing is left on it.
 */
export async function recordStatements(
  work: () => Promise<unknown>,
): Promise<readonly RecordedStatement[]> {
  const recorded: RecordedStatement[] = []
  const prototype = DatabaseClient.prototype as unknown as Record<string, unknown>
  const inherited = prototype['query'] as (...args: unknown[]) => unknown
  prototype['query'] = function (this: unknown, ...args: unknown[]) {
    const [statement] = args
    const { text = '', name } =
      typeof statement === 'string'
        ? { text: statement }
        : (statement as Partial<RecordedStatement>)
    recorded.push({ text, name })
    return inherited.apply(this, args)
  }
  try {
    await work()
  } finally {
    Reflect.deleteProperty(prototype, 'query')
  }
  return recorded
}

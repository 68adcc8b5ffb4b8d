/** What is waited for; undefined when the signal comes first. The work goes on, and nobody hears of its end. */
export async function unlessAborted<Value>(
  waited: Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value | undefined> {
  const aborted = Promise.withResolvers<undefined>()
  const abort = () => aborted.resolve(undefined)
  signal?.addEventListener('abort', abort)
  if (signal?.aborted === true) abort()
  try {
    return await Promise.race([waited, aborted.promise])
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}

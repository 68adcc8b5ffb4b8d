/**
 * Tells the application something for its logs. What the listener throws, or its promise rejects
 * with, is the application's loss: receiving goes on, and the transmitter is answered as it should be.
 */
export function tellListener<Value>(
  listener: ((value: Value) => unknown) | undefined,
  value: Value,
): void {
  const tell = async () => listener?.(value)
  tell().catch(() => undefined)
}

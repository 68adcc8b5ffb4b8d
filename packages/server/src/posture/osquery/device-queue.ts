/*
 * The order in which what devices send is written. A device waits for itself before it takes a connection of
 * the database, so that many messages of one device hold one connection and not all; and devices together
 * leave some connections to everybody else.
 */
import { AppError } from '../../platform/app-error.ts'

export interface DeviceQueue {
  /**
   * Runs `work` when all that came before of the same device is done and there is room; devices take turns.
   * `bytes` is what is held until then.
   *
   * @throws AppError `rate_limited` when too much of the device is waiting; `unavailable` when there was no room in
   * time, and then `work` does not run
   */
  run<Result>(deviceId: string, bytes: number, work: () => Promise<Result>): Promise<Result>
  /** The same for work that takes room by itself, with {@link withRoom}; it waits for its device alone. */
  runInLine<Result>(deviceId: string, bytes: number, work: () => Promise<Result>): Promise<Result>
  /**
   * Runs `work` when there is room.
   *
   * @throws AppError `unavailable` when there was none in time, and then `work` does not run
   */
  withRoom<Result>(work: () => Promise<Result>): Promise<Result>
}

export interface DeviceQueueLimits {
  /** Devices that write at once. */
  readonly runningMax: number
  /** Messages of one device that may wait or run. */
  readonly messagesPerDeviceMax: number
  /** What they may hold. */
  readonly bytesPerDeviceMax: number
  /** How long a device waits for room among the others. */
  readonly waitMaxMs: number
}

const RETRY_AFTER_SECONDS = 5

interface DeviceLine {
  last: Promise<unknown>
  messages: number
  bytes: number
}

/** Creates a queue of this process; with other processes the lock of the device's row decides. */
export function createDeviceQueue(limits: DeviceQueueLimits): DeviceQueue {
  const lines = new Map<string, DeviceLine>()
  const waiting = new Set<() => void>()
  let running = 0

  async function enter(): Promise<void> {
    if (running < limits.runningMax) running += 1
    else await waitForRoom()
  }

  function waitForRoom(): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        waiting.delete(begin)
        reject(noRoom())
      }, limits.waitMaxMs)
      waiting.add(begin)
    })
  }

  /** Hands the place to whoever waits longest. */
  function leave(): void {
    const [next] = waiting
    if (next === undefined) {
      running -= 1
      return
    }
    waiting.delete(next)
    next()
  }

  async function withRoom<Result>(work: () => Promise<Result>): Promise<Result> {
    await enter()
    try {
      return await work()
    } finally {
      leave()
    }
  }

  async function runInLine<Result>(
    deviceId: string,
    bytes: number,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const line = lines.get(deviceId) ?? { last: Promise.resolve(), messages: 0, bytes: 0 }
    const isFull =
      line.messages >= limits.messagesPerDeviceMax ||
      (line.messages > 0 && line.bytes + bytes > limits.bytesPerDeviceMax)
    if (isFull) throw tooMuchWaiting()
    line.messages += 1
    line.bytes += bytes
    lines.set(deviceId, line)
    const result = line.last.then(work)
    line.last = result.catch(() => undefined)
    try {
      return await result
    } finally {
      line.messages -= 1
      line.bytes -= bytes
      if (line.messages === 0) lines.delete(deviceId)
    }
  }

  return {
    run: (deviceId, bytes, work) => runInLine(deviceId, bytes, () => withRoom(work)),
    runInLine,
    withRoom,
  }
}

function noRoom(): AppError {
  return new AppError(
    'unavailable',
    'The service is busy with what other devices have sent; send this again later.',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  )
}

function tooMuchWaiting(): AppError {
  return new AppError(
    'rate_limited',
    'What this device sent before is still being written; send this again later.',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  )
}

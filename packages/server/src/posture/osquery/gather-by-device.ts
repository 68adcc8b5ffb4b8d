import type { DeviceQueue } from './device-queue.ts'

/** What is done together at most; what comes beyond waits for the next time. */
const ITEMS_MAX = 200
const BYTES_MAX = 16 * 1024 * 1024

interface Gathering<Item, Result> {
  readonly items: Item[]
  bytes: number
  readonly result: Promise<Result>
}

/**
 * Creates a function that does `work` for what devices bring, one device at a time: what comes of a device
 * while it waits in the queue is done together with what waits already, and shares its result. Rejects like
 * the queue and the work.
 */
export function gatherByDevice<Item, Result>(
  queue: Pick<DeviceQueue, 'run'>,
  work: (items: readonly [Item, ...Item[]]) => Promise<Result>,
): (deviceId: string, bytes: number, item: Item) => Promise<Result> {
  const waiting = new Map<string, Gathering<Item, Result>>()

  function begin(deviceId: string, bytes: number, item: Item): Promise<Result> {
    const items: [Item, ...Item[]] = [item]
    const close = () => {
      if (waiting.get(deviceId)?.items === items) waiting.delete(deviceId)
    }
    const result = queue.run(deviceId, bytes, () => {
      close()
      return work(items)
    })
    waiting.set(deviceId, { items, bytes, result })
    result.catch(close)
    return result
  }

  return (deviceId, bytes, item) => {
    const known = waiting.get(deviceId)
    const hasRoom =
      known !== undefined && known.items.length < ITEMS_MAX && known.bytes + bytes <= BYTES_MAX
    if (!hasRoom) return begin(deviceId, bytes, item)
    known.items.push(item)
    known.bytes += bytes
    return known.result
  }
}

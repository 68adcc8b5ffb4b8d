import { Readable } from 'node:stream'

/** As much waits for a reader; one that leaves more than this unread is behind. */
const UNREAD_BYTES_MAX = 16_384

/** What a watcher asks for. */
export interface WatchRequest {
  /** Whose watchers are counted together. */
  readonly watcherKey: string
  /** The id of the last event that it has read, if it was here before. */
  readonly lastEventId: string | undefined
  /** After how long it leaves by itself; 0 as soon as it has been told what it missed. */
  readonly watchMaxMs: number | undefined
  /** Whether it may be told that a topic has changed. */
  readonly mayHear: (topic: string) => boolean
  /** Whether it still may watch; asked from time to time. One that rejects leaves it as it was. */
  readonly mayWatch: () => Promise<boolean>
}

/** One who watches: a stream of text, and how far it has been told. */
export class Watcher {
  readonly stream: Readable
  readonly #request: WatchRequest
  /** The number of the last message that was written to it. */
  toldUpTo: number
  /** Since when nothing can be written; on the steady clock of `performance.now()`. */
  #behindSinceMs: number | undefined

  /** `onReady` is called when a reader that was behind reads on, `onClose` once. */
  constructor(
    request: WatchRequest,
    toldUpTo: number,
    { onReady, onClose }: { readonly onReady: () => void; readonly onClose: () => void },
  ) {
    this.#request = request
    this.toldUpTo = toldUpTo
    this.stream = new Readable({
      highWaterMark: UNREAD_BYTES_MAX,
      read: () => {
        if (this.#behindSinceMs === undefined) return
        this.#behindSinceMs = undefined
        onReady()
      },
    })
    this.stream.once('close', onClose)
    // A reader that goes away is not a fault.
    this.stream.on('error', () => undefined)
  }

  get key(): string {
    return this.#request.watcherKey
  }

  get isBehind(): boolean {
    return this.#behindSinceMs !== undefined
  }

  behindForMs(): number {
    return this.#behindSinceMs === undefined ? 0 : performance.now() - this.#behindSinceMs
  }

  mayHear(topic: string): boolean {
    return this.#request.mayHear(topic)
  }

  mayWatch(): Promise<boolean> {
    return this.#request.mayWatch()
  }

  send(text: string): void {
    if (this.stream.destroyed || this.stream.readableEnded) return
    if (!this.stream.push(text)) this.#behindSinceMs ??= performance.now()
  }

  /** Ends the stream after a time. */
  closeAfter(ms: number): void {
    if (ms === 0) {
      this.close()
      return
    }
    const timer = setTimeout(() => this.close(), ms)
    this.stream.once('close', () => clearTimeout(timer))
  }

  /** Ends the stream with a last text. */
  close(text = ''): void {
    if (this.stream.destroyed) return
    if (text !== '') this.stream.push(text)
    this.stream.push(null)
  }
}

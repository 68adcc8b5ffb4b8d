import { AppError } from '../../../platform/app-error.ts'

/** How many files are sent at a time. */
export interface ExportSlotLimits {
  /** Of this process. */
  readonly max: number
  readonly perCallerMax: number
}

const RETRY_AFTER_SECONDS = 10

/** Counts the files that a process sends, so that neither one caller nor all of them keep the database busy. */
export class ExportSlots {
  readonly #limits: ExportSlotLimits
  readonly #byCaller = new Map<string, number>()
  #count = 0

  constructor(limits: ExportSlotLimits) {
    this.#limits = limits
  }

  /**
   * Takes a place for a caller. Answers what gives it back, which may be called more than once.
   *
   * @throws AppError `rate_limited` when there is none
   */
  take(caller: string): () => void {
    const { max, perCallerMax } = this.#limits
    const own = this.#byCaller.get(caller) ?? 0
    if (own >= perCallerMax || this.#count >= max) {
      const message =
        own >= perCallerMax
          ? `At most ${perCallerMax} files can be exported at a time. Wait until one is through.`
          : 'Too many files are being exported. Send the request again in a while.'
      throw new AppError('rate_limited', message, { retryAfterSeconds: RETRY_AFTER_SECONDS })
    }
    this.#count += 1
    this.#byCaller.set(caller, own + 1)
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      this.#count -= 1
      const left = (this.#byCaller.get(caller) ?? 1) - 1
      if (left === 0) this.#byCaller.delete(caller)
      else this.#byCaller.set(caller, left)
    }
  }
}
